internal import AppStoreAPI
internal import Crypto
internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// Reads from the App Store Server API: each answer is verified, translated, and journalled unless the
/// record says it already.
struct AppStoreReads: Sendable {
    let context: StoreContext
    let messages: AppStoreMessages
    /// Speaks to the App Store; `nil` where no key of App Store Connect is configured.
    let clients: AppStoreClients?
    /// Whether the answers of one page are journalled one after the other.
    let journalsInTurn: Bool
    /// Restores by who does not have the purchase, per customer and purchase: each is kept, because
    /// the latest may own it.
    let restores = CallLimit(calls: 10, seconds: 86_400)

    /// How many answers said what, for whoever asked.
    struct ReadCount: Sendable {
        /// Statements that the record did not have.
        var news = 0
        /// All of them.
        var all = 0
        /// Purchases that they are about.
        var purchases: Set<Purchase.Key> = []
        var transactionIDs: Set<String> = []
        /// Whether a subscription is among them.
        var hasPlan = false

        static func + (left: ReadCount, right: ReadCount) -> ReadCount {
            ReadCount(
                news: left.news + right.news,
                all: left.all + right.all,
                purchases: left.purchases.union(right.purchases),
                transactionIDs: left.transactionIDs.union(right.transactionIDs),
                hasPlan: left.hasPlan || right.hasPlan
            )
        }
    }

    /// The environments in which the App Store Server API can be asked, production first.
    var environments: [StoreEnvironment] {
        guard clients != nil, let verifier = messages.verifier else { return [] }
        return [.production, .sandbox].filter { verifier.environments.contains($0.ofAppStore) }
    }

    /// Whether the App Store can be asked about an app in an environment.
    func canAsk(_ scope: AppStoreScope) -> Bool {
        environments.contains(scope.environment) && clients?.app(scope.application) != nil
    }

    /// The client of an app in an environment.
    ///
    /// - Throws: a refusal 503 where none is configured.
    func client(_ scope: AppStoreScope) throws -> AppStore.ServerAPIClient {
        guard let clients, environments.contains(scope.environment) else {
            throw Refusal(
                503,
                .storeUnavailable,
                "The App Store Server API is not configured for \(scope.environment.rawValue): set TOLLGATE_APP_STORE_ISSUER_ID, …_KEY_ID and …_KEY_FILE."
            )
        }
        guard let app = clients.app(scope.application) else {
            throw Refusal(
                503,
                .storeUnavailable,
                "The App Store cannot be asked about \(scope.application), which is not an app of this server: add it to ‘apps’ in the catalog."
            )
        }
        return app[scope.environment]
    }

    /// Asks for the state of all subscriptions of the customer that a transaction belongs to.
    ///
    /// - Parameter confirms: journals an answer that repeats the record too, for its newer clock.
    func readStatuses(
        of transactionID: String,
        in scope: AppStoreScope,
        confirms: Bool
    ) async throws -> ReadCount {
        let response = try await client(scope).subscriptionStatuses(transactionID)
        var count = ReadCount()
        for item in response.data.flatMap(\.lastTransactions) {
            guard let signedTransaction = item.signedTransactionInfo else { continue }
            let entry = AppStoreMessages.StatusBody(
                status: item.status?.rawValue,
                signedTransactionInfo: signedTransaction,
                signedRenewalInfo: item.signedRenewalInfo
            )
            if let read = try await ours({ try messages.translate(entry, at: $0) }) {
                count = count + (try await journal(read, confirms: confirms))
            }
        }
        return count
    }

    /// Asks for what the customer bought that a transaction belongs to.
    ///
    /// - Parameters:
    ///   - request: what to leave out.
    ///   - coinsSince: before which consumables are left out that the record lacks, in UNIX
    ///     milliseconds.
    ///   - claim: who says that it is theirs, and how.
    ///   - isClaimed: the purchases that the claim covers.
    func readHistory(
        of transactionID: String,
        in scope: AppStoreScope,
        _ request: AppStore.TransactionHistoryRequest = .init(),
        coinsSince: Int64 = .min,
        claim: Claim? = nil,
        covering isClaimed: (Purchase.Key) -> Bool = { _ in true }
    ) async throws -> ReadCount {
        let client = try client(scope)
        var count = ReadCount()
        for try await page in client.transactionHistory(transactionID, request) {
            var reads: [Translation] = []
            for signed in page.signedTransactions {
                guard let read = try await answer(Array(signed.utf8)),
                    try await !isCreditedElsewhere(read, before: coinsSince)
                else { continue }
                reads.append(read)
            }
            count = count + (try await journal(reads, claim: claim, covering: isClaimed))
        }
        return count
    }

    /// Whether a read is of a consumable that was bought before `instant` and that the record lacks.
    func isCreditedElsewhere(_ read: Translation, before instant: Int64) async throws
        -> Bool
    {
        guard case .facts(let facts, let key) = read.meaning else { return false }
        for case .period(let period) in facts.map(\.statement)
        where period.kind == .consumable && period.start.milliseconds < instant {
            return try await context.records.record(of: key) == nil
        }
        return false
    }

    /// Asks for what lasts: all that the customer bought but consumables, and of these only those
    /// that are named.
    ///
    /// Who comes from another system has had the coins of old consumables there; to read them all
    /// would credit them again.
    ///
    /// - Parameters:
    ///   - named: transactions that are asked for one by one where the history lacks them.
    ///   - isClaimed: the purchases that the claim covers.
    func readWhatLasts(
        of transactionID: String,
        in scope: AppStoreScope,
        named: [String],
        claim: Claim? = nil,
        covering isClaimed: (Purchase.Key) -> Bool = { _ in true }
    ) async throws -> ReadCount {
        var request = AppStore.TransactionHistoryRequest()
        request.productTypes = ["AUTO_RENEWABLE", "NON_RENEWABLE", "NON_CONSUMABLE"]
        var count = try await readHistory(
            of: transactionID,
            in: scope,
            request,
            claim: claim,
            covering: isClaimed
        )
        let client = try client(scope)
        for id in named where !count.transactionIDs.contains(id) {
            let signed: String
            do { signed = try await client.transactionInfo(id) } catch let error {
                // One that the App Store has forgotten takes nothing from the others.
                guard error.isNotFound else { throw error }
                continue
            }
            guard let read = try await answer(Array(signed.utf8)) else { continue }
            count = count + (try await journal([read], claim: claim, covering: isClaimed))
        }
        return count
    }

    /// Journals several at once, so that they share commits; then one claim for each purchase that the
    /// claim covers.
    func journal(
        _ reads: [Translation],
        claim: Claim?,
        covering isClaimed: (Purchase.Key) -> Bool = { _ in true }
    ) async throws -> ReadCount {
        var count = ReadCount()
        if journalsInTurn {
            for read in reads { count = count + (try await journal(read, confirms: false)) }
        } else {
            count = try await withThrowingTaskGroup(of: ReadCount.self) { group in
                for read in reads {
                    group.addTask { try await self.journal(read, confirms: false) }
                }
                return try await group.reduce(ReadCount(), +)
            }
        }
        guard let claim else { return count }
        let claimed = count.purchases.filter(isClaimed)
        for key in claimed.sorted(by: { $0.canonical < $1.canonical }) {
            try await self.claim(key, claim)
        }
        return count
    }

    // MARK: - One answer

    private func answer(_ body: [UInt8]) async throws -> Translation? {
        try await ours { try messages.translate(answer: body, at: $0) }
    }

    /// Verifies and translates an answer; `nil` if it is not for us.
    ///
    /// An answer over TLS whose signature is not Apple's is nothing to act on.
    ///
    /// - Throws: the error, where asking again may help: then the answer is not in yet.
    private func ours(_ translate: (Instant) throws -> Translation) async throws -> Translation? {
        let now = await context.clocks.now()
        do {
            return try translate(now)
        } catch let error as AppStore.VerificationError {
            guard !error.isRetryable else { throw error }
            context.counters.count("tollgate_unverified_reads_total", "store=\"app_store\"")
            context.logger.error(
                "the App Store's answer holds something that it did not sign for this app",
                metadata: ["error": "\(error)"]
            )
            return nil
        }
    }

    /// Journals an answer, unless the record says the same already.
    func journal(_ read: Translation, confirms: Bool) async throws -> ReadCount {
        guard case .facts(let stated, let key) = read.meaning else {
            _ = try await context.journal(read, of: .appStore)
            return ReadCount(news: 0, all: 1)
        }
        let record = try await context.records.record(of: key)
        var count = ReadCount(news: 0, all: 1, purchases: [key])
        for case .period(let period) in stated.map(\.statement) {
            count.transactionIDs.insert(period.transactionID)
            if period.kind == .autoRenewable { count.hasPlan = true }
        }
        if let record, !record.isContested, stated.allSatisfy(record.repeats) {
            // The same again: what counts is only that it was still so (RULES §11).
            if confirms { try await confirm(stated, about: key, read.evidence) }
        } else {
            count.news = try await context.journal(read, of: .appStore) == .recorded ? 1 : 0
        }
        return count
    }

    /// A row with the clocks of what was confirmed, but without a body.
    private func confirm(
        _ facts: [Fact],
        about key: Purchase.Key,
        _ evidence: Evidence
    ) async throws {
        _ = try await context.records.submit(
            JournalItem(
                dedupeKey: RowKey("confirmed", key.canonical, digest(evidence.body)),
                subject: RecordStore.subject(of: key),
                kind: .fetched,
                stated: evidence.stated,
                content: .facts(facts),
                received: evidence.body
            )
        )
        context.counters.count(
            "tollgate_messages_total",
            "store=\"app_store\",outcome=\"confirmed\""
        )
    }

    /// Whether one more restore may move a purchase: under `transfer`, to who does not have it.
    ///
    /// The policy is that of the beginning of an epoch, and every epoch begins with a period.
    func isMoved(
        by customer: Customer.ID,
        _ key: Purchase.Key,
        _ record: Purchase?,
        bought: Instant? = nil
    ) async throws -> Bool {
        let starts = (record?.periods.map(\.period.start) ?? []) + [bought].compactMap(\.self)
        guard starts.contains(where: { context.records.history.ownership(at: $0) == .transfer })
        else { return false }
        return try await !context.records.holds(customer, key)
    }

    /// Journals that a customer says of a purchase that it is theirs, unless that changes nothing.
    ///
    /// - Throws: a refusal 429 `rate_limited` for who restores another's purchase all day.
    private func claim(_ key: Purchase.Key, _ claim: Claim) async throws {
        let record = try await context.records.record(of: key)
        guard record?.knows(claim) != true else { return }
        if claim.mode == .restored, record?.hasRestored(claim.customer) == true {
            guard try await isMoved(by: claim.customer, key, record) else { return }
            try restores.admit("\(claim.customer) \(key.canonical)", at: context.clocks.wall())
        }
        let now = await context.clocks.now()
        try await context.records.journal(
            Fact(
                purchase: key,
                source: "claim:\(claim.customer)",
                stated: Stated(now),
                statement: .claim(claim)
            ),
            dedupeKey: RowKey(
                "claim",
                key.canonical,
                claim.customer.rawValue,
                claim.mode.rawValue,
                claim.mode == .restored ? "\(now.milliseconds)" : ""
            )
        )
    }
}

/// A digest of what was kept, as it stands in the keys of rows.
func digest(_ body: [UInt8]) -> String {
    SHA256.hash(data: body).map { String($0, radix: 16) }.joined(separator: "-")
}

extension Purchase {
    /// Whether the record already says what a read states, whatever its clock.
    func repeats(_ fact: Fact) -> Bool {
        switch fact.statement {
        case .period(let period): repeats(period)
        case .renewal(let terms): renewal?.value == terms
        case .status(let status): self.status?.value == status
        default: false
        }
    }

    /// Whether a customer has ever restored it.
    func hasRestored(_ customer: Customer.ID) -> Bool {
        claims.contains { $0.customer == customer && $0.latestRestore != nil }
    }
}
