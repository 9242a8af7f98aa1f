// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
public import TollgateCore

/// The time of each store's last genuine message, by real time.
///
/// Only new messages to this process count. An answer to a question does not: it comes even if
/// messages do not arrive.
public final class LastHeard: Sendable {
    private let environment: StoreEnvironment?
    private let instants = Mutex<[Store: Instant]>([:])

    /// - Parameter environment: the environment whose messages count; `nil` for both.
    public init(in environment: StoreEnvironment?) {
        self.environment = environment
    }

    /// - Parameter environment: the message's environment; `nil` if unknown, which counts.
    public func note(_ store: Store, in environment: StoreEnvironment? = nil, at wall: Instant) {
        if let environment, let counting = self.environment, environment != counting { return }
        instants.withLock { $0[store] = wall }
    }

    /// The times by store; a store without messages is missing.
    public var all: [Store: Instant] { instants.withLock { $0 } }
}
