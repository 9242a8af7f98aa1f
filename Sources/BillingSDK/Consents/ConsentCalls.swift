import Foundation
internal import TollgateAPI

/// Terms and age: what was said, what is asked.
struct ConsentCalls: Sendable {
    let client: BillingClient

    func consents() async throws -> Consents {
        let consents = try await client.customerCall(API.Consents.self) { session in
            try client.request("GET", APIPath.consents.path, key: session.clientSecret)
        }
        return Consents(consents)
    }

    func record(_ said: API.ConsentsRequest) async throws -> Consents {
        let consents = try await client.customerCall(API.Consents.self) { session in
            try client.request("POST", APIPath.consents.path, key: session.clientSecret, body: said)
        }
        return Consents(consents)
    }

    /// Which gates stand open for whoever is signed in.
    func purchaseReadiness(isSetUp: Bool) async throws -> PurchaseReadiness {
        let slice = try await client.catalogSlice()
        let products = slice.products
        var readiness = PurchaseReadiness()
        readiness.isSetUp = isSetUp
        readiness.productKinds = products.compactMapValues { product in
            switch product.kind {
            case .autoRenewable, .freeSubscription: .subscription
            default: .oneOff
            }
        }
        let consents: Consents
        if try await client.session() != nil {
            consents = try await self.consents()
            readiness.isSignedIn = true
            let has = Set(try await client.activeEntitlements(forceRefresh: false).map(\.lookupKey))
            readiness.ownedProductIDs = Set(
                products.filter { $0.value.isOwned(by: has) }.map(\.key)
            )
        } else {
            consents = Consents(API.Consents(terms: [], required: slice.required))
        }
        let missing = Set(consents.missingTerms.map(\.id))
        readiness.hasAcceptedTerms = !missing.contains(TermsDocument.terms)
        readiness.hasAcceptedSubscriptionTerms = !missing.contains(TermsDocument.subscriptionTerms)
        readiness.hasStatedAge = !consents.isAgeMissing && !consents.isParentalConsentMissing
        return readiness
    }
}

extension Consents {
    init(_ consents: API.Consents) {
        self.init(
            acceptances: consents.terms.map { acceptance in
                Acceptance(
                    document: acceptance.document,
                    version: acceptance.version,
                    acceptedAt: Date(
                        timeIntervalSince1970: TimeInterval(acceptance.acceptedAt ?? 0) / 1000
                    )
                )
            },
            statedAge: consents.age?.atLeast,
            requiredTerms: consents.required.terms.map { document in
                TermsDocument(
                    id: document.document,
                    version: document.version,
                    url: document.url.flatMap { URL(string: $0) }
                )
            },
            minimumAge: consents.required.minimumAge,
            statedAgeBelow: consents.age?.below,
            ageStatedAt: consents.age?.statedAt.map {
                Date(timeIntervalSince1970: TimeInterval($0) / 1000)
            },
            ageDeclaration: consents.age?.declaration.flatMap(AgeDeclaration.init(rawValue:)),
            parentalConsentGivenAt: consents.parentalConsent.flatMap { consent in
                guard consent.isGiven else { return nil }
                return Date(timeIntervalSince1970: TimeInterval(consent.statedAt) / 1000)
            },
            askedAges: consents.required.ages,
            parentalConsentBelow: consents.required.parentalConsentBelow
        )
    }
}

extension API.CatalogSlice {
    /// The App Store's products by id.
    ///
    /// It came over TLS just now, so its signature adds nothing.
    fileprivate var products: [String: API.SignedCatalog.Product] {
        guard let payload = JSONWebToken(compact: signedCatalog)?.payload,
            let slice = try? APIJSON.decode(API.SignedCatalog.self, from: payload)
        else { return [:] }
        return Dictionary(
            slice.products.map { ($0.appStoreProductID, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

extension API.SignedCatalog.Product {
    /// Whether there is nothing to gain from buying it once more.
    fileprivate func isOwned(by lookupKeys: Set<String>) -> Bool {
        switch kind {
        case .nonConsumable, .autoRenewable, .freeSubscription:
            !entitlements.isEmpty && lookupKeys.isSuperset(of: entitlements)
        case .consumable, .nonRenewing: false
        }
    }
}
