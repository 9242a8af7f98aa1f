internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// Answers Google's questions about pending refunds within a day, from what the coin ledger knows.
///
/// Without the customer's consent nothing is said.
struct RefundReviews: Sendable {
    let reads: GooglePlayReads
    private let questions: Questions
    private var context: StoreContext { reads.context }

    /// The time that Google waits, in milliseconds.
    static let time: Int64 = 24 * 3_600_000

    init(_ reads: GooglePlayReads) {
        self.reads = reads
        questions = Questions(reads.context)
    }

    /// Answers what waits.
    ///
    /// - Returns: `false` while answering fails.
    func answer() async -> Bool {
        await questions.ask { again, round in
            round.beginKind()
            let now = context.clocks.wall().milliseconds
            try await questions.askOnce(
                .googlePlayRefundReview,
                again: again,
                in: context,
                where: { reads.isOpen(.googlePlayRefundReview, of: $0, now: now) }
            ) { rows, prolong in
                for row in rows where round.goesOn {
                    guard try await settle(row, &round) else { return }
                    try await prolong()
                }
            }
        }
    }

    /// - Returns: `false` where the quota leaves no room for more.
    private func settle(_ row: WantedRow, _ round: inout QuestionRound) async throws -> Bool {
        do {
            let outcome = try await answer(row)
            try await questions.settle(row)
            context.counters.count(
                "tollgate_store_acts_total",
                "store=\"google_play\",act=\"review_refund\",outcome=\"\(outcome)\""
            )
            round.answered()
        } catch is QuotaUsedUp {
            return false
        } catch let fault as GooglePlay.APIFault {
            guard let meaning = fault.errorMeaning else { return true }
            let age = await context.clocks.now().milliseconds - row.raised.milliseconds
            if fault.meaning == .notFound, age < Self.time {
                // A question may be ahead of what Google can find (G2).
                questions.postpone(row, .googlePlayRefundReview)
                round.answered()
                return true
            }
            try await questions.take(fault, meaning, of: row, .googlePlayRefundReview, &round)
        }
        return true
    }

    /// Answers one question.
    ///
    /// - Returns: the outcome, for the counter.
    private func answer(_ row: WantedRow) async throws -> String {
        let parts = row.object.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let package = row.purchase?.application,
            let app = reads.setUp.app(package)
        else { return "withheld" }
        let now = await context.clocks.now()
        guard now <= row.raised.advanced(by: Self.time) else { return "late" }
        // Google names the order alone; the order names the purchase.
        let order = try await reads.read(order: parts[0], of: app)
        guard let key = order.key, let record = try await context.records.record(of: key) else {
            return "withheld"
        }
        let holders = try await context.records.holders(of: key)
        guard !holders.isEmpty else { return "withheld" }
        for holder in holders {
            guard !holder.body.isEmpty, try Profile(holder).customer.consumptionConsent else {
                return "withheld"
            }
        }
        let share = try await spentShare(of: parts[0], record, holders.map(\.customer))
        let product = record.soldProduct(in: context.records.history)
        let preference: GooglePlay.RefundReview.Preference =
            switch product?.consumption?.refundPreference {
            case .decline?: .decline
            case .grantFull?, .grantProrated?: .approve
            case nil: .neutral
            }
        let review = GooglePlay.RefundReview(
            pendingRefundToken: parts[1],
            sampleContentProvided: product?.consumption?.sampleContentProvided ?? false,
            preference: preference,
            consumedMilliunits: share
        )
        try await reads.call(.orderActs, app) { client in
            try await client.reviewRefund(order: parts[0], review)
        }
        return "sent"
    }

    /// The spent share of the coins that an order credited, in thousandths of a per cent; `nil` where it
    /// credited none.
    private func spentShare(
        of order: String,
        _ record: Purchase,
        _ customers: [Customer.ID]
    ) async throws -> Int64? {
        let lots = record.coinLots(of: order)
        guard !lots.isEmpty else { return nil }
        for customer in customers {
            let transfers = try await context.records.transfers(
                of: customer,
                in: record.key.environment
            )
            let spent = SpentLots(of: transfers)
            let shares = lots.compactMap { spent.share(of: RecordStore.lot($0, of: record.key)) }
            if let most = shares.max() { return most }
        }
        return nil
    }
}
