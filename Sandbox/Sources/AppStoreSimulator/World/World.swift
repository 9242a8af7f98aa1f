import Foundation

extension SimulatedAppStore {
    /// Everything the simulated App Store remembers.
    ///
    /// Plain and deterministic: what changes it are functions of the types beside it, such as
    /// `Purchases` and `Billing`, which take the world and the present instant. What has to be told to
    /// the app's server waits in `announcements` until somebody signs and sends it.
    struct World: Codable, Sendable {
        var environment: Environment
        var bundleID: String
        var appAppleID: Int64
        var notificationURL: String?
        var renewals: Renewals
        var renewalLimit: Int?
        var graceDays: Int?
        var renewalLead: Int64
        var behaviour: Behaviour

        var random: SeededRandom
        var sharedSecret: String
        /// 1 or 2: which kind of notification the app has chosen.
        var notificationVersion = 2
        /// When the app chose version 2 after version 1, in UNIX milliseconds.
        var versionTwoSince: Int64?
        var products: [String: Product] = [:]
        var customers: [String: Customer] = [:]
        var transactions: [String: Transaction] = [:]
        var subscriptions: [String: Subscription] = [:]
        var notifications: [String: Notification] = [:]
        /// Notification ids in the order of their first sending.
        var notificationOrder: [String] = []
        var testTokens: [String: String] = [:]
        var consumptionAnswers: [ConsumptionAnswer] = []
        /// Questions what was consumed that are open, by transaction id.
        var openConsumptionRequests: [String: ConsumptionRequests.Pending]?
        /// Nonces of signed offers that were used: each is good for one attempt.
        var usedNonces: [String]?
        var massExtensions: [String: MassExtension] = [:]
        /// What reports say otherwise than the purchases would lead one to expect.
        var reportDifferences: [ReportDifference]?
        /// Retention messages; `nil` until something of them is set up.
        var retention: Retention?
        var modification = 0
        var lastTransactionID: Int64
        var lastLineItemID: Int64

        var announcements: [Announcement] = []
        var dues = DueQueue()

        enum CodingKeys: String, CodingKey {
            case environment, bundleID, appAppleID, notificationURL, renewals, renewalLimit
            case graceDays, renewalLead, behaviour, random, products, customers, transactions
            case subscriptions, notifications, notificationOrder, testTokens, consumptionAnswers
            case usedNonces, sharedSecret, notificationVersion, massExtensions, modification,
                lastTransactionID,
                lastLineItemID, reportDifferences, versionTwoSince, openConsumptionRequests,
                retention
        }

        init(_ configuration: Configuration) {
            environment = configuration.environment
            bundleID = configuration.bundleID
            appAppleID = configuration.appAppleID
            notificationURL = configuration.notificationURL
            renewals = configuration.renewals
            renewalLimit =
                configuration.renewalLimit ?? (configuration.environment == .sandbox ? 12 : nil)
            graceDays = configuration.graceDays
            renewalLead = configuration.renewalLead
            behaviour = configuration.behaviour
            random = SeededRandom(seed: configuration.seed)
            sharedSecret = random.uuid().replacingOccurrences(of: "-", with: "")
            for product in configuration.products { products[product.id] = product }
            // Apple's sandbox ids begin with 2000000; production's are about as long.
            let start = Int64(random.next() % 100_000_000)
            lastTransactionID =
                configuration.environment == .sandbox
                ? 2_000_000_100_000_000 + start : 450_000_100_000_000 + start
            lastLineItemID = lastTransactionID / 10
        }

        // MARK: - Ids and records

        mutating func nextTransactionID() -> String {
            lastTransactionID += Int64(1 + random.next() % 97)
            return String(lastTransactionID)
        }

        mutating func nextLineItemID() -> String {
            lastLineItemID += Int64(1 + random.next() % 97)
            return String(lastLineItemID)
        }

        mutating func nextOrderID() -> String {
            let letters = Array("BCDFGHJKLMNPQRSTVWXYZ0123456789")
            var text = "M"
            for _ in 0..<9 { text.append(letters[Int(random.next() % UInt64(letters.count))]) }
            return text
        }

        /// Puts a transaction into the books, new or changed.
        mutating func record(_ transaction: Transaction, at now: Int64) {
            modification += 1
            var changed = transaction
            changed.modification = modification
            changed.modified = now
            if transactions.updateValue(changed, forKey: changed.id) == nil {
                customers[changed.customer]?.transactionIDs.append(changed.id)
            }
        }

        /// Puts a subscription into the books and into the queue of what is due.
        mutating func record(_ subscription: Subscription) {
            subscriptions[subscription.originalTransactionID] = subscription
            if let due = subscription.nextDue(lead: renewalLead) {
                dues.insert(.subscription(subscription.originalTransactionID), at: due)
            }
        }

        /// Fills the queue anew after the world was read from a file.
        mutating func rebuildDues(now: Int64) {
            dues = DueQueue()
            for id in subscriptions.keys.sorted() {
                guard let due = subscriptions[id]?.nextDue(lead: renewalLead) else { continue }
                dues.insert(.subscription(id), at: due)
            }
            for (id, request) in (openConsumptionRequests ?? [:]).sorted(by: { $0.key < $1.key }) {
                dues.insert(.consumptionRequest(id), at: request.next)
            }
            for id in notificationOrder {
                guard var notification = notifications[id], notification.url != nil else {
                    continue
                }
                if notification.attempts.isEmpty { notification.nextAttempt = now }
                notifications[id] = notification
                guard let next = notification.nextAttempt else { continue }
                dues.insert(.notification(id), at: next)
            }
        }

        /// The earliest instant at which something is really due, dropping overtaken entries.
        mutating func nextDue() -> DueQueue.Entry? {
            while let entry = dues.first {
                let current: Int64? =
                    switch entry.subject {
                    case .subscription(let id): subscriptions[id]?.nextDue(lead: renewalLead)
                    case .notification(let id): notifications[id]?.nextAttempt
                    case .consumptionRequest(let id): openConsumptionRequests?[id]?.next
                    }
                if current == entry.instant { return entry }
                _ = dues.removeFirst()
            }
            return nil
        }

        // MARK: - The app's settings

        /// Retries stay what they were; after a switch to 2 those of version 1 go on for three days.
        mutating func choose(notificationVersion version: Int, at now: Int64) {
            let chosen = version == 1 ? 1 : 2
            if chosen == 1 {
                versionTwoSince = nil
            } else if notificationVersion == 1 {
                versionTwoSince = now
            }
            notificationVersion = chosen
        }

        // MARK: - Looking things up

        func product(_ id: String) throws(Refusal) -> Product {
            guard let product = products[id] else { throw .notFound("product \(id)") }
            return product
        }

        func customer(_ id: String) throws(Refusal) -> Customer {
            guard let customer = customers[id] else { throw .notFound("customer \(id)") }
            return customer
        }

        func transaction(_ id: String) throws(Refusal) -> Transaction {
            guard let transaction = transactions[id] else { throw .notFound("transaction \(id)") }
            return transaction
        }

        func subscription(_ id: String) throws(Refusal) -> Subscription {
            guard let subscription = subscriptions[id] else {
                throw .notFound("subscription with the original transaction id \(id)")
            }
            return subscription
        }

        /// The newest transaction of a subscription.
        func latestTransaction(of originalID: String) throws(Refusal) -> Transaction {
            try transaction(try subscription(originalID).latestTransactionID)
        }

        /// The transactions that represent the running period, the first one first.
        ///
        /// What restoring made of them is left out.
        func period(of subscription: Subscription) -> [Transaction] {
            guard let latest = transactions[subscription.latestTransactionID] else { return [] }
            guard latest.additionalReason != nil else { return [latest] }
            let all = transactionsOf(subscription.customer).filter {
                $0.originalID == latest.originalID && $0.expiresDate == latest.expiresDate
                    && $0.productID == latest.productID && $0.additionalReason != nil
            }
            var seen: Set<Int64> = []
            return all.filter { seen.insert($0.purchaseDate).inserted }
        }

        /// In the order of their first sending.
        var notificationsInOrder: [Notification] {
            notificationOrder.compactMap { notifications[$0] }
        }

        /// In the order of purchase.
        func transactionsOf(_ customer: String) -> [Transaction] {
            customers[customer]?.transactionIDs.compactMap { transactions[$0] } ?? []
        }

        /// The shares of a subscription in the buyer's family, also beside members' own purchases.
        ///
        /// A member can have more than one status in a group, one of them by Family Sharing:
        /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/status-swift.property
        func shares(of originalID: String) -> [Subscription] {
            guard let source = subscriptions[originalID],
                let family = customers[source.customer]?.family
            else { return [] }
            return customers.values.filter { $0.family == family }.map(\.id).sorted()
                .flatMap { subscriptions(of: $0, in: source.group) }
                .filter { $0.sharedFrom == originalID }
        }

        /// All that a customer has of a group, bought, shared or assigned, the newest first.
        func subscriptions(of customer: String, in group: String) -> [Subscription] {
            var seen: Set<String> = []
            return transactionsOf(customer).reversed()
                .filter { $0.subscriptionGroup == group && seen.insert($0.originalID).inserted }
                .compactMap { subscriptions[$0.originalID] }
        }

        // MARK: - Telling

        mutating func announce(
            _ type: String,
            _ subtype: String? = nil,
            transaction: String? = nil,
            subscription: String? = nil,
            consumptionRequestReason: String? = nil
        ) {
            let subject = subscription.flatMap { subscriptions[$0] }
            let named = transaction ?? subject?.latestTransactionID
            announcements.append(
                Announcement(
                    type: type,
                    subtype: subtype,
                    transaction: named.flatMap { transactions[$0] },
                    subscription: subject,
                    consumptionRequestReason: consumptionRequestReason
                )
            )
        }

        /// Announces something about a transaction to which nothing happened.
        mutating func announce(
            _ type: String,
            _ subtype: String?,
            about id: String
        ) throws(Refusal) {
            let subscription = subscriptions[try transaction(id).originalID]
            announce(
                type,
                subtype,
                transaction: id,
                subscription: subscription?.originalTransactionID
            )
        }

        /// Announces a TEST; returns its token.
        mutating func announceTest(at now: Int64) throws(Refusal) -> String {
            guard notificationURL != nil else {
                throw .notPossible("No notification URL is configured.")
            }
            let token = "\(random.uuid())_\(now)"
            var announcement = Announcement(type: "TEST")
            announcement.testToken = token
            announcements.append(announcement)
            return token
        }
    }
}

// Short names of the store's values, for the types beside the world.
typealias World = SimulatedAppStore.World
typealias Customer = SimulatedAppStore.Customer
typealias Product = SimulatedAppStore.Product
typealias Offer = SimulatedAppStore.Offer
typealias Commitment = SimulatedAppStore.Commitment
typealias Transaction = SimulatedAppStore.Transaction
typealias Subscription = SimulatedAppStore.Subscription
typealias Refusal = SimulatedAppStore.Refusal
