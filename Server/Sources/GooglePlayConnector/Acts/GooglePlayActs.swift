internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import TollgateCore

/// Does at Google what has to be done by a time: acknowledges, consumes.
///
/// After an outage the nearest deadline comes first: Google takes unacknowledged purchases back.
struct GooglePlayActs: Sendable {
    let reads: GooglePlayReads
    private let questions: Questions
    private var context: StoreContext { reads.context }

    /// Rows that are looked at to find the nearest deadlines.
    private static let most: Int64 = 2_000

    init(_ reads: GooglePlayReads) {
        self.reads = reads
        questions = Questions(reads.context)
    }

    /// One act that waits.
    private struct Waiting {
        var row: WantedRow
        var act: PlayAct

        /// The instant from which retries count: the deadline, or for a consumption the day its customer
        /// came, if that is later.
        private var due: Instant {
            act.kind == .googlePlayConsumption ? max(act.deadline, row.raised) : act.deadline
        }

        /// Until when it is tried again although Google finds no purchase.
        var lastTry: Instant { due.advanced(by: GooglePlayQuestions.patience) }

        /// Until when it is tried again although Google refuses it and the purchase still needs it.
        var lastRetry: Instant { due.advanced(by: PlayAct.time) }
    }

    /// Does what may be done now, the nearest deadline first.
    ///
    /// - Returns: `false` while it fails.
    func perform() async -> Bool {
        await questions.ask { again, round in
            for kind in [Wanted.Kind.googlePlayConsumption, .googlePlayAcknowledgement] {
                round.beginKind()
                let now = context.clocks.wall().milliseconds
                // A pile after an outage is larger than a page: the nearest deadline may be anywhere.
                try await questions.askOnce(
                    kind,
                    again: again,
                    most: Int(Self.most),
                    in: context,
                    where: { reads.isOpen(kind, of: $0, now: now) }
                ) { rows, prolong in
                    let waiting = rows.compactMap { row in
                        PlayAct(kind, object: row.object).map { Waiting(row: row, act: $0) }
                    }.sorted { ($0.act.deadline, $0.act.token) < ($1.act.deadline, $1.act.token) }
                    for batch in waiting.batches(of: reads.setUp.readsAtOnce) where round.goesOn {
                        try await perform(batch, kind, &round)
                        try await prolong()
                    }
                }
            }
        }
    }

    private func perform(
        _ batch: ArraySlice<Waiting>,
        _ kind: Wanted.Kind,
        _ round: inout QuestionRound
    ) async throws {
        let results = await batch.results { try await perform($0) }
        var trouble: (any Error)?
        for (waiting, result) in results {
            do {
                try await take(result, waiting, kind, &round)
            } catch {
                trouble = trouble ?? error
            }
        }
        if let trouble { throw trouble }
    }

    /// The outcome of an act that Google did not refuse.
    private enum Done {
        case done
        /// It has to wait for a customer.
        case waits
        /// The app is not configured any more.
        case foreign
    }

    private func perform(_ waiting: Waiting) async throws -> Done {
        let act = waiting.act
        guard let key = waiting.row.purchase, let app = reads.setUp.app(key.application) else {
            return .foreign
        }
        switch act.kind {
        case .googlePlayConsumption:
            // What is consumed, no device shows any more: not before somebody has it.
            guard try await !context.records.holders(of: key).isEmpty else { return .waits }
            try await reads.call(.oneTimeActs, app) { client in
                try await client.consume(act.token, product: act.product)
            }
        case .googlePlayAcknowledgement where act.product.isEmpty:
            // The path still has a product, which Google does not look at since 2025-05.
            try await reads.call(.subscriptionActs, app) { client in
                try await client.acknowledgeSubscription(
                    act.token,
                    product: "-",
                    account: act.account
                )
            }
        default:
            try await reads.call(.oneTimeActs, app) { client in
                try await client.acknowledgeProduct(act.token, product: act.product)
            }
        }
        return .done
    }

    private func take(
        _ result: Result<Done, any Error>,
        _ waiting: Waiting,
        _ kind: Wanted.Kind,
        _ round: inout QuestionRound
    ) async throws {
        switch result {
        case .success(.done):
            try await questions.settle(waiting.row)
            count(kind, "done")
            round.answered()
        case .success(.waits):
            questions.postpone(waiting.row, kind)
            round.answered()
        case .success(.foreign):
            reads.tellOfForeignApp(waiting.row.purchase?.application ?? "")
            questions.postpone(waiting.row, kind)
            round.answered()
        case .failure(let fault as GooglePlay.APIFault):
            let now = await context.clocks.now()
            switch fault.meaning {
            case .changedMeanwhile, .invalid:
                // Somebody else did it, or the purchase is another one by now: it is read, and what is
                // still open then is tried again after a while, until the deadline is long over.
                count(kind, "reread")
                try await readAgain(waiting, kind, until: waiting.lastRetry)
                round.answered()
            case .notFound where now <= waiting.lastTry:
                // An act may be ahead of what Google can find, as reads are (G2).
                count(kind, "reread")
                try await readAgain(waiting, kind, until: waiting.lastTry)
                round.answered()
            case .notFound, .noLongerReadable:
                count(kind, "too_late")
                try await questions.take(fault, .final, of: waiting.row, kind, &round)
            case .notAllowed, .tooMany:
                // Its bucket rests, and it stays.
                count(kind, "failed")
            case .unavailable, .unreadable:
                count(kind, "failed")
                try await questions.take(fault, .fault, of: waiting.row, kind, &round)
            }
        case .failure(is QuotaUsedUp):
            break
        case .failure(let error):
            throw error
        }
    }

    /// Reads the purchase of an act that Google refuses, and keeps what is still to be done for later.
    private func readAgain(
        _ waiting: Waiting,
        _ kind: Wanted.Kind,
        until over: Instant
    ) async throws {
        if await context.clocks.now() <= over, try await isStillOpen(waiting) {
            questions.postpone(waiting.row, kind)
        } else {
            try await questions.settle(waiting.row)
        }
    }

    /// Reads the purchase of an act that Google refuses.
    ///
    /// - Returns: `true` if the act is still to be done, as far as Google answers.
    private func isStillOpen(_ waiting: Waiting) async throws -> Bool {
        let act = waiting.act
        guard let app = waiting.row.purchase.flatMap({ reads.setUp.app($0.application) }) else {
            return true
        }
        do {
            let read =
                act.product.isEmpty
                ? try await reads.read(subscription: act.token, of: app, retrying: act)
                : try await reads.read(product: act.token, of: app, retrying: act)
            return read.acts.contains { open in
                open.kind == act.kind
                    && PlayAct(open.kind, object: open.object)?.product == act.product
            }
        } catch is GooglePlay.APIFault {
            return true
        } catch is QuotaUsedUp {
            return true
        }
    }

    private func count(_ kind: Wanted.Kind, _ outcome: String) {
        context.counters.count(
            "tollgate_store_acts_total",
            "store=\"google_play\",act=\"\(kind.act)\",outcome=\"\(outcome)\""
        )
    }

    /// The acts that wait and how many seconds the nearest deadline is away; below zero, it is over.
    func gauges() async throws -> [StoreGauge] {
        let now = await context.clocks.now()
        var gauges: [StoreGauge] = []
        for queue in try await queues() {
            let labels = "store=\"google_play\",act=\"\(queue.kind.act)\""
            gauges.append(StoreGauge("tollgate_store_acts_waiting", labels, Int64(queue.count)))
            guard let nearest = queue.nearest else { continue }
            let left = (nearest.milliseconds - now.milliseconds) / 1000
            gauges.append(StoreGauge("tollgate_store_act_deadline_seconds", labels, left))
        }
        return gauges
    }

    /// The nearest deadline of each kind of act that waits.
    func deadlines() async throws -> [StoreDeadline] {
        try await queues().compactMap { queue in
            queue.nearest.map {
                StoreDeadline(
                    queue.kind,
                    act: queue.kind.act,
                    by: $0,
                    of: queue.kind == .googlePlayRefundReview ? RefundReviews.time : PlayAct.time,
                    waitsForCustomer: queue.kind == .googlePlayConsumption
                )
            }
        }
    }

    private func queues() async throws -> [(kind: Wanted.Kind, count: Int, nearest: Instant?)] {
        var queues: [(kind: Wanted.Kind, count: Int, nearest: Instant?)] = []
        for kind in [
            Wanted.Kind.googlePlayAcknowledgement, .googlePlayConsumption, .googlePlayRefundReview,
        ] {
            let rows = try await context.records.questions.wanted(kind, limit: Self.most)
            let deadlines = rows.compactMap { row in
                kind == .googlePlayRefundReview
                    ? row.raised.advanced(by: RefundReviews.time)
                    : PlayAct(kind, object: row.object)?.deadline
            }
            queues.append((kind, rows.count, deadlines.min()))
        }
        return queues
    }
}

extension Wanted.Kind {
    /// The name of an act in metrics.
    var act: String {
        switch self {
        case .googlePlayAcknowledgement: "acknowledge"
        case .googlePlayConsumption: "consume"
        case .googlePlayRefundReview: "review_refund"
        default: rawValue
        }
    }
}
