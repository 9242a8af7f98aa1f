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

    /// One element each time that views are to look again, until the reader stops.
    func looks() -> AsyncStream<Void> {
        AsyncStream { continuation in
            let number = client.guarded.withLock { guarded in
                guarded.lastListener += 1
                guarded.lookers[guarded.lastListener] = { continuation.yield() }
                return guarded.lastListener
            }
            continuation.onTermination = { [weak client] _ in
                client?.guarded.withLock { guarded in guarded.lookers[number] = nil }
            }
        }
    }

    func lookAgain() {
        for look in client.guarded.withLock({ Array($0.lookers.values) }) { look() }
    }
}
