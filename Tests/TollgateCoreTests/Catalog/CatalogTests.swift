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
        Mistake("base plans of no product", "products[1].google_play_base_plans: base plans") {
            $0.products[1].googlePlayBasePlans = ["monthly"]
        },
        Mistake("no base plan", "products[1].google_play_base_plans: list at least one") {
            $0.products[1].googlePlayProductID = "premium"
            $0.products[1].googlePlayBasePlans = []
        },
        Mistake("two products of one base plan", "products[1].google_play_product_id: the Google") {
            for index in 0...1 {
                $0.products[index].googlePlayProductID = "premium"
                $0.products[index].googlePlayBasePlans = ["monthly", "plan\(index)"]
            }
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
        Mistake("no id", "products[0].id: a product id cannot be empty") {
            $0.products[0].id = ""
        },
        Mistake("lookup key with a slash", "entitlements[1].lookup_key: a lookup key consists of") {
            $0.entitlements.append(.init(lookupKey: "pro/2", name: "Pro"))
        },
        Mistake("entitlement without a name", "entitlements[0].name: people read this name") {
            $0.entitlements[0].name = ""
        },
        Mistake("product without a name", "products[1].name: people read this name") {
            $0.products[1].name = " \t"
        },
        Mistake("entitlement listed twice", "products[0].entitlements[1]: ‘pro’ is listed twice") {
            $0.products[0].entitlements.append("pro")
        },
        Mistake("non-consumable that gives nothing", "products[1]: ‘pass’ gives nothing") {
            $0.products[1].entitlements = []
        },
        Mistake("empty App Store id", "products[2].app_store_product_id: an App Store") {
            $0.products[2].appStoreProductID = ""
        },
        Mistake("price with a space", "products[1].stripe_price_ids[0]: a Stripe price id") {
            $0.products[1].stripePriceIDs = ["price pass"]
        },
        Mistake("consumable that ends", "products[2].duration: ‘coins’ is consumable and does not")
        {
            $0.products[2].duration = CalendarDuration(days: 1)
        },
        Mistake(
            "consumable that opens for ever",
            "products[2].entitlements: ‘coins’ is a consumable"
        ) {
            $0.products[2].appStoreProductID = nil
            $0.products[2].entitlements = ["pro"]
        },
        Mistake(
            "consumable of the App Store that opens something",
            "products[2].entitlements: a consumable of the App Store gives coins only"
        ) {
            $0.products[2].entitlements = ["pro"]
            $0.products[2].duration = CalendarDuration(days: 1)
        },
        Mistake("non-consumable that ends", "products[1].duration: ‘pass’ is non_consumable and") {
            $0.products[1].kind = .nonConsumable
        },
        Mistake("offer of a consumable", "products[2].promotional_offers[0]: only auto-renewable") {
            $0.products[2].promotionalOffers = ["come_back"]
        },
        Mistake("offer of Stripe's plan", "products[0].promotional_offers[0]: only auto-renewable")
        {
            $0.products[0].appStoreProductID = nil
            $0.products[0].promotionalOffers = ["come_back"]
        },
        Mistake("offer listed twice", "products[0].promotional_offers[2]: ‘a’ is listed twice") {
            $0.products[0].promotionalOffers = ["a", "b", "a"]
        },
        Mistake("offer with a space", "products[0].promotional_offers[0]: an offer's identifier") {
            $0.products[0].promotionalOffers = ["come back"]
        },
        Mistake("consumption of Stripe's", "products[1].consumption: only the App Store asks") {
            $0.products[1].consumption = .init()
        },
        Mistake("pass in a group", "products[1].subscription_group: only plans have a group") {
            $0.products[1].subscriptionGroup = "pro"
        },
        Mistake("group with a space", "products[0].subscription_group: a subscription group") {
            $0.products[0].subscriptionGroup = "the pros"
        },
        Mistake("button id with a space", "buy_buttons[0].id: a buy button's id consists of") {
            $0.buyButtons[0].id = "buy coins"
        },
        Mistake("button id twice", "buy_buttons[1].id: the buy button ‘buy_coins’ is there twice") {
            $0.buyButtons.append(.init(id: "buy_coins", product: "pass"))
        },
        Mistake("return without a slash", "checkout.success_path: this is a path") {
            $0.checkout.successPath = "done"
        },
        Mistake("return with a space", "checkout.cancel_path: this is a path") {
            $0.checkout.cancelPath = "/turned back"
        },
        Mistake("storefront in small letters", "checkout.storefronts[1]: a storefront is") {
            $0.checkout.storefronts = ["USA", "deu"]
        },
        Mistake("currency in full", "products[0].price.currency: a currency is") {
            $0.products[0].price?.currency = "dollar"
        },
        Mistake("terms without a version", "gates.terms_url: terms are accepted by version") {
            $0.gates.termsURL = "https://example.com/terms"
        },
        Mistake("plan terms without a version", "gates.subscription_terms_url: terms are accepted")
        {
            $0.gates.subscriptionTermsURL = "https://example.com/terms"
        },
    ]

    /// What looks like a mistake and is none.
    static let allowed = [
        Mistake("the product's id is its lookup key, its App Store id and its price", "") {
            $0.products[0].id = "pro"
            $0.products[0].appStoreProductID = "pro"
            $0.products[0].stripePriceIDs = ["pro"]
        },
        Mistake("consumable of Stripe's that opens something for a while", "") {
            $0.products[2].appStoreProductID = nil
            $0.products[2].entitlements = ["pro"]
            $0.products[2].duration = CalendarDuration(days: 1)
        },
        Mistake("consumable that opens something for a while and credits nothing", "") {
            $0.products[2].appStoreProductID = nil
            $0.products[2].entitlements = ["pro"]
            $0.products[2].duration = CalendarDuration(days: 1)
            $0.products[2].coins = 0
        },
        Mistake("non-consumable", "") {
            $0.products[1].kind = .nonConsumable
            $0.products[1].duration = nil
        },
        Mistake("free subscription in a group, in no store", "") {
            $0.products.append(
                .init(
                    id: "reader",
                    name: "Reader",
                    kind: .freeSubscription,
                    entitlements: ["pro"],
                    subscriptionGroup: "pro"
                )
            )
        },
        Mistake("retired product in no store", "") {
            $0.products[1].stripePriceIDs = []
            $0.products[1].isRetired = true
        },
        Mistake("product that Stripe does not sell", "") {
            $0.products[0].stripePriceIDs = []
        },
        Mistake("two offers of an App Store plan", "") {
            $0.products[0].promotionalOffers = ["come_back", "stay"]
        },
        Mistake("consumption of an App Store product", "") {
            $0.products[2].consumption = .init(refundPreference: .decline)
        },
        Mistake("terms with their versions", "") {
            $0.gates = .init(
                termsVersion: "2",
                termsURL: "https://example.com/terms",
                subscriptionTermsVersion: "1",
                subscriptionTermsURL: "https://example.com/plans"
            )
        },
        Mistake("versions of terms that are read elsewhere", "") {
            $0.gates = .init(termsVersion: "2", subscriptionTermsVersion: "1")
        },
    ]

    @Test("what only looks like a mistake is none", arguments: allowed)
    func noMistake(_ variation: Mistake) {
        var catalog = Self.sound
        variation.change(&catalog)
        #expect(catalog.validate() == [])
    }

    struct Bound: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let allowed: ClosedRange<Int64>
        let set: @Sendable (inout Catalog, Int64) -> Void
        init(
            _ description: String,
            _ allowed: ClosedRange<Int64>,
            set: @escaping @Sendable (inout Catalog, Int64) -> Void
        ) {
            (testDescription, self.allowed, self.set) = (description, allowed, set)
        }
    }

    private static func text(_ length: Int64) -> String {
        String(repeating: "x", count: Int(length))
    }

    static let bounds = [
        Bound("entitlements[1].lookup_key", 1...80) {
            $0.entitlements.append(.init(lookupKey: text($1), name: "X"))
        },
        Bound("products[0].id", 1...80) { $0.products[0].id = text($1) },
        Bound("products[0].app_store_product_id", 1...100) {
            $0.products[0].appStoreProductID = text($1)
        },
        Bound("products[0].stripe_price_ids[0]", 1...255) {
            $0.products[0].stripePriceIDs = [text($1)]
        },
        Bound("products[0].subscription_group", 1...80) {
            $0.products[0].subscriptionGroup = text($1)
        },
        Bound("products[0].promotional_offers[0]", 1...100) {
            $0.products[0].promotionalOffers = [text($1)]
        },
        Bound("products[0].level", 1...1000) { $0.products[0].level = Int($1) },
        Bound("products[0].coins", 0...1_000_000_000) { $0.products[0].coins = $1 },
        Bound("products[0].price.amount", 0...99_999_999) { $0.products[0].price?.amount = $1 },
        Bound("buy_buttons[0].id", 1...80) { $0.buyButtons[0].id = text($1) },
        Bound("buy_buttons[0].quantity", 1...100) { $0.buyButtons[0].quantity = Int($1) },
        Bound("renewal_leeway.app_store", 0...2_592_000_000) { $0.renewalLeeway.appStore = $1 },
        Bound("renewal_leeway.stripe", 0...2_592_000_000) { $0.renewalLeeway.stripe = $1 },
        Bound("renewal_leeway.google_play", 0...2_592_000_000) { $0.renewalLeeway.googlePlay = $1 },
        Bound("products[0].google_play_product_id", 1...150) {
            $0.products[0].googlePlayProductID = text($1)
        },
        Bound("products[0].google_play_base_plans[0]", 1...63) {
            $0.products[0].googlePlayProductID = "premium"
            $0.products[0].googlePlayBasePlans = [text($1)]
        },
        Bound("apps[0].id", 1...80) {
            $0.apps = [.init(id: text($1), name: "Reader", bundleID: "com.example.reader")]
        },
        Bound("apps[0].bundle_id", 1...155) {
            $0.apps = [.init(id: "reader", name: "Reader", bundleID: text($1))]
        },
        Bound("apps[0].package_name", 1...150) {
            $0.apps = [.init(id: "reader", name: "Reader", packageName: text($1))]
        },
        Bound("past_due_grace", 0...2_592_000_000) { $0.pastDueGrace = $1 },
        Bound("gates.minimum_age", 1...120) { $0.gates.minimumAge = Int($1) },
        Bound("gates.parental_consent_below", 1...120) {
            $0.gates.parentalConsentBelow = Int($1)
        },
        Bound("gates.age_tiers[0]", 1...120) { $0.gates.ageTiers = [Int($1)] },
    ]

    @Test("a number or a length is allowed up to its bounds, and not beyond", arguments: bounds)
    func withinBounds(_ bound: Bound) {
        func places(_ value: Int64) -> [String] {
            var catalog = Self.sound
            bound.set(&catalog, value)
            return catalog.validate().map { String($0.description.prefix { $0 != ":" }) }
        }
        #expect(places(bound.allowed.lowerBound) == [])
        #expect(places(bound.allowed.upperBound) == [])
        #expect(places(bound.allowed.upperBound + 1) == [bound.testDescription])
        #expect(places(bound.allowed.lowerBound - 1) == [bound.testDescription])
    }

    @Test("ids, currencies, storefronts and teams have exactly their letters")
    func letters() {
        let small = Set("abcdefghijklmnopqrstuvwxyz")
        let large = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let teams = large.union("0123456789")
        let ids = small.union(teams).union(".-_")
        for byte in UInt8(1)..<128 {
            let letter = Character(UnicodeScalar(byte))
            var catalog = Self.sound
            catalog.buyButtons[0].id = "x\(letter)"
            #expect(catalog.validate().isEmpty == ids.contains(letter), "id with \(byte)")
            catalog = Self.sound
            catalog.products[0].price?.currency = "us\(letter)"
            #expect(catalog.validate().isEmpty == small.contains(letter), "currency with \(byte)")
            catalog = Self.sound
            catalog.checkout.storefronts = ["US\(letter)"]
            #expect(catalog.validate().isEmpty == large.contains(letter), "store with \(byte)")
            let team = "A1B2C3D4E\(letter)"
            catalog = Self.sound
            catalog.apps = [.init(id: "a", name: "A", bundleID: "com.example.a", teamID: team)]
            #expect(catalog.validate().isEmpty == teams.contains(letter), "team with \(byte)")
        }
    }

    @Test("a mistake is found, once, where it is", arguments: mistakes)
    func oneProblem(_ mistake: Mistake) throws {
        var catalog = Self.sound
        mistake.change(&catalog)
        let problems = catalog.validate().map(\.description)
        #expect(problems.count == 1, "\(problems)")
        #expect(try #require(problems.first).hasPrefix(mistake.problem), "\(problems)")
    }

    @Test("every part of a catalog is looked at")
    func allProblems() {
        var catalog = Self.sound
        catalog.entitlements[0].name = ""
        catalog.products[0].name = ""
        catalog.buyButtons[0].quantity = 0
        catalog.pastDueGrace = -1
        #expect(
            catalog.validate().map(\.path) == [
                [.key("entitlements"), .index(0), .key("name")],
                [.key("products"), .index(0), .key("name")],
                [.key("buy_buttons"), .index(0), .key("quantity")],
                [.key("past_due_grace")],
            ]
        )
    }

    /// Apple's question takes three ages at most, and ranges of two years at least.
    @Test(
        "the ages that an app tells apart are those that Apple's question can take",
        arguments: [
            (13, [16], 18, true), (nil, [13, 15, 18], nil, true), (13, [13, 18], 18, true),
            (13, [16, 20], 18, false), (13, [14], nil, false), (nil, [18, 13], nil, false),
            (nil, [13, 13], nil, false), (17, [], 18, false), (13, nil, 18, true),
        ] as [(Int?, [Int]?, Int?, Bool)]
    )
    func ages(_ minimum: Int?, _ tiers: [Int]?, _ consent: Int?, _ isSound: Bool) {
        var catalog = Self.sound
        catalog.gates.minimumAge = minimum
        catalog.gates.ageTiers = tiers
        catalog.gates.parentalConsentBelow = consent
        let places = catalog.validate().map { String($0.description.prefix { $0 != ":" }) }
        #expect(Set(places) == (isSound ? [] : ["gates.age_tiers"]))
    }

    @Test("a parent's consent is asked above the minimum age", arguments: [(18, 13), (16, 16)])
    func consentAge(_ minimum: Int, _ consent: Int) {
        var catalog = Self.sound
        catalog.gates.minimumAge = minimum
        catalog.gates.parentalConsentBelow = consent
        let places = catalog.validate().map { String($0.description.prefix { $0 != ":" }) }
        #expect(places == ["gates.parental_consent_below"])
    }

    /// The words of `catalog.yaml`: adopted catalogs are kept for ever, so they never change.
    static let json = #"""
        {
        "buy_buttons":[
        {"call_to_action":"Buy","id":"buy_coins","product":"coins","quantity":2}],
        "checkout":{"cancel_path":"/no","storefronts":["DEU"],"success_path":"/yes"},
        "entitlements":[{"lookup_key":"pro","name":"Pro"}],
        "gates":{"minimum_age":16,"subscription_terms_url":"https://example.com/b",
        "subscription_terms_version":"1","terms_url":"https://example.com/a","terms_version":"2"},
        "ownership":"share","past_due_grace":3,
        "products":[
        {"app_store_product_id":"com.example.app.coins","coins":100,
        "consumption":{"refund_preference":"grant_prorated","sample_content_provided":true},
        "duration":"P1M","entitlements":["pro"],"id":"coins","kind":"consumable","level":3,
        "name":"100 coins","price":{"amount":999,"currency":"usd"},"promotional_offers":["offer"],
        "retired":true,"stripe_price_ids":["price_coins"],"subscription_group":"group",
        "while_active":"extend"}],
        "refunded_plan":"end","renewal_leeway":{"app_store":1,"stripe":2}
        }
        """#

    @Test("what is kept of a catalog has the words of catalog.yaml, in one form")
    func json() throws {
        let text = Self.json.replacingOccurrences(of: "\n", with: "")
        let catalog = try JSONDecoder().decode(Catalog.self, from: Data(text.utf8))
        #expect(String(decoding: try catalog.canonicalJSON(), as: UTF8.self) == text)
        let again = try JSONDecoder().decode(Catalog.self, from: Self.sound.canonicalJSON())
        #expect(again == Self.sound)
    }

    @Test("what it says of Google Play has the words of catalog.yaml, too")
    func googlePlayJSON() throws {
        var catalog = Catalog()
        catalog.renewalLeeway.googlePlay = 3
        catalog.apps = [.init(id: "a", name: "A", bundleID: "a.b", packageName: "b.c")]
        catalog.products = [
            .init(
                id: "pro",
                name: "Pro",
                kind: .autoRenewable,
                googlePlayProductID: "premium",
                googlePlayBasePlans: ["monthly"]
            )
        ]
        let text = String(decoding: try catalog.canonicalJSON(), as: UTF8.self)
        for words in [
            #""google_play":3"#, #""package_name":"b.c""#,
            #""google_play_base_plans":["monthly"],"google_play_product_id":"premium""#,
        ] {
            #expect(text.contains(words))
        }
        #expect(try JSONDecoder().decode(Catalog.self, from: Data(text.utf8)) == catalog)
    }

    @Test("Google Play's plan finds its own product, else the one without a plan")
    func googlePlayPlans() {
        func product(_ id: String, plan: String?, app: String? = nil) -> Catalog.Product {
            .init(
                id: id,
                name: id,
                kind: .autoRenewable,
                googlePlayProductID: app == nil ? "premium" : nil,
                googlePlayProductIDs: app.map { [$0: "premium"] },
                googlePlayBasePlans: plan.map { [$0, "other"] }
            )
        }
        func found(_ product: String, _ plan: String?, _ products: [Catalog.Product]) -> String? {
            Catalog(products: products).product(StoreProduct(googlePlay: product, plan: plan))?.id
        }
        let products = [product("any", plan: nil), product("month", plan: "monthly")]
        #expect(found("premium", "monthly", products) == "month")
        #expect(found("premium", "yearly", products) == "any")
        #expect(found("premium", nil, products) == "any")
        #expect(found("premium", "yearly", [product("month", plan: "monthly")]) == nil)
        #expect(found("premium", nil, [product("month", plan: "monthly")]) == nil)
        #expect(found("basic", nil, products) == nil)

        // Two apps have the same id for different products.
        let apps: [Catalog.App] = [
            .init(id: "a", name: "A", bundleID: "com.b", packageName: "com.a"),
            .init(id: "b", name: "B", bundleID: "com.a", packageName: "com.b"),
        ]
        let catalog = Catalog(
            products: [
                product("first", plan: nil, app: "a"), product("second", plan: nil, app: "b"),
            ],
            apps: apps
        )
        let sold = StoreProduct(googlePlay: "premium", plan: "monthly")
        #expect(catalog.product(sold, in: "com.a")?.id == "first")
        #expect(catalog.product(sold, in: "com.b")?.id == "second")
        #expect(catalog.app(application: "com.a", in: .appStore)?.id == "b")
        #expect(catalog.validate().filter { $0.description.contains("google_play") } == [])
    }

    @Test("what a catalog leaves out has its default")
    func defaults() throws {
        func catalog(_ json: String) throws -> Catalog {
            try JSONDecoder().decode(Catalog.self, from: Data(json.utf8))
        }
        #expect(try catalog("{}") == Catalog())
        let hour: Int64 = 3_600_000
        #expect(Catalog().renewalLeeway == .init(appStore: 2 * hour, stripe: 24 * hour))
        #expect(Catalog().renewalLeeway.googlePlay == 24 * hour)
        #expect(Catalog().pastDueGrace == 72 * hour)
        let least = #"""
            {"products":[{"id":"a","name":"A","kind":"consumable"}],
            "buy_buttons":[{"id":"b","product":"a"}]}
            """#
        var product = try #require(try catalog(least).products.first)
        #expect(product == .init(id: "a", name: "A", kind: .consumable))
        #expect(!product.isRetired && product.whileActive == .refuse && product.coins == 0)
        #expect(try catalog(least).buyButtons == [.init(id: "b", product: "a", quantity: 1)])
        product.consumption = .init()
        #expect(product.consumption?.sampleContentProvided == false)
    }
}
