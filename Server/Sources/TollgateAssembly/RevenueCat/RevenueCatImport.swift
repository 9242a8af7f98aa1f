internal import AppStoreAPI
internal import AppStoreConnector
internal import Foundation
internal import GooglePlayConnector
internal import Storage
public import Stores
internal import StripeConnector
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Brings in the customers of RevenueCat by its export of transactions.
///
/// The export says who bought what, and where. What it is worth, the stores are asked: nobody has access
/// here by what an export says, but for grants, which are RevenueCat's own and made only if asked for.
/// An import that was broken off goes on where it was; a finished one can be repeated.
public struct RevenueCatImport: Sendable {
    public struct Options: Hashable, Sendable {
        /// The column with the app's user id; `nil`: the last seen alias, and where RevenueCat made that
        /// up, the original id.
        public var userColumn: String?
        /// Whether users without an id of the app's own come in under the id that RevenueCat made up.
        public var includesAnonymous = false
        /// Whether transactions of the sandbox come in.
        public var includesSandbox = false
        /// Whether grants of RevenueCat's become grants here.
        public var makesGrants = false
        /// Stores whose rows are left out, by RevenueCat's word for each.
        public var without: Set<String> = []

        public init() {}

        /// Tells imports of one file apart whose purchases differ.
        fileprivate var name: String {
            [
                userColumn ?? "", "\(includesAnonymous)", "\(includesSandbox)", "\(makesGrants)",
                without.sorted().joined(separator: ","),
            ].joined(separator: "/")
        }
    }

    /// What became of one purchase.
    enum Outcome: Sendable {
        /// Its store showed it. One answer may show others of the customer's too.
        case brought(isNew: Bool, alsoShown: Set<String>)
        /// Stripe's customer has their name.
        case named
        case granted(keys: [String], until: Instant?)
        case consumable
        case ended
        case unsupported
        case unmatched(String)
        /// The App Store failed over this customer.
        case failed(AppStore.ServerAPIError)
    }

    private struct Place: Codable {
        var done = 0
        var work = Report()
    }

    let tollgate: Tollgate
    let options: Options
    let appStore: ReceiptImport
    let googlePlay: PurchaseImport
    let stripe: StripeImporting
    private let name: String

    /// - Parameters:
    ///   - file: names the file across runs: a hash of its content, say.
    ///   - perMinute: reads of each kind in a minute that Google Play is asked for, at most.
    init(_ tollgate: Tollgate, file: String, options: Options, perMinute: Int64) {
        @Sendable func register(_ request: API.CreateCustomerRequest) async throws -> API.Customer {
            try await Self.register(request, tollgate)
        }
        self.tollgate = tollgate
        self.options = options
        name = "import/revenuecat/\(file)/\(options.name)"
        appStore = ReceiptImport(tollgate.appStore.receipts, file: file, register: register)
        googlePlay = tollgate.googlePlay.purchaseImport(
            file: file,
            perMinute: perMinute,
            register: register
        )
        stripe = StripeImporting(tollgate.stripe, register: register)
    }

    /// Makes a customer known, or finds them.
    ///
    /// RevenueCat's SDK gives the App Store the app's user id as account token where it is a UUID
    /// (https://www.revenuecat.com/docs/platform-resources/server-notifications/apple-server-notifications).
    /// With the same token here, purchases of apps that are not updated yet find their customer.
    static func register(
        _ request: API.CreateCustomerRequest,
        _ tollgate: Tollgate
    ) async throws -> API.Customer {
        guard UUID(uuidString: request.appUserID) != nil else {
            return try await tollgate.customers.create(request).customer
        }
        return try await tollgate.customers.create(request, preferring: request.appUserID)
    }

    /// How many purchases are asked about at once.
    private static let width = 8
    /// After so many failures in a row the App Store fails over everybody.
    private static let mostFailures = 8

    /// Imports, or goes on importing; then compares.
    ///
    /// - Parameter next: the next line of the file without its end, `nil` after the last one.
    /// - Returns: `nil` if another process is importing this file.
    /// - Throws: `UnreadableExport`, or what broke it off: another run goes on from there.
    public func run(
        next: () throws -> [UInt8]?,
        progress: @escaping WorkProgress.Report = { _ in }
    ) async throws -> Report? {
        let context = tollgate.context
        let now = await context.clocks.now()
        let plan = try RevenueCatPlan(options, at: now, next: next) {
            progress(WorkProgress(step: "rows", done: $0))
        }
        try requireStores(of: plan)
        return try await context.leases.holding(name) { prolong in
            let work = try await bringIn(plan, prolong, progress)
            var report = plan.report
            report.add(work)
            report.lacksCoinsSince = lacksCoinsSince
            for difference in try await differences(in: plan.purchases, prolong, progress) {
                report.add(difference)
            }
            try await context.records.cursors.drop(name)
            return report
        }
    }

    /// Whether products of the catalog have coins, and nothing says since when they are credited here.
    public var lacksCoinsSince: Bool {
        let history = tollgate.context.records.history
        return history.coinsSince == nil && history.current.products.contains { $0.coins > 0 }
    }

    /// - Throws: a refusal 503 that names a store that is in the export and not set up.
    private func requireStores(of plan: RevenueCatPlan) throws {
        func refusal(_ name: String, _ settings: String, _ word: String) -> Refusal {
            Refusal(
                503,
                .storeUnavailable,
                "The export has purchases of \(name), which is not set up: set \(settings), or leave them out with --without \(word)."
            )
        }
        let stores = Set(plan.purchases.map(\.store))
        if stores.contains(.appStore), tollgate.appStore.environments.isEmpty {
            throw refusal(
                "the App Store",
                "TOLLGATE_APP_STORE_BUNDLE_ID, …_ISSUER_ID, …_KEY_ID and …_KEY_FILE",
                "app_store"
            )
        }
        if stores.contains(.playStore), !tollgate.googlePlay.isSetUp {
            throw refusal(
                "Google Play",
                "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME and …_SERVICE_ACCOUNT_FILE",
                "play_store"
            )
        }
        if stores.contains(.stripe), (try? tollgate.stripe.reads.configured()) == nil {
            throw refusal("Stripe", "TOLLGATE_STRIPE_SECRET_KEY", "stripe")
        }
    }

    /// After so many purchases the place is kept: what comes after it is only read again.
    private static let keepsAfter = 200

    private func bringIn(
        _ plan: RevenueCatPlan,
        _ prolong: () async throws -> Void,
        _ progress: WorkProgress.Report
    ) async throws -> Report {
        let cursors = tollgate.context.records.cursors
        var place = try await cursors.value(name, as: Place.self) ?? Place()
        var kept = place.done
        do {
            var shown: Set<Shown> = []
            var failures = 0
            while place.done < plan.purchases.count {
                try await takeBatch(of: plan, &place, &shown, &failures)
                if place.done - kept >= Self.keepsAfter {
                    try await cursors.keep(name, value: place, now: tollgate.context.clocks.wall())
                    kept = place.done
                }
                try await prolong()
                progress(
                    WorkProgress(step: "purchases", done: place.done, of: plan.purchases.count)
                )
            }
        } catch let error where !(error is LeaseLost) {
            // Another run goes on from here; it is only slower where this fails too.
            try? await cursors.keep(name, value: place, now: tollgate.context.clocks.wall())
            throw error
        }
        try await cursors.keep(name, value: place, now: tollgate.context.clocks.wall())
        return place.work
    }

    /// Brings in the next purchases, and moves the place behind them.
    private func takeBatch(
        of plan: RevenueCatPlan,
        _ place: inout Place,
        _ shown: inout Set<Shown>,
        _ failures: inout Int
    ) async throws {
        let batch = plan.purchases[place.done...].prefix(Self.width)
        let outcomes = try await outcomes(of: batch, plan, shown)
        var next = place
        for (row, outcome) in zip(batch, outcomes) {
            next.work.add(outcome, of: row)
            if case .brought(_, let also) = outcome {
                for id in also { shown.insert(Shown(row, id)) }
            }
            guard case .appStore = row.store else { continue }
            guard case .failed(let error) = outcome else {
                failures = 0
                continue
            }
            failures += 1
            if failures == Self.mostFailures { throw error }
        }
        next.done += batch.count
        place = next
    }

    /// A purchase that an answer about another one of the same customer has shown.
    private struct Shown: Hashable {
        var user: String?
        var environment: StoreEnvironment
        var id: String

        init(_ row: RevenueCatRow, _ id: String) {
            (user, environment, self.id) = (row.user, row.environment, id)
        }
    }

    /// Several purchases at once; the results in their order.
    private func outcomes(
        of batch: ArraySlice<RevenueCatRow>,
        _ plan: RevenueCatPlan,
        _ shown: Set<Shown>
    ) async throws -> [Outcome] {
        try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            for (number, row) in batch.enumerated() {
                if case .appStore = row.store, shown.contains(Shown(row, row.original)) {
                    group.addTask { (number, .brought(isNew: false, alsoShown: [])) }
                } else {
                    group.addTask { (number, try await outcome(of: row, plan)) }
                }
            }
            var outcomes: [(Int, Outcome)] = []
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

extension RevenueCatImport.Report {
    fileprivate mutating func add(_ outcome: RevenueCatImport.Outcome, of row: RevenueCatRow) {
        func add(_ reason: String) {
            self.add(UnmatchedLine(line: row.line, reason: reason))
        }
        switch outcome {
        case .brought(let isNew, _):
            purchases += 1
            if isNew { new += 1 }
        case .named: named += 1
        case .granted(let keys, let until):
            grants += 1
            let end = until?.milliseconds
            self.add(
                RevenueCatImport.Granted(
                    line: row.line,
                    appUserID: row.user ?? "",
                    keys: keys,
                    until: end
                )
            )
        case .consumable: consumables += 1
        case .ended: ended += 1
        case .unsupported: unsupported[row.store.word, default: 0] += 1
        case .unmatched(let reason): add(reason)
        case .failed(let error): add("\(error); run the import again later")
        }
    }
}
