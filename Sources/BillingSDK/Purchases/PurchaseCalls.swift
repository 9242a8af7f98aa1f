import Foundation
internal import TollgateAPI

extension BillingClient {
    /// The purchases of the customer: status, end, renewal and next charge of each.
    func purchases() async throws -> [CustomerPurchase] {
        try await customerCall(API.CustomerPurchaseList.self) { session in
            try request(
                "GET",
                APIPath.customerPurchases.path(id: session.customer),
                key: session.clientSecret
            )
        }.data.map { CustomerPurchase($0) }
    }
}

extension CustomerPurchase {
    fileprivate init(_ purchase: API.CustomerPurchase) {
        self.init(
            id: purchase.id,
            store: PurchaseStore(word: purchase.store),
            productID: purchase.product,
            name: purchase.name,
            kind: Kind(rawValue: purchase.kind),
            status: Status(rawValue: purchase.status),
            lookupKeys: purchase.entitlements,
            until: purchase.until.map { Date(milliseconds: $0) },
            willRenew: purchase.willRenew,
            offer: purchase.offer.map { OfferKind(rawValue: $0) },
            hasPaymentProblem: purchase.paymentProblem,
            managementURL: purchase.managementURL.flatMap { try? BillingClient.webURL($0) },
            nextCharge: purchase.nextCharge.map {
                NextCharge(
                    date: Date(milliseconds: $0.at),
                    price: $0.price.map { Money($0) },
                    awaitsConsent: $0.awaitsConsent
                )
            },
            interval: purchase.interval,
            intervalCount: purchase.intervalCount
        )
    }
}
