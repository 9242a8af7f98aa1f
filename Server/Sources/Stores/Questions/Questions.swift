internal import Logging
public import Storage
public import TollgateCore

/// Asks one store what its messages did not carry, and knows which questions wait because they had no
/// answer.
public struct Questions: Sendable {
    private let context: StoreContext
    private let paces = QuestionPaces()
    private let brokenOff = BrokenRounds()

    public init(_ context: StoreContext) {
        self.context = context
    }

    private var retries: QuestionRetries { context.retries }

    /// For how long no store is to be asked unless something is committed.
    public static func idleTime(in context: StoreContext) async throws -> Duration {
        let most = 1_000
        let waiting = try await context.records.questions.waiting(limit: Int64(most + 1))
        guard waiting.count <= most else { return .zero }
        let turns = waiting.map { context.retries.turn(of: $0.key, raised: $0.raised) }
        return Clocks.idleTime(until: turns.min(), at: context.clocks.wall())
    }

    /// The store answers, as somebody else has found.
    public func succeeded() { paces.succeeded() }

    /// Asks in two rounds: what never failed, then what did and is due again.
    ///
    /// A round in which there was no answer lets the next one of its kind wait.
    ///
    /// - Returns: `false` where the last round of either kind broke off: the store cannot be asked, or
    ///   its answers cannot be kept. One question that has no answer breaks nothing off.
    public func ask(
        _ questions: (_ again: Bool, _ round: inout QuestionRound) async throws -> Void
    ) async -> Bool {
        for (again, pace) in [(false, paces.first), (true, paces.again)]
        where pace.isDue(at: context.clocks.wall()) {
            var round = QuestionRound()
            var isInTrouble = false
            do {
                try await questions(again, &round)
                isInTrouble = round.faults > 0 && round.answers == 0
                brokenOff.note(again, false)
            } catch {
                brokenOff.note(again, true)
                isInTrouble = error is any StoreFault
                context.logger.warning(
                    "asking for what is missing will be tried again",
                    metadata: ["error": "\(error)"]
                )
            }
            if round.answers > 0 { pace.succeeded() }
            if isInTrouble { pace.failed(at: context.clocks.wall()) }
        }
        return !brokenOff.isAny
    }

    /// A hundred questions of a kind whose turn it is: the oldest, or of those that failed before those
    /// that are due for longest.
    ///
    /// - Parameters:
    ///   - again: whether those are meant that failed before.
    ///   - most: how many instead of a hundred.
    ///   - mayAsk: whether a question can be asked at all.
    public func due(
        _ kind: Wanted.Kind,
        again: Bool,
        most: Int = 100,
        where mayAsk: (WantedRow) -> Bool = { _ in true }
    ) async throws -> [WantedRow] {
        let page = 500
        let wall = context.clocks.wall()
        if again, !retries.hasDue(kind, at: wall) { return [] }
        var found: [WantedRow] = []
        var there: Set<RowKey> = []
        var last: WantedRow?
        while again || found.count < most {
            let rows = try await context.records.questions.wanted(
                kind,
                after: last,
                limit: Int64(page)
            )
            found += rows.filter {
                mayAsk($0) && retries.hasFailed($0.key, raised: $0.raised) == again
                    && retries.isDue($0.key, raised: $0.raised, at: wall)
            }
            if again { there.formUnion(rows.map(\.key)) }
            guard rows.count == page else { break }
            last = rows.last
        }
        if again {
            retries.keepOnly(there, of: kind)
            found = retries.inOrder(found)
        }
        return Array(found.prefix(most))
    }

    /// What the log says of a question's object: a purchase token is a secret in its whole length.
    private static func shown(_ wanted: WantedRow) -> Substring { wanted.object.prefix(40) }

    /// Drops a question that was answered, or is refused for good.
    public func settle(_ wanted: WantedRow) async throws { try await settle([wanted]) }

    /// Drops questions that were answered, at the cost of one commit.
    public func settle(_ wanted: [WantedRow]) async throws {
        try await context.records.questions.settle(wanted)
        for question in wanted { retries.forget(question.key) }
    }

    /// Keeps a question whose answer speaks of a time before it was raised; it is due at once.
    public func keep(_ wanted: WantedRow) { retries.forget(wanted.key) }

    /// Keeps a question whose answer may not be the newest one: it is asked again after a while.
    public func postpone(_ wanted: WantedRow, _ kind: Wanted.Kind) {
        retries.failed(wanted.key, kind, raised: wanted.raised, at: context.clocks.wall())
    }

    /// Takes note of an error in place of an answer.
    ///
    /// A question that is refused for good is dropped and logged. An answer that cannot be read, such as
    /// half of one, or a fault that may be this object's is no refusal: the question stays and waits a
    /// while, and those behind it are asked.
    ///
    /// - Throws: the error, where it says that the store cannot be asked at all now.
    public func take(
        _ error: any Error,
        _ meaning: ErrorMeaning,
        of wanted: WantedRow,
        _ kind: Wanted.Kind,
        _ round: inout QuestionRound
    ) async throws {
        if case .unwilling = meaning { throw error }
        if case .final = meaning {
            context.logger.error(
                "a store does not answer a question and will not be asked again",
                metadata: ["object": "\(Self.shown(wanted))", "error": "\(error)"]
            )
            try await settle(wanted)
            return round.answered()
        }
        retries.failed(wanted.key, kind, raised: wanted.raised, at: context.clocks.wall())
        context.logger.warning(
            "a store gave no answer to a question; it will be asked again",
            metadata: ["object": "\(Self.shown(wanted))", "error": "\(error)"]
        )
        switch meaning {
        case .fault: round.failed()
        case .unreachable: throw error
        case .final, .unreadable, .unwilling: break
        }
    }
}
