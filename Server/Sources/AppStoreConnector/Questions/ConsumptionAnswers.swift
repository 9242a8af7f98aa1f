internal import AppStoreAPI
internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// Answers the App Store's questions about what was consumed, from what the ledger knows.
struct ConsumptionAnswers: Sendable {
    let context: StoreContext
    let clients: AppStoreClients?
    private let pace = RetryPace()

    init(_ context: StoreContext, _ clients: AppStoreClients?) {
        self.context = context
        self.clients = clients
    }

    /// How long the App Store waits for the answer to a CONSUMPTION_REQUEST, in milliseconds.
    private static let answerTime: Int64 = 12 * 3_600_000

    /// Answers what waits.
    ///
    /// Without the customer's consent nothing is sent; whatever became of a
    /// question is journalled.
    ///
    /// - Returns: `false` while answering fails.
    func answer() async -> Bool {
        guard let clients else { return true }
        guard pace.isDue(at: context.clocks.wall()) else { return false }
        var failure: (any Error)?
        do {
            for wanted in try await context.records.questions.wanted(.consumption, limit: 100) {
                // One that fails does not hold up those behind it.
                do { try await answer(wanted, with: clients) } catch { failure = error }
            }
        } catch {
            failure = error
        }
        guard let failure else {
            pace.succeeded()
            return true
        }
        pace.failed(at: context.clocks.wall())
        context.logger.warning(
            "answering the App Store about consumption will be tried again",
            metadata: ["error": "\(failure)"]
        )
        return false
    }

    private func answer(_ wanted: WantedRow, with clients: AppStoreClients) async throws {
        guard let key = wanted.purchase, let record = try await context.records.record(of: key)
        else {
            return try await context.records.questions.settle([wanted])
        }
        var answer = ConsumptionAnswer(transaction: wanted.object, outcome: .sent)
        let now = await context.clocks.now()
        if now > wanted.raised.advanced(by: Self.answerTime) {
            (answer.outcome, answer.reason) = (.late, "the twelve hours were over")
        } else if let reason = try await reasonForSilence(key) {
            (answer.outcome, answer.reason) = (.withheld, reason)
        } else if let app = clients.app(key.application) {
            let request = try await consumption(of: wanted.object, in: record, at: now)
            answer.deliveryStatus = request.deliveryStatus.rawValue
            answer.sampleContentProvided = request.sampleContentProvided
            answer.consumptionPercentage = request.consumptionPercentage
            answer.refundPreference = request.refundPreference?.rawValue
            do {
                try await app[key.environment]
                    .sendConsumptionInformation(wanted.object, request)
            } catch {
                guard error.isFinal else { throw error }
                (answer.outcome, answer.reason) = (.refused, "\(error)")
            }
        } else {
            (answer.outcome, answer.reason) = (.withheld, "the app is not configured any more")
        }
        try await journal(answer, to: wanted, about: key, at: now)
        try await context.records.questions.settle([wanted])
        context.counters.count(
            "tollgate_consumption_answers_total",
            "outcome=\"\(answer.outcome.rawValue)\""
        )
    }

    /// Apple lets us speak only of customers who agreed to it.
    private func reasonForSilence(_ key: Purchase.Key) async throws -> String? {
        let holders = try await context.records.holders(of: key)
        if holders.isEmpty { return "nobody is known to hold the purchase" }
        for holder in holders {
            guard !holder.body.isEmpty, try Profile(holder).customer.consumptionConsent else {
                return "the customer did not consent"
            }
        }
        return nil
    }

    /// What the ledger knows of one transaction.
    private func consumption(
        of transaction: String,
        in record: Purchase,
        at now: Instant
    ) async throws -> AppStore.ConsumptionRequest {
        let periods = record.periods.map(\.period)
        let period =
            periods.first { $0.transactionID == transaction }
            ?? periods.max { $0.start < $1.start }
        let product = period.flatMap {
            context.records.history.product(
                StoreProduct(.appStore, $0.product),
                in: record.key.application,
                at: $0.start
            )
        }
        guard let period, let product else {
            // Sold by the store, but in no catalog so far: nothing was handed out.
            return AppStore.ConsumptionRequest(
                deliveryStatus: .undeliveredOther,
                sampleContentProvided: false
            )
        }
        return AppStore.ConsumptionRequest(
            deliveryStatus: .delivered,
            sampleContentProvided: product.consumption?.sampleContentProvided ?? false,
            consumptionPercentage: try await consumedShare(
                of: period,
                sold: product,
                in: record,
                at: now
            ),
            refundPreference: product.consumption?.refundPreference.map {
                switch $0 {
                case .decline: .decline
                case .grantFull: .grantFull
                case .grantProrated: .grantProrated
                }
            }
        )
    }

    /// In thousandths of a percent; `nil` where nothing is used up, and for auto-renewables, about
    /// which Apple takes no share.
    private func consumedShare(
        of period: Period,
        sold product: Catalog.Product,
        in record: Purchase,
        at now: Instant
    ) async throws -> Int64? {
        switch product.kind {
        case .autoRenewable, .freeSubscription, .nonConsumable:
            return nil
        case .nonRenewing:
            return try await elapsedShare(of: period, in: record, at: now)
        case .consumable:
            guard product.coins > 0 else { return nil }
            for holder in try await context.records.holders(of: record.key) {
                let transfers = try await context.records.transfers(
                    of: holder.customer,
                    in: record.key.environment
                )
                let lot = RecordStore.lot(period.id, of: record.key)
                if let share = SpentLots(of: transfers).share(of: lot) { return share }
            }
            return nil
        }
    }

    /// How much of a pass has run, counted from when it began after those before it.
    private func elapsedShare(
        of period: Period,
        in record: Purchase,
        at now: Instant
    ) async throws -> Int64? {
        guard let holder = try await context.records.holders(of: record.key).first else {
            return nil
        }
        let purchases = try await context.records.purchases(
            of: holder.customer,
            in: record.key.environment
        )
        let entry = Timeline(
            ofProducts: purchases.map { ($0.record.key, $0.access) },
            in: context.records.history.current
        ).entries.first { $0.purchase == record.key && $0.evidence == period.transactionID }
        guard let entry, let until = entry.until else { return nil }
        let length = until.milliseconds - entry.since.milliseconds
        let run = min(max(0, now.milliseconds - entry.since.milliseconds), length)
        guard length > 0 else { return nil }
        let (high, low) = run.multipliedFullWidth(by: 100_000)
        return length.dividingFullWidth((high, low)).quotient
    }

    private func journal(
        _ answer: ConsumptionAnswer,
        to wanted: WantedRow,
        about key: Purchase.Key,
        at now: Instant
    ) async throws {
        _ = try await context.records.submit(
            .message(
                dedupeKey: RowKey(
                    "consumption answer",
                    key.canonical,
                    wanted.object,
                    "\(wanted.raised.milliseconds)"
                ),
                subject: RecordStore.subject(of: key),
                kind: .command,
                stated: now,
                facts: [],
                received: Array(try APIJSON.encode(answer))
            )
        )
    }
}

extension AppStore.ServerAPIError {
    /// Whether this very request is what the App Store does not want, and not our key or the hour.
    fileprivate var isFinal: Bool {
        switch cause {
        case .refused(let refusal): !isRetryable && refusal.status != 401
        case .invalidIdentifier: true
        case .unreachable, .unreadable, .pagingStuck, .unsigned: false
        }
    }
}
