// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
public import TollgateCore

/// When each store last sent this process a genuine message, by real time.
///
/// An answer to a question does not count: it comes even where messages do not arrive.
public final class LastHeard: Sendable {
    private let instants = Mutex<[Store: Instant]>([:])

    public init() {}

    public func note(_ store: Store, at wall: Instant) {
        instants.withLock { $0[store] = wall }
    }

    /// By store; one that was not heard of is missing.
    public var all: [Store: Instant] { instants.withLock { $0 } }
}
