import Foundation
import Testing
import TollgateCore

@Suite("Catalog")
struct CatalogTests {
    static let sound = Catalog(
        entitlements: [.init(lookupKey: "pro", name: "Pro")],
        products: [
            .init(
                id: "monthly",
                name: "Monthly",
                kind: .autoRenewable,
                appStoreProductID: "com.example.app.monthly",
                stripePriceIDs: ["price_monthly"],
                entitlements: ["pro"],
                duration: CalendarDuration(months: 1),
                subscriptionGroup: "pro",
                level: 2,
                price: .init(amount: 999, currency: "usd")
            ),
            .init(
                id: "pass",
                name: "Pass",
                kind: .nonRenewing,
                stripePriceIDs: ["price_pass"],
                entitlements: ["pro"],
                duration: CalendarDuration(days: 30),
                whileActive: .extend
            ),
            .init(
                id: "coins",
                name: "100 coins",
                kind: .consumable,
                appStoreProductID: "com.example.app.coins",
                stripePriceIDs: ["price_coins"],
                coins: 100
            ),
        ],
        buyButtons: [.init(id: "buy_coins", product: "coins")]
    )

    @Test("a sound catalog has no problems")
    func noProblems() {
        #expect(Self.sound.validate() == [])
    }

    @Test("products are found by each store's id and by our own")
    func lookup() {
        #expect(Self.sound.product(id: "coins")?.coins == 100)
        #expect(Self.sound.product(appStoreProductID: "com.example.app.monthly")?.id == "monthly")
        #expect(Self.sound.product(stripePriceID: "price_pass")?.id == "pass")
        #expect(Self.sound.product(stripePriceID: "price_other") == nil)
        #expect(Self.sound.buyButton(id: "buy_coins")?.product == "coins")
        #expect(Self.sound.entitlement(lookupKey: "pro")?.name == "Pro")
    }

    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let change: @Sendable (inout Catalog) -> Void
        let problem: String
        init(
            _ description: String,
            _ problem: String,
            change: @escaping @Sendable (inout Catalog) -> Void
        ) {
            (testDescription, self.problem, self.change) = (description, problem, change)
        }
    }

    static let mistakes = [
        Mistake("unknown entitlement", "products[0].entitlements[1]: there is no entitlement ‘por’")
        { $0.products[0].entitlements.append("por") },
        Mistake("entitlement twice", "entitlements[1].lookup_key: the lookup key ‘pro’") {
            $0.entitlements.append(.init(lookupKey: "pro", name: "Pro again"))
        },
        Mistake("product id twice", "products[1].id: the product id ‘monthly’ is there twice") {
            $0.products[1].id = "monthly"
        },
        Mistake("App Store id twice", "products[2].app_store_product_id: the App Store product") {
            $0.products[2].appStoreProductID = "com.example.app.monthly"
        },
        Mistake("Stripe price twice", "products[1].stripe_price_ids[1]: the Stripe price") {
            $0.products[1].stripePriceIDs.append("price_monthly")
        },
        Mistake("Stripe product as price", "products[1].stripe_price_ids[0]: ‘prod_1’") {
            $0.products[1].stripePriceIDs = ["prod_1"]
        },
        Mistake("non-renewing without duration", "products[1]: ‘pass’ is non-renewing") {
            $0.products[1].duration = nil
        },
        Mistake("plan without group", "products[0]: ‘monthly’ is auto-renewable; name its") {
            $0.products[0].subscriptionGroup = nil
            $0.products[0].level = nil
        },
        Mistake("level without group", "products[1].level: a level ranks within a group") {
            $0.products[1].level = 1
        },
        Mistake("plan that extends", "products[0].while_active: an auto-renewable plan") {
            $0.products[0].whileActive = .extend
        },
        Mistake("consumable that gives nothing", "products[2]: ‘coins’ is a consumable") {
            $0.products[2].coins = 0
        },
        Mistake("negative coins", "products[2].coins: coins are a whole number") {
            $0.products[2].coins = -1
        },
        Mistake("unknown product behind a button", "buy_buttons[0].product: there is no product") {
            $0.buyButtons[0].product = "coin"
        },
        Mistake("button without a price", "buy_buttons[0].product: ‘coins’ has no Stripe price") {
            $0.products[2].stripePriceIDs = []
        },
        Mistake("button for a retired product", "buy_buttons[0].product: ‘coins’ is retired") {
            $0.products[2].isRetired = true
        },
        Mistake("product sold nowhere", "products[1]: nobody can buy ‘pass’") {
            $0.products[1].stripePriceIDs = []
        },
        Mistake("negative leeway", "renewal_leeway.app_store: this is access without payment") {
            $0.renewalLeeway.appStore = -1
        },
        Mistake("a grace of years", "past_due_grace: this is access without payment") {
            $0.pastDueGrace = .max
        },
        Mistake("another domain to return to", "checkout.success_path: this is a path") {
            $0.checkout.successPath = "//evil.example"
        },
        Mistake("storefront in two letters", "checkout.storefronts[0]: a storefront is") {
            $0.checkout.storefronts = ["US"]
        },
        Mistake("currency in capitals", "products[0].price.currency: a currency is") {
            $0.products[0].price?.currency = "USD"
        },
        Mistake("id with a space", "products[0].id: a product id consists of") {
            $0.products[0].id = "pro monthly"
        },
    ]

    @Test("a mistake is found, once, where it is", arguments: mistakes)
    func oneProblem(_ mistake: Mistake) throws {
        var catalog = Self.sound
        mistake.change(&catalog)
        let problems = catalog.validate().map(\.description)
        #expect(problems.count == 1, "\(problems)")
        #expect(try #require(problems.first).hasPrefix(mistake.problem), "\(problems)")
    }

    @Test("JSON gives the same catalog back, and what is missing has its default")
    func json() throws {
        let data = try JSONEncoder().encode(Self.sound)
        #expect(try JSONDecoder().decode(Catalog.self, from: data) == Self.sound)
        #expect(try JSONDecoder().decode(Catalog.self, from: Data("{}".utf8)) == Catalog())
    }
}
