internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import TollgateCore
internal import Traces

/// Asks Google what hints and reads have raised, several questions at once.
///
/// Each kind of call has its own ladder: a bucket that is used up holds no other up.
struct GooglePlayQuestions: Sendable {
    let reads: GooglePlayReads
    let voids: VoidedList
    private let ladders: [Ladder]
    private var context: StoreContext { reads.context }

    private struct Ladder: Sendable {
        var kind: Wanted.Kind
        var questions: Questions
    }

    /// The longest time that a hint may be ahead of reads, in milliseconds.
    static let patience: Int64 = 15 * 60_000

    /// The longest time by which a read's clock may be behind its sending, in milliseconds: it is the
    /// second before the `Date` of its answer.
    private static let lag: Int64 = 2_000
    /// The age of a hint at which a second look at it is the last one.
    private static let secondLook: Int64 = 10_000

    init(_ reads: GooglePlayReads, _ voids: VoidedList) {
        (self.reads, self.voids) = (reads, voids)
        ladders = [
            Wanted.Kind.googlePlaySubscription, .googlePlayPurchase, .googlePlayOrder,
            .googlePlayVoids,
        ].map {
            Ladder(kind: $0, questions: Questions(reads.context))
        }
    }

    /// Asks what may be asked now.
    ///
    /// - Returns: `false` while asking fails.
    func ask() async -> Bool {
        guard !reads.setUp.apps.isEmpty else { return true }
        var isWell = true
        for ladder in ladders {
            let isAnswered = await ladder.questions.ask { again, round in
                round.beginKind()
                let now = context.clocks.wall().milliseconds
                try await ladder.questions.askOnce(
                    ladder.kind,
                    again: again,
                    in: context,
                    where: { reads.isOpen(ladder.kind, of: $0, now: now) }
                ) { rows, prolong in
                    for batch in rows.batches(of: reads.setUp.readsAtOnce) where round.goesOn {
                        try await answer(batch, ladder, &round)
                        try await prolong()
                    }
                }
            }
            isWell = isWell && isAnswered
        }
        return isWell
    }

    /// The outcome of a question.
    private enum Verdict {
        case settled
        /// The read speaks of a time before the question was raised.
        case asBefore
        /// The read shows nothing new, and the hint may be ahead of it (G2).
        case maybeStale
        /// The app is not configured any more.
        case foreign
    }

    private func answer(
        _ batch: ArraySlice<WantedRow>,
        _ ladder: Ladder,
        _ round: inout QuestionRound
    ) async throws {
        let results = await batch.results { wanted in
            try await Traces.span("answer a question") {
                try await verdict(on: wanted, ladder.kind)
            }
        }
        var trouble: (any Error)?
        var settled: [WantedRow] = []
        for (row, result) in results {
            if case .success(.settled) = result {
                settled.append(row)
                round.answered()
                continue
            }
            do { try await take(result, row, ladder, &round) } catch {
                trouble = trouble ?? error
            }
        }
        try await ladder.questions.settle(settled)
        if let trouble { throw trouble }
    }

    private func verdict(on row: WantedRow, _ kind: Wanted.Kind) async throws -> Verdict {
        guard let package = row.purchase?.application, let app = reads.setUp.app(package) else {
            return .foreign
        }
        let outcome: GooglePlayReads.Outcome
        switch kind {
        case .googlePlaySubscription:
            outcome = try await reads.read(subscription: row.object, of: app)
        case .googlePlayPurchase: outcome = try await reads.read(product: row.object, of: app)
        case .googlePlayOrder:
            try await reads.read(order: row.object, of: app)
            return .settled
        case .googlePlayVoids:
            return try await voids.read(of: app, from: row.raised) ? .settled : .asBefore
        default: return .foreign
        }
        let now = await context.clocks.now()
        let raised = min(row.raised, now)
        let age = now.milliseconds - raised.milliseconds
        // News, of this read or of another since: that is what the hint was about.
        // They may be of an earlier change that nobody told of, from a read that lags, and a read's
        // clock is behind its sending: so the hint is looked at twice.
        if let news = outcome.isNews ? outcome.instant : outcome.knownSince,
            raised < news.advanced(by: Self.lag)
        {
            return age < Self.secondLook ? .maybeStale : .settled
        }
        guard raised <= outcome.instant else { return .asBefore }
        return age < Self.patience ? .maybeStale : .settled
    }

    /// Keeps a hint about a purchase that Google does not know aside, for people to look at.
    private func park(
        _ row: WantedRow,
        _ kind: Wanted.Kind,
        because fault: GooglePlay.APIFault
    ) async throws {
        // Parked again, it is another message: one that was tried already would count as known.
        let now = await context.clocks.now()
        guard let package = row.purchase?.application,
            let hint = GooglePlayMessages.hint(
                asking: kind,
                row.object,
                of: package,
                at: now
            )
        else { return }
        _ = try await context.journal(
            Translation(
                .parked(reason: "Google knows no such purchase: \(fault)"),
                evidence: Evidence(
                    source: "unknown:\(row.key.hex)",
                    key: RowKey("play unknown", row.key.hex),
                    stated: row.raised,
                    kind: .delivered,
                    body: hint
                )
            ),
            of: .googlePlay
        )
    }

    private func take(
        _ result: Result<Verdict, any Error>,
        _ row: WantedRow,
        _ ladder: Ladder,
        _ round: inout QuestionRound
    ) async throws {
        switch result {
        case .success(.settled):
            // With the others of its batch.
            break
        case .success(.foreign):
            // The app may have been left out by mistake: nothing is lost.
            reads.tellOfForeignApp(row.purchase?.application ?? "")
            ladder.questions.postpone(row, ladder.kind)
            round.answered()
        case .success(.asBefore):
            ladder.questions.keep(row)
            round.answered()
        case .success(.maybeStale):
            ladder.questions.postpone(row, ladder.kind)
            round.answered()
        case .failure(is QuotaUsedUp):
            // It stays, and is asked when there is room.
            break
        case .failure(let fault as GooglePlay.APIFault):
            guard var meaning = fault.errorMeaning else { return }
            if ladder.kind == .googlePlayVoids {
                // A list that is refused says nothing of what was voided.
                if case .final = meaning { meaning = .fault }
                return try await ladder.questions.take(fault, meaning, of: row, ladder.kind, &round)
            }
            let now = await context.clocks.now()
            let age = now.milliseconds - min(row.raised, now).milliseconds
            switch fault.meaning {
            case .notFound where age < Self.patience, .invalid where age < Self.patience:
                // A hint may be ahead of what can be read (G2).
                ladder.questions.postpone(row, ladder.kind)
                return round.answered()
            case .notFound where ladder.kind == .googlePlayOrder,
                .invalid where ladder.kind == .googlePlayOrder,
                .noLongerReadable where ladder.kind == .googlePlayOrder:
                try await reads.endQuestion(about: row.object, of: row.purchase)
                try await ladder.questions.settle(row)
                return round.answered()
            case .notFound, .invalid: try await park(row, ladder.kind, because: fault)
            case .noLongerReadable:
                guard let package = row.purchase?.application, let app = reads.setUp.app(package)
                else { break }
                // It was long over: nothing is amiss, and nothing more is to be asked.
                try await reads.note(unreadable: row.object, of: app, fault.reason ?? "410")
                try await ladder.questions.settle(row)
                return round.answered()
            default: break
            }
            try await ladder.questions.take(fault, meaning, of: row, ladder.kind, &round)
        case .failure(let error):
            throw error
        }
    }
}

extension GooglePlayReads {
    /// Returns `true` if a question of this kind may be asked now, by its app's quota.
    func isOpen(_ kind: Wanted.Kind, of row: WantedRow, now: Int64) -> Bool {
        guard let package = row.purchase?.application else { return true }
        let bucket: PlayQuotas.Bucket =
            switch kind {
            case .googlePlaySubscription: .subscriptions
            case .googlePlayAcknowledgement:
                PlayAct(kind, object: row.object)?.product == "" ? .subscriptionActs : .oneTimeActs
            case .googlePlayConsumption: .oneTimeActs
            case .googlePlayRefundReview: .orderActs
            case .googlePlayPurchase: .oneTime
            case .googlePlayVoids: .voided
            default: .orders
            }
        return quotas.isOpen(bucket, of: package, now: now)
    }
}

extension GooglePlay.APIFault {
    /// The consequence for the question: a 410 settles it and changes no record.
    ///
    /// `nil`: it stays, and its bucket rests.
    var errorMeaning: ErrorMeaning? {
        switch meaning {
        case .notFound, .noLongerReadable, .invalid: .final
        case .notAllowed, .tooMany: nil
        case .changedMeanwhile: .fault
        case .unreadable: .unreadable
        case .unavailable:
            if case .unreachable = cause { .unreachable } else { .fault }
        }
    }
}
