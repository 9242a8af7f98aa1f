import Foundation
import TollgateAPI

@testable import BillingSDK

extension API.Offering {
    /// A plan, and coins.
    static func sample(_ id: String = "standard", title: String = "Go Pro") -> API.Offering {
        API.Offering(
            id: id,
            products: [
                .init(
                    id: "pro_monthly",
                    name: "Pro, monthly",
                    kind: "auto_renewable",
                    appStoreProductID: "com.example.app.pro.monthly",
                    buyButton: "buy_btn_monthly",
                    promotionalOffers: ["come_back"],
                    price: .init(amount: 1500, currency: "jpy"),
                    interval: "month",
                    intervalCount: 3
                ),
                .init(
                    id: "coins_100",
                    name: "100 coins",
                    kind: "consumable",
                    appStoreProductID: "com.example.app.coins100"
                ),
            ],
            texts: [
                "en": .init(title: title, body: "All of it."), "ja": .init(title: "Proへ"),
                "zh-Hans": .init(title: "升级"), "zh-Hant": .init(title: "升級"),
                "pt-BR": .init(title: "Seja Pro"),
            ]
        )
    }
}

extension FakeServer {
    /// What the catalog shows together, and what an app has to say of purchases.
    func offeringsAndPurchases(
        _ request: HTTPRequest,
        _ path: String,
        _ customer: String?,
        _ world: inout World
    ) throws -> HTTPResponse? {
        if (request.method, path) == ("GET", APIPath.offerings.path) {
            return try Self.ok(API.OfferingList(data: world.offerings))
        }
        for (id, variants) in world.placements {
            switch (request.method, path) {
            case ("GET", APIPath.placement.path(id: id)):
                let shown = variants[customer ?? "nobody"]
                guard let offering = world.offerings.first(where: { $0.id == shown }) else {
                    return Self.refusal(404, .resourceMissing)
                }
                return try Self.ok(API.Placement(id: id, offering: offering))
            case ("POST", APIPath.placementShown.path(id: id)):
                guard let customer else { return Self.refusal(401, .noSessionPresent) }
                let body = try APIJSON.decode(
                    API.PlacementShownRequest.self,
                    from: request.body ?? Data()
                )
                let entry = [customer, id, body.offering]
                let isNew = !world.shown.contains(entry)
                world.shown.append(entry)
                return try Self.ok(
                    API.PlacementShown(placement: id, offering: body.offering, new: isNew)
                )
            default: break
            }
        }
        if let customer, request.method == "GET",
            path == APIPath.customerPurchases.path(id: customer)
        {
            return try Self.ok(
                API.CustomerPurchaseList(
                    data: world.purchases[customer] ?? [],
                    environment: .sandbox,
                    at: Int64(clock.now.timeIntervalSince1970 * 1000)
                )
            )
        }
        return nil
    }
}
