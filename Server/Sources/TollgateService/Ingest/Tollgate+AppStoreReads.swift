internal import AppStoreAPI
internal import Crypto
internal import Foundation
internal import Intake
internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

// What the App Store answers when it is asked.
extension Tollgate {
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

    /// The client of an environment.
    ///
    /// - Throws: a refusal 503 where none is configured.
    func appStoreServer(_ environment: StoreEnvironment) throws -> AppStore.ServerAPIClient {
        guard let appStoreClients, appStoreEnvironments.contains(environment) else {
            throw Refusal(
                503,
                .apiError,
                .storeUnavailable,
                "The App Store Server API is not configured for \(environment.rawValue): set TOLLGATE_APP_STORE_ISSUER_ID, …_KEY_ID and …_KEY_FILE."
            )
        }
        return appStoreClients[environment]
    }

    /// Asks for the state of all subscriptions of the customer that a transaction belongs to.
    ///
    /// - Parameter confirms: journals an answer that repeats the record too, for its newer clock.
    func readStatuses(
        of transactionID: String,
        in environment: StoreEnvironment,
        confirms: Bool
    ) async throws -> ReadCount {
        let response = try await appStoreServer(environment).subscriptionStatuses(transactionID)
        var count = ReadCount()
        for item in response.data.flatMap(\.lastTransactions) {
            guard let signedTransaction = item.signedTransactionInfo else { continue }
            let body = StatusBody(
                status: item.status?.rawValue,
                signedTransactionInfo: signedTransaction,
                signedRenewalInfo: item.signedRenewalInfo
            )
            if let read = try await statements(of: body) {
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
    func readHistory(
        of transactionID: String,
        in environment: StoreEnvironment,
        _ request: AppStore.TransactionHistoryRequest = .init(),
        coinsSince: Int64 = .min,
        claim: Claim? = nil
    ) async throws -> ReadCount {
        let client = try appStoreServer(environment)
        var count = ReadCount()
        for try await page in client.transactionHistory(transactionID, request) {
            var reads: [VerifiedRead] = []
            for signed in page.signedTransactions {
                guard let read = try await statements(of: Array(signed.utf8)),
                    try await !isCreditedElsewhere(read, before: coinsSince)
                else { continue }
                reads.append(read)
            }
            count = count + (try await journal(reads, claim: claim))
        }
        return count
    }

    /// Whether a read is of a consumable that was bought before `instant` and that the record lacks.
    private func isCreditedElsewhere(_ read: VerifiedRead, before instant: Int64) async throws
        -> Bool
    {
        guard case .facts(let facts, let key) = read.message else { return false }
        for case .period(let period) in facts.map(\.statement)
        where period.kind == .consumable && period.start.milliseconds < instant {
            return try await store.record(of: key) == nil
        }
        return false
    }

    /// Asks for what lasts: all that the customer bought but consumables, and of these only those
    /// that are named.
    ///
    /// Who comes from another system has had the coins of old consumables there; to read them all
    /// would credit them again.
    ///
    /// - Parameter named: transactions that are asked for one by one where the history lacks them.
    func readWhatLasts(
        of transactionID: String,
        in environment: StoreEnvironment,
        named: [String],
        claim: Claim? = nil
    ) async throws -> ReadCount {
        var request = AppStore.TransactionHistoryRequest()
        request.productTypes = ["AUTO_RENEWABLE", "NON_RENEWABLE", "NON_CONSUMABLE"]
        var count = try await readHistory(of: transactionID, in: environment, request, claim: claim)
        let client = try appStoreServer(environment)
        for id in named where !count.transactionIDs.contains(id) {
            let signed: String
            do { signed = try await client.transactionInfo(id) } catch let error {
                // One that the App Store has forgotten takes nothing from the others.
                guard error.isNotFound else { throw error }
                continue
            }
            guard let read = try await statements(of: Array(signed.utf8)) else { continue }
            count = count + (try await journal([read], claim: claim))
        }
        return count
    }

    /// Several at once, so that they share commits; then one claim for each purchase.
    func journal(_ reads: [VerifiedRead], claim: Claim?) async throws -> ReadCount {
        var count = ReadCount()
        if appStoreOptions.journalsInTurn {
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
        for key in count.purchases.sorted(by: { $0.canonical < $1.canonical }) {
            try await self.claim(key, claim)
        }
        return count
    }

    // MARK: - One answer

    /// An answer about one purchase, whose signatures were found to be good.
    struct VerifiedRead: Sendable {
        var message: Translation.Meaning
        var source: String
        /// When it was signed.
        var stated: Instant
        var body: [UInt8]
    }

    /// An entry of a status response, as it is kept.
    struct StatusBody: Codable {
        var status: Int?
        var signedTransactionInfo: String
        var signedRenewalInfo: String?
    }

    /// Verifies an entry of a status response; `nil` if it is not for us.
    private func statements(of entry: StatusBody) async throws -> VerifiedRead? {
        let verifier = try verifier()
        let now = await clocks.now().milliseconds
        do {
            let transaction = try verifier.verifyTransaction(
                Array(entry.signedTransactionInfo.utf8),
                now: now
            )
            let renewalInfo = try entry.signedRenewalInfo.map {
                try verifier.verifyRenewalInfo(Array($0.utf8), of: transaction, now: now)
            }
            let source = "read:\(transaction.originalTransactionID ?? "")"
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return VerifiedRead(
                message: AppStoreIntake.message(
                    transaction,
                    renewalInfo: renewalInfo,
                    status: entry.status.map(AppStore.Status.init),
                    at: transaction.signedDate,
                    source: source
                ),
                source: source,
                stated: Instant(
                    milliseconds: renewalInfo?.signedDate ?? transaction.signedDate ?? now
                ),
                body: Array(try encoder.encode(entry))
            )
        } catch let error as AppStore.VerificationError {
            try ignore(error)
            return nil
        }
    }

    /// Verifies a transaction that came alone; `nil` if it is not for us.
    private func statements(of signedTransaction: [UInt8]) async throws -> VerifiedRead? {
        let verifier = try verifier()
        let now = await clocks.now().milliseconds
        do {
            let transaction = try verifier.verifyTransaction(signedTransaction, now: now)
            let source = "read:\(transaction.transactionID ?? "")"
            return VerifiedRead(
                message: AppStoreIntake.message(transaction, source: source),
                source: source,
                stated: Instant(milliseconds: transaction.signedDate ?? now),
                body: signedTransaction
            )
        } catch {
            try ignore(error)
            return nil
        }
    }

    /// An answer over TLS whose signature is not Apple's is nothing to act on.
    ///
    /// - Throws: the error, where asking again may help: then the answer is not in yet.
    private func ignore(_ error: AppStore.VerificationError) throws {
        noteClock(error)
        guard !error.isRetryable else { throw error }
        counters.count("tollgate_unverified_reads_total", "store=\"app_store\"")
        logger.error(
            "the App Store's answer holds something that it did not sign for this app",
            metadata: ["error": "\(error)"]
        )
    }

    /// Takes in again what was parked after a read.
    func take(read body: [UInt8]) async throws -> Receipt {
        let read: VerifiedRead?
        if let entry = try? JSONDecoder().decode(StatusBody.self, from: Data(body)) {
            read = try await statements(of: entry)
        } else {
            read = try await statements(of: body)
        }
        guard let read else { return .parked }
        return try await submit(read)
    }

    private func submit(_ read: VerifiedRead) async throws -> Receipt {
        try await house.journal(
            Translation(
                read.message,
                evidence: Evidence(
                    source: read.source,
                    key: RowKey("read", read.source, read.digest),
                    stated: read.stated,
                    kind: .fetched,
                    body: read.body
                )
            ),
            of: .appStore
        )
    }

    /// Journals an answer, unless the record says the same already.
    func journal(
        _ read: VerifiedRead,
        confirms: Bool
    ) async throws -> ReadCount {
        guard case .facts(let stated, let key) = read.message else {
            _ = try await submit(read)
            return ReadCount(news: 0, all: 1)
        }
        let record = try await store.record(of: key)
        var count = ReadCount(news: 0, all: 1, purchases: [key])
        for case .period(let period) in stated.map(\.statement) {
            count.transactionIDs.insert(period.transactionID)
            if period.kind == .autoRenewable { count.hasPlan = true }
        }
        if let record, !record.isContested, stated.allSatisfy(record.repeats) {
            // The same again: what counts is only that it was still so (RULES §11).
            if confirms { try await confirm(stated, about: key, read) }
        } else {
            count.news = try await submit(read) == .recorded ? 1 : 0
        }
        return count
    }

    /// A row with the clocks of what was confirmed, but without a body.
    private func confirm(
        _ facts: [Fact],
        about key: Purchase.Key,
        _ read: VerifiedRead
    ) async throws {
        _ = try await store.submit(
            JournalItem(
                dedupeKey: RowKey("confirmed", key.canonical, read.digest),
                subject: RecordStore.subject(of: key),
                kind: .fetched,
                stated: read.stated,
                content: .facts(facts),
                received: read.body
            )
        )
        counters.count("tollgate_messages_total", "store=\"app_store\",outcome=\"confirmed\"")
    }

    /// Journals that a customer says of a purchase that it is theirs, unless that changes nothing.
    ///
    /// - Throws: a refusal 429 `rate_limited` for who restores another's purchase all day.
    private func claim(_ key: Purchase.Key, _ claim: Claim) async throws {
        let record = try await store.record(of: key)
        guard record?.knows(claim) != true else { return }
        if claim.mode == .restored, record?.hasRestored(claim.customer) == true {
            guard try await isMoved(by: claim.customer, key, record) else { return }
            try restores.admit("\(claim.customer) \(key.canonical)", at: clocks.wall())
        }
        let now = await clocks.now()
        _ = try await store.submit(
            JournalItem(
                dedupeKey: RowKey(
                    "claim",
                    key.canonical,
                    claim.customer.rawValue,
                    claim.mode.rawValue,
                    claim.mode == .restored ? "\(now.milliseconds)" : ""
                ),
                subject: RecordStore.subject(of: key),
                kind: .command,
                stated: now,
                content: .facts([
                    Fact(
                        purchase: key,
                        source: "claim:\(claim.customer)",
                        stated: Stated(now),
                        statement: .claim(claim)
                    )
                ])
            )
        )
    }
}

extension Tollgate.VerifiedRead {
    var digest: String {
        SHA256.hash(data: body).map { String($0, radix: 16) }.joined(separator: "-")
    }
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

    /// Whether a claim would change nothing.
    func knows(_ claim: Claim) -> Bool {
        guard let known = claims.first(where: { $0.customer == claim.customer }) else {
            return false
        }
        switch claim.mode {
        case .purchased: return known.earliest != nil
        case .observed: return known.earliest != nil || known.observed != nil
        case .restored:
            // Restoring again counts where somebody else restored in between.
            guard let latest = known.latestRestore else { return false }
            return claims.allSatisfy { other in
                other.customer == claim.customer || other.latestRestore.map { $0 < latest } ?? true
            }
        }
    }
}
