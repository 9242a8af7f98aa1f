internal import AppStoreAPI
internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// Signs offers for StoreKit.
public struct AppStoreOffers: Sendable {
    let context: StoreContext
    /// With which key; `nil` where none of App Store Connect is configured.
    let clients: AppStoreClients?

    /// Signs for StoreKit that a customer may redeem an offer.
    ///
    /// A promotional offer is signed if the catalog lists it; whether its conditions hold is for
    /// the App Store to say. The introductory offer is allowed to who never had one in the group.
    ///
    /// - Parameter app: the app that asks, where there are several; `nil`: the first.
    /// - Throws: refusals 404 `resource_missing` for a product or an offer that is not in the
    ///   catalog, 400 `parameter_missing`, 503 `store_unavailable` where no key is configured.
    public func sign(
        _ request: API.OfferSignatureRequest,
        for id: Customer.ID,
        of app: Catalog.App? = nil,
        in environment: StoreEnvironment
    ) async throws -> API.OfferSignature {
        let (asking, signer) = try configured(app?.bundleID)
        let (product, productID) = try context.records.history.current.appStoreProduct(
            request.product,
            of: app
        )
        let customer = try await context.profile(of: id).customer
        switch request.type {
        case .promotionalOffer:
            return try sign(request, product, productID, for: customer, with: signer)
        case .introductoryOfferEligibility:
            return try await signEligibility(
                request,
                product,
                productID,
                customer,
                in: environment,
                of: asking.bundleID,
                with: signer
            )
        }
    }

    private func sign(
        _ request: API.OfferSignatureRequest,
        _ product: Catalog.Product,
        _ productID: String,
        for customer: API.Customer,
        with signer: AppStore.OfferSigner
    ) throws -> API.OfferSignature {
        guard let offer = request.offer else {
            throw Refusal(400, .parameterMissing, "Missing required param: offer.", param: "offer")
        }
        guard product.promotionalOffers.contains(offer) else {
            throw Refusal.missing("promotional offer", offer, param: "offer")
        }
        let nonce = context.random.uuid()
        let wall = context.clocks.wall().milliseconds
        let signature = try signer.promotionalOffer(
            productID: productID,
            offerID: offer,
            applicationUsername: customer.appAccountToken,
            nonce: nonce,
            timestamp: wall
        )
        return API.OfferSignature(
            type: request.type,
            productID: productID,
            appAccountToken: customer.appAccountToken,
            promotionalOffer: .init(
                offerID: offer,
                keyID: signature.keyID,
                nonce: nonce.uuidString.lowercased(),
                signature: signature.signature,
                timestamp: wall
            ),
            // One nonce is one attempt to buy, so the two forms have one each.
            compactJWS: try signer.promotionalOfferJWS(
                productID: productID,
                offerID: offer,
                transactionID: request.transactionID,
                nonce: context.random.uuid(),
                issuedAt: wall / 1000
            )
        )
    }

    private func signEligibility(
        _ request: API.OfferSignatureRequest,
        _ product: Catalog.Product,
        _ productID: String,
        _ customer: API.Customer,
        in environment: StoreEnvironment,
        of application: String,
        with signer: AppStore.OfferSigner
    ) async throws -> API.OfferSignature {
        // Groups and transactions are an app's: another app's purchases say nothing here.
        let catalog = context.records.history.current
        let app = catalog.app(application: application, in: .appStore)?.id
        let group = Set(
            catalog.products
                .filter {
                    $0.id == product.id
                        || $0.subscriptionGroup != nil
                            && $0.subscriptionGroup == product.subscriptionGroup
                }
                .compactMap { $0.appStoreProductID(in: app) }
        )
        let bought = try await context.records.purchases(
            of: Customer.ID(customer.id),
            in: environment
        )
        .filter { $0.record.key.store == .appStore && $0.record.key.application == application }
        .flatMap { $0.record.periods.map(\.period) }
        .filter { !$0.isFamilyShared }
        // The signature overrules the App Store for whoever made the transaction, so it is given for
        // the customer's own only: a new account here must not bring a new trial there.
        guard
            let transaction = request.transactionID
                ?? bought.max(by: { $0.start < $1.start })?.transactionID,
            bought.contains(where: { $0.transactionID == transaction })
        else {
            throw Refusal(
                403,
                "offer_ineligible",
                "This transaction does not belong to this customer in this app. Customers without purchases need no signature: the App Store knows whether they may have the offer.",
                param: "transaction_id"
            )
        }
        let hadOne = bought.contains {
            $0.offerType == Self.introductoryOffer && group.contains($0.product)
        }
        return API.OfferSignature(
            type: request.type,
            productID: productID,
            appAccountToken: customer.appAccountToken,
            compactJWS: try signer.introductoryOfferEligibilityJWS(
                productID: productID,
                allowsIntroductoryOffer: !hadOne,
                transactionID: transaction,
                nonce: context.random.uuid(),
                issuedAt: context.clocks.wall().milliseconds / 1000
            ),
            allowsIntroductoryOffer: !hadOne
        )
    }

    /// Apple's `offerType` of an introductory offer.
    private static let introductoryOffer: Int64 = 1

    /// The API client of an app, and the signer of its offers.
    ///
    /// - Parameter application: its bundle id; `nil`: the first app's.
    /// - Throws: a refusal 503 `store_unavailable` where no key of App Store Connect is configured.
    func configured(
        _ application: String? = nil
    ) throws -> (app: AppStoreClients.App, signer: AppStore.OfferSigner) {
        guard let clients else {
            throw Refusal(
                503,
                .storeUnavailable,
                "The App Store's keys are not configured: set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE."
            )
        }
        guard let app = application.map({ clients.app($0) }) ?? clients.apps[0] else {
            throw Refusal(
                503,
                .storeUnavailable,
                "\(application ?? "") is not an app of this server: add it to ‘apps’ in the catalog."
            )
        }
        return (app, clients.offers(of: app))
    }
}

extension Catalog {
    /// A product on sale in the App Store, by its id in the catalog or there.
    ///
    /// - Parameter app: the app that would sell it, where there are several; `nil`: the first.
    /// - Throws: a refusal 404 `resource_missing`.
    func appStoreProduct(
        _ id: String,
        of app: App? = nil
    ) throws -> (Catalog.Product, String) {
        let app = app ?? apps.first
        guard
            let product = product(id: id)
                ?? product(appStoreProductID: id, in: app?.bundleID),
            let productID = product.appStoreProductID(in: app?.id), !product.isRetired
        else { throw Refusal.missing("product in the App Store", id, param: "product") }
        return (product, productID)
    }
}
