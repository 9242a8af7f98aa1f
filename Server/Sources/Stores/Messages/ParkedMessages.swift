public import Storage

/// Genuine messages that could not be used: the store has its 200, people have to look.
public struct ParkedMessages: Sendable {
    /// What became of trying parked messages again.
    public struct Retried: Hashable, Codable, Sendable {
        /// Used after all.
        public var used = 0
        /// Parked as before.
        public var stillParked = 0

        enum CodingKeys: String, CodingKey {
            case used
            case stillParked = "still_parked"
        }
    }

    private let records: RecordStore
    private let take: @Sendable (ParkedMessage) async throws -> MessageOutcome

    /// - Parameter take: takes a message in again.
    public init(
        _ records: RecordStore,
        take: @escaping @Sendable (ParkedMessage) async throws -> MessageOutcome
    ) {
        self.records = records
        self.take = take
    }

    /// Tries every parked message again, as after an update of the program or of the catalog.
    public func retryAll(progress: WorkProgress.Report = { _ in }) async throws -> Retried {
        var result = Retried()
        var last: ParkedMessage?
        while true {
            let page = try await records.parked.page(after: last)
            guard !page.isEmpty else { return result }
            for message in page {
                if try await retry(message) {
                    result.used += 1
                } else {
                    result.stillParked += 1
                }
                last = message
                progress(
                    WorkProgress(step: "parked messages", done: result.used + result.stillParked)
                )
            }
        }
    }

    private func retry(_ message: ParkedMessage) async throws -> Bool {
        guard try await take(message) != .parked else { return false }
        try await records.parked.unpark(message)
        return true
    }
}
