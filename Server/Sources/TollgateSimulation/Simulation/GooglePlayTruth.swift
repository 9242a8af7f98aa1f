import Foundation
import GooglePlaySimulator
import TollgateCore

/// The access and coins of a customer by Google Play's own books.
///
/// Shares nothing with the engine that is judged by it but the catalog's list of products. Rules are
/// those of https://developer.android.com/google/play/billing/lifecycle and
/// https://developers.google.com/android-publisher/voided-purchases.
struct GooglePlayTruth {
    private let catalog: Catalog
    /// UNIX milliseconds.
    private let now: Int64
    private(set) var orders: [Order]
    private var voids: [Void]

    /// One charge.
    struct Order: Decodable {
        struct Money: Decodable {
            var currencyCode: String
            var units: String?
            var nanos: Int64?

            var micros: Int64 {
                (units.flatMap { Int64($0) } ?? 0) * 1_000_000 + (nanos ?? 0) / 1000
            }
            var milliunits: Int64 { micros / 1000 }
        }

        struct History: Decodable {
            var processedEvent: Event?
            var refundEvent: Event?
            var partialRefundEvents: [Event]?
        }

        struct Event: Decodable {
            struct Refund: Decodable { var total: Money }

            var eventTime: String?
            /// Of a partial refund.
            var processTime: String?
            var refundDetails: Refund?

            /// UNIX milliseconds.
            var at: Int64? { (eventTime ?? processTime).flatMap(Order.instant) }
        }

        fileprivate static func instant(_ text: String) -> Int64? {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
            return (try? style.parse(text)).map {
                Int64(($0.timeIntervalSince1970 * 1000).rounded())
            }
        }

        struct Details: Decodable { var taxInclusive: Bool? }

        struct Line: Decodable {
            struct Service: Decodable {
                struct Phase: Decodable {
                    struct Mark: Decodable {}
                    var prorationPeriodDetails: Mark?
                }

                var basePlanId: String?
                var servicePeriodEndTime: String?
                var offerPhaseDetails: Phase?

                /// UNIX milliseconds.
                var end: Int64? { servicePeriodEndTime.flatMap(Order.instant) }
            }

            var productId: String
            var listingPrice: Money
            var total: Money
            var tax: Money
            var subscriptionDetails: Service?
        }

        var orderId: String
        var purchaseToken: String
        var state: String
        var lineItems: [Line]
        var total: Money
        var orderDetails: Details
        var orderHistory: History

        /// `true` once the money came, whatever was refunded.
        var isPaid: Bool { state != "PENDING" && state != "CANCELED" }
    }

    /// An entry of the list of voided purchases.
    private struct Void: Decodable {
        var purchaseToken: String
        var orderId: String?
        var voidedQuantity: Int64?
        var voidedReason: Code?

        var isUnacknowledged: Bool { voidedReason?.value == 8 }

        /// A number, or a text with one.
        struct Code: Decodable {
            var value: Int?

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                value =
                    (try? container.decode(Int.self))
                    ?? (try? container.decode(String.self)).flatMap { Int($0) }
            }
        }
    }

    /// A purchase token.
    struct Purchase: Decodable {
        struct Item: Decodable {
            var product_id: String
            var base_plan_id: String?
            var expires: Int64?
            var quantity: Int64?
        }

        var kind: String
        var purchase_token: String
        var state: String
        var linked_purchase_token: String?
        var obfuscated_account_id: String?
        var consumed: Bool?
        var products: [Item]

        var isSubscription: Bool { kind == "subscription" }

        /// `true` if it took the place of the linked purchase: a payment that is pending, or never came,
        /// replaces nothing.
        fileprivate var hasBegun: Bool { !state.hasPrefix("PENDING") }

        /// `true` if Play Billing shows it to the app: it may be used, or is not consumed yet.
        var isShownToApp: Bool {
            if isSubscription { return ["ACTIVE", "IN_GRACE_PERIOD", "CANCELED"].contains(state) }
            return state == "PURCHASED" && consumed != true
        }
    }

    private struct List<Element: Decodable>: Decodable { var data: [Element] }
    private struct Account: Decodable { var purchases: [Purchase] }

    /// Reads the books of all customers.
    init(of play: SimulatedGooglePlay, at now: Int64, in catalog: Catalog) async throws {
        (self.catalog, self.now) = (catalog, now)
        orders = try await Self.read(play, "orders", as: List<Order>.self).data
        voids = try await Self.read(play, "voided", as: List<Void>.self).data
    }

    /// The purchases of one Google account.
    static func purchases(
        of account: String,
        in play: SimulatedGooglePlay
    ) async throws -> [Purchase] {
        try await read(play, "accounts/\(account)", as: Account.self).purchases
    }

    private static func read<Value: Decodable>(
        _ play: SimulatedGooglePlay,
        _ path: String,
        as type: Value.Type
    ) async throws -> Value {
        let reply = await play.reply(to: "GET", "/sandbox/\(path)")
        return try JSONDecoder().decode(type, from: reply.body)
    }

    /// The books without licence testers' purchases.
    ///
    /// Testers pay nothing, and their purchases are refunded after minutes where nobody acknowledges
    /// them, so they are in no figures and have no three days:
    /// https://developer.android.com/google/play/billing/test#license-testers.
    func without(purchases tokens: Set<String>) -> Self {
        var books = self
        books.orders.removeAll { tokens.contains($0.purchaseToken) }
        books.voids.removeAll { tokens.contains($0.purchaseToken) }
        return books
    }

    /// The number of purchases that Google took back because nobody acknowledged them.
    var unacknowledged: Int { voids.count(where: \.isUnacknowledged) }

    /// The orders of those purchases.
    var ordersTakenBack: Set<String> {
        Set(voids.filter(\.isUnacknowledged).compactMap(\.orderId))
    }

    // MARK: - One customer

    /// The access and coins of the customer of these purchases.
    ///
    /// - Parameter shown: the tokens that devices have shown, of purchases without an account id.
    func read(_ purchases: [Purchase], shown: Set<String>) -> Truth {
        var truth = Truth()
        let replaced = Set(
            purchases.filter(\.hasBegun).compactMap(\.linked_purchase_token)
        )
        for purchase in purchases where isKnown(purchase, purchases, shown) {
            if purchase.isSubscription {
                if !replaced.contains(purchase.purchase_token) { readAccess(of: purchase, &truth) }
                creditPeriods(of: purchase, &truth)
            } else {
                readOneTime(purchase, &truth)
            }
        }
        return truth
    }

    /// Returns `true` if the owner is known: by its account id, or because it or the purchase before it
    /// was shown.
    private func isKnown(
        _ purchase: Purchase,
        _ all: [Purchase],
        _ shown: Set<String>
    ) -> Bool {
        if purchase.obfuscated_account_id != nil || shown.contains(purchase.purchase_token) {
            return true
        }
        guard purchase.hasBegun,
            let before = all.first(where: { $0.purchase_token == purchase.linked_purchase_token })
        else { return false }
        return isKnown(before, all, shown)
    }

    private func product(_ id: String, _ plan: String?) -> Catalog.Product? {
        catalog.products.first { product in
            product.googlePlayProductID == id
                && (plan == nil || product.googlePlayBasePlans?.contains(plan ?? "") ?? true)
        }
    }

    /// Access lasts to each item's expiry; on hold, paused, pending or expired there is none.
    private func readAccess(of purchase: Purchase, _ truth: inout Truth) {
        guard ["ACTIVE", "IN_GRACE_PERIOD", "CANCELED"].contains(purchase.state) else { return }
        for item in purchase.products where item.expires ?? 0 > now {
            truth.has.formUnion(product(item.product_id, item.base_plan_id)?.entitlements ?? [])
        }
    }

    /// Each order credits once, by the share of the price that it charged; one that was voided, nothing.
    ///
    /// A listed price has tax in it or not, what was paid always has:
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/orders#OrderDetails
    private func creditPeriods(of purchase: Purchase, _ truth: inout Truth) {
        for order in orders where order.purchaseToken == purchase.purchase_token && order.isPaid {
            guard !voids.contains(where: { $0.orderId == order.orderId }) else { continue }
            for line in order.lineItems {
                let plan = line.subscriptionDetails?.basePlanId
                guard let coins = product(line.productId, plan)?.coins, coins > 0 else { continue }
                let isPart =
                    line.subscriptionDetails?.offerPhaseDetails?.prorationPeriodDetails != nil
                let price = max(1, line.listingPrice.micros)
                let onTop = order.orderDetails.taxInclusive ?? false ? 0 : line.tax.micros
                truth.coins += isPart ? coins * (line.total.micros - onTop) / price : coins
            }
        }
    }

    /// A one-time purchase lasts until all of it was voided; each piece has its coins.
    ///
    /// While its payment is pending it gives nothing: https://developer.android.com/google/play/billing/integrate#pending.
    /// A pre-order is pending until its release, is charged then and may be cancelled before:
    /// https://support.google.com/googleplay/answer/1061913. At the release it becomes PURCHASED like any
    /// other: https://developer.android.com/google/play/billing/lifecycle/one-time.
    private func readOneTime(_ purchase: Purchase, _ truth: inout Truth) {
        guard purchase.state != "PENDING" else { return }
        let own = voids.filter { $0.purchaseToken == purchase.purchase_token }
        for item in purchase.products {
            let quantity = item.quantity ?? 1
            var taken = own.compactMap(\.voidedQuantity).reduce(0, +)
            // Without a quantity it is the rest; what was never paid is cancelled without an entry.
            if purchase.state != "PURCHASED" || own.contains(where: { $0.voidedQuantity == nil }) {
                taken = quantity
            }
            let product = product(item.product_id, nil)
            if taken < quantity { truth.has.formUnion(product?.entitlements ?? []) }
            let credit = (product?.coins ?? 0) * quantity
            truth.coins += credit - credit * min(taken, quantity) / quantity
        }
    }
}
