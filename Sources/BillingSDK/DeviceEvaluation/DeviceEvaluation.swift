import Foundation
internal import TollgateAPI
internal import TollgateCore

/// What StoreKit's entitlements give by the engine that the server runs, for a device that never
/// had an answer (RULES §15).
///
/// Everything that StoreKit shows belongs to whoever uses the device: only the server can tell
/// customers apart.
enum DeviceEvaluation {
    /// What may be used at `instant`, sorted by lookup key.
    static func active(
        _ statements: [StoreKitStatement],
        in slice: API.SignedCatalog,
        at instant: Instant
    ) -> [Entitlement] {
        var purchases: [Purchase.Key: Purchase] = [:]
        for fact in statements.flatMap(StoreKitIntake.facts) {
            purchases[fact.purchase, default: Purchase(key: fact.purchase)].join(fact)
        }
        let catalog = slice.catalog
        let history = CatalogHistory([
            CatalogHistory.Version(
                id: "device",
                adopted: Instant(milliseconds: 0),
                catalog: catalog
            )
        ])
        let access = purchases.sorted { $0.key < $1.key }.map { key, purchase in
            var access = PurchaseAccess()
            for share in purchase.evaluate(in: history).shares { access.merge(share.access) }
            return (key, access)
        }
        return Timeline(access, in: catalog).active(at: instant).map { entitlement in
            let key = entitlement.lookupKey
            // As the server writes them, so that its answer later is no change.
            return Entitlement(
                id: "ent_" + key,
                feature: slice.names[key] ?? key,
                lookupKey: key,
                until: entitlement.until.map { Date(milliseconds: $0.milliseconds) },
                ground: EntitlementGround(rawValue: entitlement.ground.rawValue),
                store: .appStore,
                purchaseID: nil,
                willRenew: entitlement.willRenew,
                offer: entitlement.offer.map { CustomerPurchase.OfferKind(rawValue: $0.rawValue) }
            )
        }
    }
}
