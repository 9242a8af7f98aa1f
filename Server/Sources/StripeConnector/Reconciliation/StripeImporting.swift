internal import Foundation
internal import Logging
internal import Storage
public import Stores
internal import StripeAPI
public import TollgateAPI
internal import TollgateCore

/// What `tollgate import stripe` has brought in.
public struct StripeImport: Codable, Hashable, Sendable {
    /// Stripe's customers, and how many of them were given a customer here.
    public var customers = SweepCount()
    /// Stripe's customers who are nobody's here: their purchases wait under Stripe's id.
    public var strangers = 0
    /// Subscriptions, invoices, checkouts, refunds and disputes.
    public var objects = SweepCount()
}

/// How far an import has come, as it is kept.
private struct ImportCursor: Codable {
    var hasCustomers = false
    var stage: StripeSweepStage? = .subscriptions
    var after: String?
    var found = StripeImport()
}

/// Brings in an account of Stripe's that was there before this server.
public struct StripeImporting: Sendable {
    let context: StoreContext
    let stripe: StripeConnector
    private let register: @Sendable (API.CreateCustomerRequest) async throws -> API.Customer

    /// - Parameter register: makes a customer known, or finds them.
    public init(
        _ stripe: StripeConnector,
        register: @escaping @Sendable (API.CreateCustomerRequest) async throws -> API.Customer
    ) {
        context = stripe.context
        self.stripe = stripe
        self.register = register
    }

    /// Brings in an existing account: its customers under their names in the app, then every
    /// subscription, invoice, checkout, refund and dispute.
    ///
    /// Interrupted, it goes on where it was; done again, it changes nothing.
    ///
    /// - Parameters:
    ///   - metadataKey: where the app's user id stands in the metadata of Stripe's customers.
    ///   - priceKey: where the metadata of a payment that went through no checkout and no invoice name
    ///     what it paid for: a price, or a product of the catalog; `:` and a quantity may follow.
    ///   - users: the app's user ids by Stripe's customer ids, for those without such metadata.
    ///   - report: told after every piece.
    /// - Returns: what was brought in; `nil` if another server is doing it right now.
    public func run(
        metadataKey: String = "app_user_id",
        priceKey: String? = nil,
        users: [String: String] = [:],
        report: WorkProgress.Report = { _ in }
    ) async throws -> StripeImport? {
        _ = try stripe.reads.configured()
        return try await context.leases.holding("import/stripe") { prolong in
            var cursor = try await importCursor()
            if !cursor.hasCustomers {
                try await importCustomers(&cursor, metadataKey, users) { cursor in
                    report(WorkProgress(step: "customers", done: cursor.found.customers.seen))
                    guard cursor.found.customers.seen.isMultiple(of: 50) else { return }
                    try await keep(cursor)
                    try await prolong()
                }
                cursor.hasCustomers = true
                cursor.after = nil
                try await keep(cursor)
            }
            while let stage = cursor.stage {
                try await stripe.sweep(
                    stage,
                    after: cursor.after,
                    selling: { lines(soldBy: $0, priceKey: priceKey) }
                ) { id, isNews in
                    cursor.found.objects.count(isNews)
                    cursor.after = id
                    report(WorkProgress(step: stage.words, done: cursor.found.objects.seen))
                    if cursor.found.objects.seen.isMultiple(of: 50) {
                        try await keep(cursor)
                        try await prolong()
                    }
                }
                let all = StripeSweepStage.allCases
                let next = (all.firstIndex(of: stage) ?? all.count) + 1
                cursor.stage = next < all.count ? all[next] : nil
                cursor.after = nil
                try await keep(cursor)
                try await prolong()
            }
            // Stripe has just answered all the rest.
            await stripe.askAll()
            try await context.records.cursors.drop(Self.importName)
            return cursor.found
        }
    }

    /// What a payment paid for, by the words of whoever took it: products of the catalog become the
    /// prices that they have at Stripe.
    private func lines(
        soldBy intent: Stripe.PaymentIntent,
        priceKey: String?
    ) -> [StripePayment.Line]? {
        let words =
            intent.metadata[StripeTranslator.linesKey] ?? priceKey.flatMap { intent.metadata[$0] }
        let catalog = context.records.history.current
        return words.flatMap(StripePayment.soldLines)?.map { line in
            guard let price = catalog.product(id: line.price)?.stripePriceIDs.first else {
                return line
            }
            return StripePayment.Line(price: price, quantity: line.quantity)
        }
    }

    private func importCustomers(
        _ cursor: inout ImportCursor,
        _ metadataKey: String,
        _ users: [String: String],
        _ each: (ImportCursor) async throws -> Void
    ) async throws {
        let client = try stripe.reads.configured()
        for try await customer in client.lists.customers(after: cursor.after) {
            switch try await adopt(customer, metadataKey, users) {
            case .named(let isNew): cursor.found.customers.count(isNew)
            case .unnamed:
                cursor.found.customers.count(false)
                cursor.found.strangers += 1
            case .refused(let refusal):
                cursor.found.customers.count(false)
                cursor.found.strangers += 1
                context.logger.warning(
                    "a customer of Stripe's could not be given the name it has there",
                    metadata: ["customer": "\(customer.id)", "reason": "\(refusal.error.message)"]
                )
            }
            cursor.after = customer.id
            try await each(cursor)
        }
    }

    /// What became of one object of Stripe's whose buyer was named.
    public enum Named: Hashable, Sendable {
        /// The subscription is in the record, of its owner.
        case read(isNew: Bool)
        /// The customer has their name; what they paid once comes in with `run`.
        case customer(isNew: Bool)
        /// The reason for which it led to nothing.
        case unmatched(String)
    }

    /// Names the buyer of one object, and reads it if it is a subscription.
    ///
    /// - Parameters:
    ///   - id: a subscription's (`sub_…`), an invoice's, a checkout's, a payment's or a customer's.
    ///   - user: the app's user id of the buyer. It takes nothing from anybody.
    /// - Throws: what breaks an import off: no answer of Stripe's, or no database.
    public func name(buyerOf id: String, _ user: String) async throws -> Named {
        let client = try stripe.reads.configured()
        do {
            var subscription: Stripe.Answer<Stripe.Subscription>?
            let buyer: String?
            switch id.prefix(while: { $0 != "_" }) {
            case "sub":
                subscription = try await client.subscription(id)
                buyer = subscription?.value.customer.id
            case "in": buyer = try await client.invoice(id).value.customer?.id
            case "cs": buyer = try await client.checkoutSession(id).value.customer?.id
            case "pi": buyer = try await client.paymentIntent(id).value.customer?.id
            case "cus": buyer = id
            default:
                return .unmatched(
                    "‘\(id.prefix(40))’ leads to no customer of Stripe's; name the customer in the file of ‘tollgate import stripe --users’"
                )
            }
            guard let buyer else {
                return .unmatched(
                    "Stripe has no customer for ‘\(id.prefix(40))’, which a guest paid; grant what it unlocks in the dashboard"
                )
            }
            let isNew: Bool
            switch try await adopt(client.customer(buyer).value, "", [buyer: user]) {
            case .named(let new) where try await isOwned(buyer, by: user): isNew = new
            case .named, .unnamed:
                return .unmatched(
                    "Stripe's customer \(buyer) cannot be \(user) here: it is another customer's; see them in the dashboard"
                )
            case .refused(let refusal):
                return .unmatched(
                    "Stripe's customer \(buyer) cannot be \(user) here: \(refusal.error.message)"
                )
            }
            guard let subscription else { return .customer(isNew: isNew) }
            let instant = try await stripe.reads.instantOfRead(
                subscription.date,
                testClock: subscription.value.testClock?.id
            )
            return .read(isNew: try await stripe.reads.record(subscription.value, at: instant))
        } catch let error as Stripe.RequestError {
            guard case .refused(let refused) = error else { throw error }
            return .unmatched(try Self.reason(refused, of: id))
        }
    }

    /// The reason for which an object led to nothing.
    ///
    /// - Throws: Stripe's error where it concerns more than this object.
    private static func reason(_ error: Stripe.APIError, of id: String) throws -> String {
        switch error.status {
        case 404:
            return
                "Stripe knows no ‘\(id.prefix(40))’ in this account and mode; compare TOLLGATE_STRIPE_SECRET_KEY"
        case 400: return "Stripe refuses ‘\(id.prefix(40))’: \(error)"
        case 403:
            let said = error.message ?? "no message"
            throw Refusal(
                503,
                .storeUnavailable,
                "Stripe forbids this key to read ‘\(id.prefix(40))’: \(said) Give the restricted key this permission in Stripe's dashboard, or leave Stripe's purchases out with --without stripe."
            )
        default: throw Stripe.RequestError.refused(error)
        }
    }

    /// Whether one of Stripe's customers is a user here.
    private func isOwned(_ buyer: String, by user: String) async throws -> Bool {
        guard let stored = try await context.records.profile(alias: .stripeCustomer(buyer)),
            !stored.body.isEmpty
        else { return false }
        return try Profile(stored).customer.appUserID == user
    }

    /// What became of one of Stripe's customers.
    private enum Adopted {
        case named(isNew: Bool)
        /// Nobody says who it is.
        case unnamed
        /// The name cannot be one here.
        case refused(Refusal)
    }

    /// Gives one of Stripe's customers their name here.
    private func adopt(
        _ customer: Stripe.Customer,
        _ metadataKey: String,
        _ users: [String: String]
    ) async throws -> Adopted {
        if try await context.records.profile(alias: .stripeCustomer(customer.id)) != nil {
            return .named(isNew: false)
        }
        if try await stripe.customers.relink(customer) { return .named(isNew: true) }
        let id: String
        guard let user = users[customer.id] ?? customer.metadata[metadataKey] else {
            return .unnamed
        }
        do {
            id = try await register(
                API.CreateCustomerRequest(
                    appUserID: user,
                    email: customer.email.flatMap { Profile.isEmail($0) ? $0 : nil }
                )
            ).id
        } catch let refusal as Refusal where refusal.status < 500 {
            return .refused(refusal)
        }
        try await stripe.customers.link(
            try await context.profile(of: Customer.ID(id)),
            to: customer.id
        )
        return .named(isNew: true)
    }

    private static let importName = "import/stripe"

    private func importCursor() async throws -> ImportCursor {
        try await context.records.cursors.value(Self.importName) ?? ImportCursor()
    }

    private func keep(_ cursor: ImportCursor) async throws {
        try await context.records.cursors
            .keep(Self.importName, value: cursor, now: context.clocks.wall())
    }
}
