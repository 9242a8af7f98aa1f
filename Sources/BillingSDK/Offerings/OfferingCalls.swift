import Foundation
internal import TollgateAPI

/// What the catalog shows together, and to whom.
extension BillingClient {
    func offerings() async throws -> [Offering] {
        let path = APIPath.offerings.path
        return try await send(request("GET", path, key: configuration.publishableKey))
            .decoded(API.OfferingList.self).data.map { Offering($0) }
    }

    func placement(id: String) async throws -> Placement {
        let answer = try await sendForCustomerOrNobody("GET", APIPath.placement.path(id: id))
            .decoded(API.Placement.self)
        return Placement(id: answer.id, offering: Offering(answer.offering))
    }

    func recordShown(_ placement: Placement) async throws {
        let body = API.PlacementShownRequest(offering: placement.offering.id)
        _ = try await customerCall(API.PlacementShown.self) { session in
            try request(
                "POST",
                APIPath.placementShown.path(id: placement.id),
                key: session.clientSecret,
                body: body
            )
        }
    }
}

extension Offering {
    fileprivate init(_ offering: API.Offering) {
        self.init(
            id: offering.id,
            products: offering.products.map { OfferedProduct($0) },
            texts: offering.texts.mapValues { Text(title: $0.title, body: $0.body) }
        )
    }
}

extension OfferedProduct {
    fileprivate init(_ product: API.Offering.Product) {
        self.init(
            id: product.id,
            name: product.name,
            kind: ProductKind(rawValue: product.kind),
            appStoreProductID: product.appStoreProductID,
            buyButtonID: product.buyButton,
            promotionalOffers: product.promotionalOffers,
            price: product.price.map { Money($0) },
            interval: product.interval,
            intervalCount: product.intervalCount
        )
    }
}

extension Money {
    init(_ price: API.Offering.Price) {
        self.init(amount: price.amount, currency: price.currency)
    }
}
