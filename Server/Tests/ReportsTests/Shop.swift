import AppStoreConnector
import Reports
import Storage
import StripeConnector
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

extension Instant {
    /// Days since the stories began, on 2026-01-01.
    static func day(_ day: Double) -> Instant {
        Instant(milliseconds: 1_767_225_600_000 + Int64(day * 86_400_000))
    }
}

extension Reports.Day {
    /// The same in whole days.
    static func story(_ day: Int64) -> Reports.Day { Reports.Day(.day(Double(day))) }
}

enum Shop {
    static let catalog = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: [
            .init(
                id: "monthly",
                name: "Monthly",
                kind: .autoRenewable,
                appStoreProductID: "app.monthly",
                stripePriceIDs: ["price_monthly"],
                googlePlayProductID: "pro",
                entitlements: ["pro"],
                coins: 10,
                duration: CalendarDuration(months: 1),
                subscriptionGroup: "pro"
            ),
            .init(
                id: "yearly",
                name: "Yearly",
                kind: .autoRenewable,
                appStoreProductID: "app.yearly",
                stripePriceIDs: ["price_yearly"],
                entitlements: ["pro"],
                duration: CalendarDuration(years: 1),
                subscriptionGroup: "pro"
            ),
            .init(
                id: "coins",
                name: "Coins",
                kind: .consumable,
                appStoreProductID: "app.coins",
                stripePriceIDs: ["price_coins"],
                coins: 100
            ),
        ]
    )

    /// The same, sold by two apps.
    static let catalogOfTwoApps: Catalog = {
        var several = catalog
        several.apps = [
            .init(id: "reader", name: "Reader", bundleID: "app"),
            .init(id: "studio", name: "Studio", bundleID: "studio"),
        ]
        return several
    }()

    static let history = CatalogHistory([
        .init(id: "1", adopted: .day(-1000), catalog: catalog)
    ])

    /// What both stores are expected to keep.
    static func terms(isSmallBusiness: Bool = false) -> Finance.Terms {
        Finance.Terms(fees: [
            .appStore: AppStoreTerms(isSmallBusiness: isSmallBusiness).fee,
            .stripe: StripeTerms().fee,
        ])
    }

    static func rows(_ purchase: Purchase) -> Reports.PurchaseRows {
        Reports.rows(of: purchase, by: Tollgate.storeRows, in: history) {
            $0.first?.canonical ?? ""
        }
    }
}

extension Purchase.Key {
    static func appStore(_ id: String) -> Self {
        Self(store: .appStore, environment: .production, application: "app", id: id)
    }

    static func stripe(_ id: String) -> Self {
        Self(store: .stripe, environment: .production, application: "-", id: id)
    }
}

extension Fact {
    static func said(_ statement: Statement, on day: Double, about key: Purchase.Key) -> Fact {
        Fact(
            purchase: key,
            source: "message",
            stated: Stated(.day(day)),
            statement: statement
        )
    }

    /// A month of a subscription in the App Store, from one day to another.
    static func period(
        _ id: String,
        of purchase: String,
        from start: Double,
        to end: Double,
        product: String = "app.monthly",
        price: Int64? = 9_990,
        trial: Bool = false,
        revoked: Double? = nil,
        upgraded: Double? = nil,
        previous: String? = nil,
        additional: String? = nil,
        country: String = "JPN",
        currency: String = "JPY",
        token: String? = nil
    ) -> Fact {
        .said(
            .period(
                Period(
                    id: id,
                    transactionID: "t\(id)",
                    product: product,
                    kind: .autoRenewable,
                    start: .day(start),
                    end: .day(end),
                    revoked: revoked.map { .day($0) },
                    isUpgraded: upgraded != nil,
                    token: token,
                    price: trial ? 0 : price,
                    currency: currency,
                    offerType: trial ? 1 : nil,
                    discount: trial ? "FREE_TRIAL" : nil,
                    storefront: country,
                    previous: previous,
                    additionalReason: additional
                )
            ),
            on: revoked ?? upgraded ?? start,
            about: .appStore(purchase)
        )
    }

    static func invoice(
        _ id: String,
        of subscription: String,
        paid day: Double,
        amount: Int64,
        total: Int64? = nil,
        _ lines: [StripeInvoice.Line]
    ) -> Fact {
        .said(
            .invoice(
                StripeInvoice(
                    id: id,
                    isPaid: true,
                    amount: amount,
                    total: total,
                    currency: "usd",
                    lines: lines,
                    paid: .day(day),
                    country: "US"
                )
            ),
            on: day,
            about: .stripe(subscription)
        )
    }

    /// What the App Store says of a subscription beside its transactions.
    static func terms(graceEnd: Double? = nil, on day: Double) -> Fact {
        let terms = RenewalTerms(willRenew: true, graceEnd: graceEnd.map { .day($0) })
        return .said(.renewal(terms), on: day, about: .appStore("1"))
    }

    static func status(_ value: Int64, on day: Double) -> Fact {
        .said(.status(SubscriptionStatus(value: value)), on: day, about: .appStore("1"))
    }

    /// An invoice that was voided before anybody paid it.
    static func invoice(
        _ id: String,
        of subscription: String,
        voided day: Double,
        _ lines: [StripeInvoice.Line]
    ) -> Fact {
        .said(
            .invoice(
                StripeInvoice(
                    id: id,
                    isPaid: false,
                    amount: 0,
                    currency: "usd",
                    lines: lines,
                    voided: .day(day)
                )
            ),
            on: day,
            about: .stripe(subscription)
        )
    }

    /// A subscription of several items, each with its id, price, start and end.
    static func subscription(
        _ id: String,
        _ status: String,
        items: [(id: String, price: String, start: Double, end: Double)],
        said day: Double
    ) -> Fact {
        let items = items.map { item in
            StripeSubscription.Item(
                id: item.id,
                price: item.price,
                quantity: 1,
                start: .day(item.start),
                end: .day(item.end)
            )
        }
        return .said(
            .subscription(
                StripeSubscription(status: status, customer: "cus_\(id)", items: items)
            ),
            on: day,
            about: .stripe(id)
        )
    }

    static func subscription(
        _ id: String,
        _ status: String,
        price: String = "price_monthly",
        from start: Double,
        to end: Double,
        said day: Double,
        ended: Double? = nil
    ) -> Fact {
        .said(
            .subscription(
                StripeSubscription(
                    status: status,
                    customer: "cus_\(id)",
                    items: [
                        .init(
                            id: "si_\(id)",
                            price: price,
                            quantity: 1,
                            start: .day(start),
                            end: .day(end)
                        )
                    ],
                    endedAt: ended.map { .day($0) }
                )
            ),
            on: day,
            about: .stripe(id)
        )
    }

    static func checkout(_ id: String, amount: Int64, on day: Double, quantity: Int64 = 1) -> Fact {
        .said(
            .payment(
                StripePayment(
                    session: "cs_\(id)",
                    status: "complete",
                    isPaid: true,
                    customer: "cus_\(id)",
                    reference: nil,
                    lines: [.init(price: "price_coins", quantity: quantity)],
                    amount: amount,
                    currency: "usd",
                    created: .day(day),
                    country: "US"
                )
            ),
            on: day,
            about: .stripe(id)
        )
    }

    static func refund(
        _ id: String,
        of purchase: String,
        amount: Int64,
        on day: Double,
        paying invoice: String? = nil
    ) -> Fact {
        .said(
            .refund(
                StripeRefund(
                    id: id,
                    amount: amount,
                    status: "succeeded",
                    invoice: invoice,
                    created: .day(day)
                )
            ),
            on: day,
            about: .stripe(purchase)
        )
    }
}

extension StripeInvoice.Line {
    static func line(
        _ id: String,
        _ amount: Int64,
        from start: Double,
        to end: Double,
        price: String = "price_monthly",
        quantity: Int64 = 1,
        proration: Bool = false,
        item: String? = nil,
        discount: Int64? = nil,
        tax: Int64? = nil
    ) -> Self {
        Self(
            id: id,
            price: price,
            quantity: quantity,
            amount: amount,
            start: .day(start),
            end: .day(end),
            isProration: proration,
            item: item,
            discount: discount,
            tax: tax
        )
    }
}
