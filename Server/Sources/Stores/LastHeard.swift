// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
public import TollgateCore

/// When each store last sent this process a genuine message that was new, by real time.
///
/// An answer to a question does not count: it comes even where messages do not arrive.
public final class LastHeard: Sendable {
    private let environment: StoreEnvironment?
    private let instants = Mutex<[Store: Instant]>([:])

    /// - Parameter environment: the one whose messages count; `nil`: those of both do.
    public init(in environment: StoreEnvironment?) {
        self.environment = environment
    }

    /// - Parameter environment: that of the message, which counts where it does not tell (`nil`).
    public func note(_ store: Store, in environment: StoreEnvironment? = nil, at wall: Instant) {
        if let environment, let counting = self.environment, environment != counting { return }
        instants.withLock { $0[store] = wall }
    }

    /// By store; one that was not heard of is missing.
    public var all: [Store: Instant] { instants.withLock { $0 } }
}
