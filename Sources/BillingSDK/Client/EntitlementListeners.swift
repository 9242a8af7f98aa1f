import Foundation

/// Who hears of changes: the app's callbacks, streams and views.
struct EntitlementListeners: Sendable {
    let client: BillingClient

    func add(_ listener: @escaping BillingClient.Listener) {
        client.guarded.withLock { guarded in
            guarded.lastListener += 1
            guarded.listeners[guarded.lastListener] = listener
        }
    }

    func removeAll() {
        client.guarded.withLock { $0.listeners = [:] }
    }

    /// Every new set from now on, until the reader stops.
    func changes() -> AsyncStream<[Entitlement]> {
        AsyncStream { continuation in
            let number = client.guarded.withLock { guarded in
                guarded.lastListener += 1
                guarded.followers[guarded.lastListener] = { continuation.yield($0) }
                return guarded.lastListener
            }
            continuation.onTermination = { [weak client] _ in
                client?.guarded.withLock { guarded in guarded.followers[number] = nil }
            }
        }
    }

    /// Why a view is to look again.
    enum Look: Sendable {
        /// Somebody has signed in, or what failed may succeed now.
        case again
        /// The customer has left, or may have: what a view shows of them is to go at once.
        case customerLeft
    }

    /// One element each time that views are to look again, until the reader stops.
    func looks() -> AsyncStream<Look> {
        AsyncStream { continuation in
            let number = client.guarded.withLock { guarded in
                guarded.lastListener += 1
                guarded.lookers[guarded.lastListener] = { continuation.yield($0) }
                return guarded.lastListener
            }
            continuation.onTermination = { [weak client] _ in
                client?.guarded.withLock { guarded in guarded.lookers[number] = nil }
            }
        }
    }

    func lookAgain() { tell(.again) }

    func customerLeft() { tell(.customerLeft) }

    private func tell(_ look: Look) {
        for looker in client.guarded.withLock({ Array($0.lookers.values) }) { looker(look) }
    }
}
