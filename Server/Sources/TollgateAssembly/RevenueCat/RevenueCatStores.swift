internal import AppStoreAPI
internal import AppStoreConnector
internal import Foundation
internal import GooglePlayConnector
internal import Storage
internal import Stores
internal import StripeConnector
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Asks each purchase's store about it.
struct RevenueCatStores: Sendable {
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

    private let tollgate: Tollgate
    private let appStore: ReceiptImport
    private let googlePlay: PurchaseImport
    private let stripe: StripeImporting
    private let grants: RevenueCatGrants

    init(_ tollgate: Tollgate, file: String, makesGrants: Bool, perMinute: Int64) {
        /// Makes a customer known, or finds them.
        ///
        /// RevenueCat's SDK gives the App Store the app's user id as account token where it is a UUID
        /// (https://www.revenuecat.com/docs/platform-resources/server-notifications/apple-server-notifications).
        /// With the same token here, purchases of apps that are not updated yet find their customer.
        @Sendable func register(_ request: API.CreateCustomerRequest) async throws -> API.Customer {
            guard UUID(uuidString: request.appUserID) != nil else {
                return try await tollgate.customers.create(request).customer
            }
            return try await tollgate.customers.create(request, preferring: request.appUserID)
        }
        self.tollgate = tollgate
        appStore = ReceiptImport(tollgate.appStore.receipts, file: file, register: register)
        googlePlay = tollgate.googlePlay.purchaseImport(
            file: file,
            perMinute: perMinute,
            register: register
        )
        stripe = StripeImporting(tollgate.stripe, register: register)
        grants = RevenueCatGrants(tollgate: tollgate, isAskedFor: makesGrants, register: register)
    }

    /// - Throws: a refusal 503 that names a store that is in the export and not set up.
    func require(_ stores: Set<RevenueCatStore>) throws {
        for store in stores.sorted(by: { $0.word < $1.word }) {
            let (name, settings): (String, String)
            switch store {
            case .appStore where tollgate.appStore.environments.isEmpty:
                name = "the App Store"
                settings = "TOLLGATE_APP_STORE_BUNDLE_ID, …_ISSUER_ID, …_KEY_ID and …_KEY_FILE"
            case .playStore where !tollgate.googlePlay.isSetUp:
                name = "Google Play"
                settings = "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME and …_SERVICE_ACCOUNT_FILE"
            case .stripe where (try? tollgate.stripe.reads.configured()) == nil:
                (name, settings) = ("Stripe", "TOLLGATE_STRIPE_SECRET_KEY")
            case .appStore, .playStore, .stripe, .promotional, .other: continue
            }
            throw Refusal(
                503,
                .storeUnavailable,
                "The export has purchases of \(name), which is not set up: set \(settings), or leave them out with --without \(store.word)."
            )
        }
    }

    /// Asks the store of one purchase about it.
    ///
    /// - Throws: what breaks the import off: something is out of order here or at a store.
    func outcome(of row: RevenueCatRow, _ plan: RevenueCatPlan) async throws -> Outcome {
        guard let user = row.user else { return .unmatched("it names no user") }
        let catalog = tollgate.context.records.history.current
        // Unfinished ones were sold by apps that still finish them: their coins are credited there.
        if row.product(in: catalog)?.kind == .consumable { return .consumable }
        let request = API.CreateCustomerRequest(appUserID: user)
        switch row.store {
        case .appStore: return try await read(appStore: row, of: request, plan)
        case .playStore: return try await read(googlePlay: row, of: request)
        case .stripe: return try await read(stripe: row, of: user)
        case .promotional: return try await grants.give(row, to: request)
        case .other: return .unsupported
        }
    }

    private func read(
        appStore row: RevenueCatRow,
        of request: API.CreateCustomerRequest,
        _ plan: RevenueCatPlan
    ) async throws -> Outcome {
        // One Apple account may have several users of the app: each gets what the export says is theirs.
        let outcome = try await appStore.take(
            transaction: row.original,
            of: request,
            in: row.environment,
            requiring: row.original
        ) { original, environment in
            !plan.isOthers(original, in: environment, than: row)
        }
        switch outcome {
        case .found(let purchases, let new):
            return .brought(isNew: new > 0, alsoShown: purchases)
        case .nothingLasts: return .consumable
        case .unmatched(let reason): return .unmatched(reason)
        case .failed(let error): return .failed(error)
        }
    }

    private func read(
        googlePlay row: RevenueCatRow,
        of request: API.CreateCustomerRequest
    ) async throws -> Outcome {
        switch try await googlePlay.take(order: row.transaction, of: request) {
        case .read(let isNew): return .brought(isNew: isNew, alsoShown: [])
        case .consumed: return .consumable
        case .notShown(let reason):
            // Google shows a subscription for 60 days after its end, and no refunded purchase.
            let now = await tollgate.context.clocks.now()
            let isOver = row.isRefunded || row.isInvalid
            let hasEnded = row.ends.map { $0.advanced(by: 60 * 86_400_000) < now } ?? false
            return isOver || hasEnded ? .ended : .unmatched(reason)
        case .unmatched(let reason): return .unmatched(reason)
        }
    }

    /// Names the buyer at Stripe.
    ///
    /// `store_transaction_id` is the same for every period of a subscription there, and `renewal_number`
    /// tells them apart (https://www.revenuecat.com/docs/integrations/scheduled-data-exports), so it is
    /// the subscription's. Which forms there are beside `sub_…` no page says.
    private func read(stripe row: RevenueCatRow, of user: String) async throws -> Outcome {
        let ids = [row.original, row.transaction]
        let id = ids.first { $0.hasPrefix("sub_") } ?? row.transaction
        switch try await stripe.name(buyerOf: id, user) {
        case .read(let isNew): return .brought(isNew: isNew, alsoShown: [])
        case .customer: return .named
        case .unmatched(let reason): return .unmatched(reason)
        }
    }
}
