import Foundation

/// Announces the end of an entitlement while the app runs, since nothing else happens then.
struct EntitlementEnds: Sendable {
    let client: BillingClient

    /// An app that runs longer is asked for anew at its next foreground.
    private static let farthest: TimeInterval = 7 * 86_400

    /// Waits for the next end that is known, instead of for an earlier one.
    func watch(orFor other: Date? = nil) {
        let now = client.now()
        let ends = [client.guarded.withLock { $0.state.nextEnd(after: now) }, other]
        guard let end = ends.compactMap({ $0 }).min(),
            end.timeIntervalSince(now) < Self.farthest
        else { return }
        let pause = client.pause
        client.nextEnd.withLock { task in
            task?.cancel()
            task = Task { [weak client] in
                guard (try? await pause(max(0, end.timeIntervalSince(now)))) != nil, let client
                else { return }
                // In a task of its own: looking anew begins the next wait, which cancels this one.
                Task { await EntitlementEnds(client: client).announce() }
            }
        }
    }

    func forget() {
        client.nextEnd.withLock { task in
            task?.cancel()
            task = nil
        }
    }

    /// Something has ended by what is known: the server may know of a renewal.
    private func announce() async {
        guard (try? await client.activeEntitlements(forceRefresh: false)) == nil else { return }
        let now = client.now()
        client.guarded.withLock { $0.state.announceWhatHolds(at: now) }
        client.deliverAnnouncements()
    }
}
