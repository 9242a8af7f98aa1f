internal import Foundation
internal import GooglePlayAPI
public import Reports
public import Storage
public import Stores
public import TollgateAPI
public import TollgateCore

/// Google Play's room: hints come in, purchases are read, and what has a deadline is done in time.
public final class GooglePlayConnector: StoreConnector {
    public let store = Store.googlePlay
    public let name = "Google Play"
    public let inShop = "in Google Play"
    public static let webhook = StoreWebhook(
        .googlePlayWebhook,
        limit: 64 << 10,
        signature: "Authorization"
    )
    public var webhook: StoreWebhook { Self.webhook }
    public let reconciling = WorkRhythm(
        after: .seconds(3),
        every: .seconds(60),
        afterFailure: .seconds(120)
    )
    public let rows: any StoreRows = GooglePlayRows()
    public let standings: any StoreStandings = GooglePlayStandings()
    public let books: any StoreBooks
    public let managementURL: String? = "https://play.google.com/store/account/subscriptions"
    public let context: StoreContext
    public let setUp: GooglePlaySetUp
    /// Purchases that devices present.
    public let devices: DevicePurchases
    let messages: GooglePlayMessages
    let reads: GooglePlayReads
    let voids: VoidedList
    let acts: GooglePlayActs
    let reviews: RefundReviews
    let reconciliation: GooglePlayReconciliation
    let questions: GooglePlayQuestions
    private let pulling: HintPulling?

    public init(_ context: StoreContext, _ setUp: GooglePlaySetUp) {
        self.context = context
        self.setUp = setUp
        messages = GooglePlayMessages(setUp: setUp)
        reads = GooglePlayReads(context, setUp, PlayQuotas(setUp.quotas))
        voids = VoidedList(reads)
        acts = GooglePlayActs(reads)
        reviews = RefundReviews(reads)
        reconciliation = GooglePlayReconciliation(reads, voids)
        questions = GooglePlayQuestions(reads, voids)
        devices = DevicePurchases(reads)
        books = GooglePlayBooks(context, setUp)
        pulling = setUp.pulls.map { [messages] client in
            HintPulling(context, client) { message in
                let translation = messages.translate(message, at: await context.clocks.now())
                return try await context.journal(translation, of: .googlePlay)
            }
        }
    }

    public var isSetUp: Bool { !setUp.apps.isEmpty }

    /// The packages of the apps, the first one first.
    public var applications: [String] { setUp.apps.map(\.packageName) }

    public func messageKeys(named id: String) -> [RowKey] {
        applications.map { RowKey("play message", $0, "message:\(id)") }
    }

    /// Judges the token of a push.
    public func check(_ message: ReceivedMessage) async throws {
        guard case .delivered(let authorization) = message.way else { return }
        guard let tokens = setUp.pushTokens else { throw PushFault.notSetUp }
        switch await tokens.verdict(onAuthorization: authorization) {
        case .genuine: return
        case .refused(let refusal): throw PushFault.token(refusal)
        case .noKeys: throw PushFault.noKeys
        }
    }

    public func translate(_ message: ReceivedMessage, at now: Instant) throws -> Translation {
        messages.translate(message, at: now)
    }

    public func receive(_ message: ReceivedMessage) async throws -> MessageOutcome {
        try await verifyAndJournal(message)
    }

    public var listening: WorkRhythm? {
        pulling == nil ? nil : WorkRhythm(every: .milliseconds(500), afterFailure: .seconds(1))
    }

    public func listen() async -> Bool { await pulling?.pull() ?? true }

    /// Acts come first: they have deadlines.
    public func askWhatIsWanted() async -> Bool {
        guard isSetUp else { return true }
        let isDone = await acts.perform()
        let isReviewed = await reviews.answer()
        let isAnswered = await questions.ask()
        // What was read just now may have to be acknowledged.
        let isDoneNow = await acts.perform()
        return isDone && isReviewed && isAnswered && isDoneNow
    }

    public func gauges() async throws -> [StoreGauge] {
        guard isSetUp else { return [] }
        guard setUp.bucket != nil else { return try await acts.gauges() }
        let unreadable = try await ReportBucket.Seen.kept(in: context.records).objects.values.count
        {
            $0.problem != nil
        }
        return try await acts.gauges() + [
            StoreGauge(
                "tollgate_store_reports_unreadable",
                "store=\"\(store.rawValue)\"",
                Int64(unreadable)
            )
        ]
    }

    public func deadlines() async throws -> [StoreDeadline] {
        isSetUp ? try await acts.deadlines() : []
    }

    /// The known purchases of an order, as Google is asked; none where it cannot be asked now.
    ///
    /// - Parameter id: `GPA.…`, as the buyer's receipt shows it.
    public func purchases(ofOrder id: String) async -> [Purchase.Key] {
        guard PurchaseImportLine.isOrder(id) else { return [] }
        var keys: [Purchase.Key] = []
        for app in setUp.apps {
            // Whoever searches leaves most of the quota to hints.
            let order = try? await reads.call(.orders, app, leaving: 50) {
                try await $0.order(id)
            }
            guard let token = order?.value.purchaseToken,
                let known = try? await reads.record(ofToken: token, of: app.packageName)
            else { continue }
            keys.append(known.key)
        }
        return keys
    }

    /// Brings in purchases by a file of their tokens or order ids.
    ///
    /// - Parameters:
    ///   - file: names the file across runs: a hash of its content, say.
    ///   - perMinute: reads of each kind in a minute, at most; a server beside it has its own quota.
    ///   - register: makes a customer known, or finds them.
    public func purchaseImport(
        file: String,
        perMinute: Int64,
        register: @escaping @Sendable (API.CreateCustomerRequest) async throws -> API.Customer
    ) -> PurchaseImport {
        var limits = setUp.quotas
        for bucket in PlayQuotas.Bucket.allCases {
            limits.perMinute[bucket] = min(limits.perMinute[bucket] ?? perMinute, perMinute)
        }
        return PurchaseImport(
            GooglePlayReads(context, setUp, PlayQuotas(limits)).waiting {
                try await Task.sleep(for: .milliseconds(200))
            },
            file: file,
            register: register
        )
    }

    /// The page of one subscription.
    ///
    /// https://developer.android.com/google/play/billing/subscriptions#deep-links-manage-subs
    public func managementURL(of purchase: Purchase) -> String? {
        guard let product = purchase.googlePlay?.subscription?.value.items.first?.product,
            var page = managementURL.flatMap(URLComponents.init(string:))
        else { return managementURL }
        page.queryItems = [
            URLQueryItem(name: "sku", value: product),
            URLQueryItem(name: "package", value: purchase.key.application),
        ]
        return page.string
    }

    /// The page of the Play Console on which a product is set up.
    ///
    /// Google's help leads there by this address, and the console asks for the app. No address of an
    /// order is documented: staff copy its id into the search of *Order management*.
    /// https://support.google.com/googleplay/android-developer/answer/2741495
    public func consoleURL(of object: StoreObject, in environment: StoreEnvironment) -> String? {
        switch object {
        case .products(let purchase):
            let page =
                purchase.googlePlay?.subscription == nil
                ? "managed-products" : "subscriptions/setup"
            return "https://play.google.com/console/developers/app/\(page)"
        case .purchase, .customer: return nil
        }
    }
}
