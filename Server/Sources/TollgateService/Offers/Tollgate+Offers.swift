internal import AppStoreAPI
internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

extension Tollgate {
    /// Signs for StoreKit that the session's customer may redeem an offer.
    ///
    /// A promotional offer is signed if the catalog lists it; whether its conditions hold is for
    /// the App Store to say. The introductory offer is allowed to who never had one in the group.
    ///
    /// - Throws: refusals 404 `resource_missing` for a product or an offer that is not in the
    ///   catalog, 400 `parameter_missing`, 503 `store_unavailable` where no key is configured.
    public func signOffer(
        _ request: API.OfferSignatureRequest,
        for session: CustomerSession
    ) async throws -> API.OfferSignature {
        let clients = try requireAppStoreClients()
        let (product, productID) = try store.history.current.appStoreProduct(request.product)
        let customer = try await directory.customer(session.customer.rawValue)
        switch request.type {
        case .promotionalOffer:
            return try sign(request, product, productID, for: customer, with: clients.offers)
        case .introductoryOfferEligibility:
            return try await signEligibility(request, product, productID, customer, session)
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
            throw Refusal(
                400,
                .invalidRequestError,
                .parameterMissing,
                "Missing required param: offer.",
                param: "offer"
            )
        }
        guard product.promotionalOffers.contains(offer) else {
            throw Refusal.missing("promotional offer", offer, param: "offer")
        }
        let nonce = random.uuid()
        let wall = clocks.wall().milliseconds
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
                nonce: random.uuid(),
                issuedAt: wall / 1000
            )
        )
    }

    private func signEligibility(
        _ request: API.OfferSignatureRequest,
        _ product: Catalog.Product,
        _ productID: String,
        _ customer: API.Customer,
        _ session: CustomerSession
    ) async throws -> API.OfferSignature {
        let group = Set(
            store.history.current.products
                .filter {
                    $0.id == product.id
                        || $0.subscriptionGroup != nil
                            && $0.subscriptionGroup == product.subscriptionGroup
                }
                .compactMap(\.appStoreProductID)
        )
        let bought = try await store.purchases(of: session.customer, in: session.environment)
            .filter { $0.record.key.store == .appStore }
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
                .permissionError,
                "offer_ineligible",
                "This is no transaction of this customer's. Who has bought nothing yet needs no signature: the App Store knows whether they may have the offer.",
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
            compactJWS: try requireAppStoreClients().offers.introductoryOfferEligibilityJWS(
                productID: productID,
                allowsIntroductoryOffer: !hadOne,
                transactionID: transaction,
                nonce: random.uuid(),
                issuedAt: clocks.wall().milliseconds / 1000
            ),
            allowsIntroductoryOffer: !hadOne
        )
    }

    /// Apple's `offerType` of an introductory offer.
    private static let introductoryOffer: Int64 = 1

    /// - Throws: a refusal 503 `store_unavailable` where no key of App Store Connect is configured.
    func requireAppStoreClients() throws -> AppStoreClients {
        guard let appStoreClients else {
            throw Refusal(
                503,
                .apiError,
                .storeUnavailable,
                "The App Store's keys are not configured: set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE."
            )
        }
        return appStoreClients
    }
}

extension Catalog {
    /// A product on sale in the App Store, by its id in the catalog or there.
    func appStoreProduct(_ id: String) throws -> (Catalog.Product, String) {
        guard
            let product = product(id: id) ?? product(appStoreProductID: id),
            let productID = product.appStoreProductID, !product.isRetired
        else { throw Refusal.missing("product in the App Store", id, param: "product") }
        return (product, productID)
    }
}
