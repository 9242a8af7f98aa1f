public import Logging
public import Storage
public import TollgateCore

/// The server around every store's room: where messages are kept, what time it is, and where is told
/// what happened.
public struct StoreContext: Sendable {
    public let records: RecordStore
    public let clocks: Clocks
    public let random: RandomSource
    public let counters: Counters
    public let logger: Logger
    /// When each store was last heard of.
    public let heard: LastHeard
    /// Leases for work that one server at a time does.
    public let leases: Leases
    /// The turns of questions whose answers failed.
    let retries = QuestionRetries()

    /// - Parameter defaultEnvironment: the one whose messages show that a store sends; `nil`: either.
    public init(
        records: RecordStore,
        clocks: Clocks,
        random: RandomSource,
        counters: Counters,
        logger: Logger,
        defaultEnvironment: StoreEnvironment? = nil
    ) {
        self.records = records
        self.clocks = clocks
        self.random = random
        self.counters = counters
        self.logger = logger
        heard = LastHeard(in: defaultEnvironment)
        leases = Leases(records: records, clocks: clocks, random: random)
    }
}
