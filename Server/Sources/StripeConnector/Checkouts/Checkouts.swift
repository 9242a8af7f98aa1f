internal import Storage
internal import Stores
internal import StripeAPI
public import TollgateAPI
public import TollgateCore

/// Pages of Stripe Checkout, and what came of them.
public struct Checkouts: Sendable {
    let context: StoreContext
    let reads: StripeReads
    let publicURL: String
    let defaultEnvironment: StoreEnvironment
    /// How often a customer may show the secret of a checkout: each that is shown is kept.
    let claims = CallLimit(calls: 50, seconds: 86_400)

    /// A Checkout Session for one product of the catalog.
    ///
    /// - Parameters:
    ///   - customer: who buys; `nil` for a visitor, who can be told by `reference` later.
    ///   - app: the app to which the pages lead back, where there are several; `nil`: the first.
    public func create(
        _ request: API.CheckoutSessionRequest,
        customer: String?,
        reference: String? = nil,
        app: Catalog.App? = nil,
        idempotencyKey: String? = nil
    ) async throws -> API.CheckoutSession {
        let (product, quantity) = try product(of: request)
        guard let price = product.stripePriceIDs.first else {
            throw Refusal.invalid("product", "'\(product.id)' has no Stripe price in the catalog.")
        }
        let stripe = try reads.configured()
        if let storefront = request.storefront { try requireSale(in: storefront) }
        if customer == nil, let reference { try Self.requireVisitorReference(reference) }
        var buyer: Profile?
        if let customer {
            let id = try await context.directory.customer(customer, param: "customer").id
            try await context.requireNotActive(
                product,
                in: .stripe,
                for: Customer.ID(id),
                environment: defaultEnvironment
            )
            buyer = try await stripeCustomer(of: customer)
        }
        let (success, cancel) = try pages(for: request, of: app)
        let mode: Stripe.CheckoutSession.Mode =
            product.kind == .autoRenewable ? .subscription : .payment
        var session = Stripe.NewCheckoutSession(
            mode: mode,
            lines: [.init(price: price, quantity: quantity)],
            successURL: success,
            cancelURL: cancel,
            customer: buyer?.stripeCustomer,
            clientReferenceID: buyer?.customer.id ?? reference,
            metadata: [StripeTranslator.linesKey: "\(price):\(quantity)"],
            originContext: request.originContext == "mobile_app" ? "mobile_app" : nil
        )
        // A purchase needs somebody to belong to, even if nobody is signed in (RULES §8).
        session.createsCustomer = buyer == nil && mode == .payment
        // Visitors without a name must not share a key.
        let key = customer ?? reference == nil ? nil : idempotencyKey
        do {
            return try await open(session, at: stripe, idempotencyKey: key)
        } catch {
            guard let buyer, error.isMissing("customer") else { throw refusal(error) }
            session.customer = try await stripeCustomer(
                of: buyer.customer.id,
                replacing: session.customer
            ).stripeCustomer
        }
        do {
            return try await open(session, at: stripe, idempotencyKey: key)
        } catch {
            throw refusal(error)
        }
    }

    /// The pages to which Checkout leads back.
    private func pages(
        for request: API.CheckoutSessionRequest,
        of app: Catalog.App?
    ) throws -> (success: String, cancel: String) {
        let catalog = context.records.history.current
        let back = ReturnAddress(publicURL: publicURL)
        let success = try back.address(
            request.successURL,
            or: catalog.checkout.successPath,
            param: "success_url"
        )
        let cancel = try back.address(
            request.cancelURL,
            or: catalog.checkout.cancelPath,
            param: "cancel_url"
        )
        // Universal links of several apps tell them apart by this.
        let named = app.flatMap { $0.id == catalog.apps.first?.id ? nil : "app=\($0.id)" }
        return (
            success + "?session_id={CHECKOUT_SESSION_ID}" + (named.map { "&" + $0 } ?? ""),
            cancel + (named.map { "?" + $0 } ?? "")
        )
    }

    /// Opens a page of Checkout.
    ///
    /// Stripe keeps the first answer under the key, so a retry opens no second session.
    private func open(
        _ session: Stripe.NewCheckoutSession,
        at stripe: Stripe.Client,
        idempotencyKey: String?
    ) async throws(Stripe.RequestError) -> API.CheckoutSession {
        let made = try await stripe.createCheckoutSession(
            session,
            idempotencyKey: idempotencyKey.map {
                "tollgate-checkout-"
                    + RowKey(
                        "checkout",
                        session.customer ?? "",
                        session.clientReferenceID ?? "",
                        $0
                    ).hex
            } ?? context.random.id("tollgate-checkout-")
        )
        return API.CheckoutSession(
            id: made.value.id,
            url: made.value.url ?? "",
            expiresAt: made.value.expiresAt ?? 0
        )
    }

    private func refusal(_ error: Stripe.RequestError) -> Refusal {
        guard case .refused(let refused) = error, refused.type == "idempotency_error" else {
            return reads.unavailable(error)
        }
        return Refusal.idempotency(
            .idempotencyMismatch,
            "This Idempotency-Key was used for another checkout."
        )
    }

    private func product(
        of request: API.CheckoutSessionRequest
    ) throws -> (Catalog.Product, Int64) {
        let catalog = context.records.history.current
        if let id = request.buyButton {
            guard let button = catalog.buyButton(id: id),
                let product = catalog.product(id: button.product),
                !product.isRetired
            else { throw Refusal.missing("buy button", id, param: "buy_button") }
            return (product, Int64(button.quantity))
        }
        guard let id = request.product else {
            throw Refusal(
                400,
                .parameterMissing,
                "Name a product or a buy_button.",
                param: "product"
            )
        }
        guard let product = catalog.product(id: id), !product.isRetired else {
            throw Refusal.missing("product", id, param: "product")
        }
        let quantity = Int64(request.quantity ?? 1)
        guard (1...100).contains(quantity) else {
            throw Refusal.invalid("quantity", "quantity is between 1 and 100.")
        }
        return (product, quantity)
    }

    /// The customer with their Stripe customer, which is made and stored before any session.
    ///
    /// - Parameter lost: A Stripe customer that Stripe does not know, because it was deleted or
    ///   belongs to test mode while the key is live. A new one takes its place; purchases of the
    ///   lost one stay this customer's.
    func stripeCustomer(of id: String, replacing lost: String? = nil) async throws -> Profile {
        var profile = try await context.directory.profile(id)
        guard profile.stripeCustomer.map({ $0 == lost }) ?? true, let stripe = reads.client else {
            return profile
        }
        do {
            let made = try await stripe.createCustomer(
                email: profile.customer.email,
                metadata: ["tollgate_customer": profile.customer.id],
                // Stripe refuses a known key with another address. For a day it answers a known
                // key with the customer it made, even if that one is deleted.
                idempotencyKey: "tollgate-customer-"
                    + RowKey(profile.customer.id, profile.customer.email ?? "", lost ?? "").hex
            )
            profile.stripeCustomer = made.value.id
        } catch {
            throw reads.unavailable(error)
        }
        try await context.records.register(
            profile,
            dedupeKey: RowKey("stripe customer", profile.customer.id, context.random.id("")),
            at: await context.clocks.now()
        )
        return profile
    }

    /// - Throws: a refusal 403 `storefront_unsupported`.
    private func requireSale(in storefront: String) throws {
        let checkout = context.records.history.current.checkout
        guard checkout.storefronts.contains(storefront.uppercased()) else {
            throw Refusal.forbidden(
                "storefront_unsupported",
                "Checkout is not offered to customers of the storefront '\(storefront.prefix(8))'.",
                param: "storefront"
            )
        }
    }

    /// A visitor's reference is base64url(SHA-256(secret)), so that no visitor's purchase can be
    /// put down to a customer by their name.
    static func requireVisitorReference(_ reference: String) throws {
        guard Holder.isClaimReference(reference) else {
            throw Refusal.invalid(
                "client_reference_id",
                "client_reference_id is base64url(SHA-256(secret)): 43 letters, digits, - and _."
            )
        }
    }
}
