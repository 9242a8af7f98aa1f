import Foundation
import Testing
import TollgateCore
import TollgateService

@Suite("Reading catalog.yaml")
struct CatalogReaderTests {
    private static let sample = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "catalog.yaml")

    @Test("the sample is sound and has what a newcomer wants to see")
    func sample() throws {
        let check = CatalogCheck(bytes: try Data(contentsOf: Self.sample), file: "catalog.yaml")
        #expect(
            check.text
                == "catalog.yaml: ok, 2 entitlements, 7 products, 2 buy buttons, 2 offerings, 1 placement"
        )
        let catalog = try #require(check.catalog)
        #expect(Set(catalog.products.map(\.kind)) == Set(Catalog.Product.Kind.allCases))
        let group = catalog.products.filter { $0.subscriptionGroup == "pro" }
        #expect(group.map(\.id) == ["pro_monthly", "pro_yearly"])
        #expect(catalog.product(id: "pass_30_days")?.duration?.iso8601 == "P30D")
        #expect(catalog.product(stripePriceID: "price_coins_550")?.coins == 550)
        #expect(
            catalog.product(appStoreProductID: "com.example.app.pro.monthly")?.entitlements
                == ["pro"]
        )
        #expect(catalog.product(id: "pro_monthly")?.promotionalOffers == ["come_back"])
        #expect(
            catalog.product(id: "coins_100")?.consumption
                == .init(refundPreference: .decline, sampleContentProvided: true)
        )
        #expect(catalog.renewalLeeway == Catalog.RenewalLeeway(googlePlay: 24 * 3_600_000))
        #expect(catalog.pastDueGrace == Catalog.defaultPastDueGrace)
        #expect(catalog.checkout == Catalog.Checkout())
    }

    @Test(
        "the instant of a move is a day in UTC, or an instant",
        arguments: ["2026-01-10", "2026-01-10T00:00:00Z", "\"2026-01-10T01:00:00+01:00\""]
    )
    func coinsSince(_ text: String) throws {
        let catalog = try CatalogReader.read("coins_since: \(text)")
        #expect(catalog.coinsSince == Instant(milliseconds: 1_768_003_200_000))
        let kept = try JSONDecoder().decode(Catalog.self, from: catalog.canonicalJSON())
        #expect(kept == catalog)
    }

    @Test("apps are read with their ids, and a product by the app that sells it")
    func apps() throws {
        let catalog = try CatalogReader.read(
            """
            apps:
              - id: reader
                name: Reader
                bundle_id: com.example.reader
                app_apple_id: 1234567890
                team_id: A1B2C3D4E5
              - {id: mac, name: Reader for the Mac, bundle_id: com.example.mac}
            products:
              - id: coins
                name: Coins
                kind: consumable
                app_store_product_ids: {reader: coins, mac: com.example.mac.coins}
                coins: 5
              - id: gems
                name: Gems
                kind: consumable
                app_store_product_ids: {mac: coins}
                coins: 50
              - id: both
                name: Both
                kind: consumable
                app_store_product_id: both
                coins: 500
            """
        )
        #expect(
            catalog.apps.first
                == Catalog.App(
                    id: "reader",
                    name: "Reader",
                    bundleID: "com.example.reader",
                    appAppleID: 1_234_567_890,
                    teamID: "A1B2C3D4E5"
                )
        )
        func product(_ id: String, _ application: String?) -> String? {
            catalog.product(StoreProduct(.appStore, id), in: application)?.id
        }
        #expect(product("coins", "com.example.reader") == "coins")
        #expect(product("coins", "com.example.mac") == "gems")
        #expect(product("com.example.mac.coins", "com.example.reader") == nil)
        // Whoever bought it in an app that is gone keeps it.
        #expect(product("com.example.mac.coins", "com.example.gone") == "coins")
        for application in ["com.example.reader", "com.example.mac", nil] {
            #expect(product("both", application) == "both")
        }
        #expect(
            catalog.product(id: "coins")?.appStoreProductID(in: "mac") == "com.example.mac.coins"
        )
        #expect(catalog.product(id: "gems")?.appStoreProductID(in: "reader") == nil)
        let json = try catalog.canonicalJSON()
        #expect(try JSONDecoder().decode(Catalog.self, from: json) == catalog)
    }

    @Test("comments and the order of keys do not change the canonical JSON")
    func canonical() throws {
        let one = try CatalogReader.read(
            "entitlements: [{lookup_key: a/b.c, name: A}]\nownership: share".replacing(
                "a/b",
                with: "a"
            )
        )
        let other = try CatalogReader.read(
            """
            # the same
            ownership: share
            entitlements:
              - name: "A"
                lookup_key: 'a.c'
            """
        )
        #expect(try one.canonicalJSON() == other.canonicalJSON())
        let json = String(decoding: try one.canonicalJSON(), as: UTF8.self)
        #expect(json.hasPrefix(#"{"buy_buttons":[],"checkout":{"cancel_path":"/checkout_redirect"#))
        #expect(
            try JSONDecoder().decode(Catalog.self, from: Data(json.utf8)) == one
        )
    }

    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let yaml: String
        let errors: [String]
        init(_ description: String, _ yaml: String, _ errors: String...) {
            (testDescription, self.yaml, self.errors) = (description, yaml, errors)
        }
    }

    static let mistakes = [
        Mistake(
            "consumables that open something for ever, or in the App Store",
            """
            entitlements: [{lookup_key: pro, name: Pro}]
            products:
              - id: day
                name: Day
                kind: consumable
                stripe_price_ids: [price_1]
                entitlements: [pro]
              - id: pack
                name: Pack
                kind: consumable
                app_store_product_id: com.example.app.pack
                coins: 5
                duration: P1D
                entitlements: [pro]
            """,
            "c.yaml:7:19: error: ‘day’ is a consumable, and what it opens would never close; add "
                + "‘duration’, like P1D, or make it non_consumable",
            "c.yaml:14:19: error: a consumable of the App Store gives coins only, and ‘pack’ opens "
                + "something; make it non_renewing or non_consumable, or remove ‘entitlements’"
        ),
        Mistake(
            "offers and preferences where there can be none",
            """
            entitlements: [{lookup_key: pro, name: Pro}]
            products:
              - id: web
                name: Web
                kind: non_renewing
                duration: P30D
                stripe_price_ids: [price_1]
                entitlements: [pro]
                promotional_offers: [half, half]
                consumption: {refund_preference: decline}
            """,
            "c.yaml:9:26: error: only auto-renewable products of the App Store have promotional "
                + "offers; remove it",
            "c.yaml:9:32: error: only auto-renewable products of the App Store have promotional "
                + "offers; remove it",
            "c.yaml:9:32: error: ‘half’ is listed twice; remove one of them",
            "c.yaml:10:18: error: only the App Store asks what was consumed; "
                + "add ‘app_store_product_id’"
        ),
        Mistake(
            "apps that share an id, and products of apps that are not there",
            """
            apps:
              - {id: reader, name: Reader, bundle_id: com.example.reader, app_apple_id: 11}
              - id: mac
                name: Reader for the Mac
                bundle_id: com.example.reader
                app_apple_id: 11
                team_id: abc
              - {id: mac, name: "", bundle_id: com.example.mac}
            products:
              - id: coins
                name: Coins
                kind: consumable
                app_store_product_ids: {reader: coins, watch: coins, mac: coins}
                coins: 5
              - id: more_coins
                name: More coins
                kind: consumable
                app_store_product_id: coins
                coins: 50
            """,
            "c.yaml:5:16: error: the bundle id ‘com.example.reader’ belongs to another app already; "
                + "App Store Connect shows each app's under App Information",
            "c.yaml:6:19: error: the Apple ID 11 belongs to another app already; "
                + "App Store Connect shows each app's under App Information",
            "c.yaml:7:14: error: a team id has ten capital letters and digits, like A1B2C3D4E5",
            "c.yaml:8:10: error: the app ‘mac’ is there twice; give one of them another id",
            "c.yaml:8:21: error: people read this name; write one",
            "c.yaml:13:51: error: there is no app ‘watch’; name the id of one under ‘apps’: "
                + "reader, mac, mac",
            "c.yaml:18:27: error: the App Store product ‘coins’ belongs to another product already; "
                + "a store's product is one product here"
        ),
        Mistake(
            "an app that is in no store, and what belongs to a store in which an app is not",
            """
            apps:
              - {id: droid, name: Droid, package_name: com.example.droid}
              - {id: phone, name: Phone, bundle_id: com.example.phone}
              - {id: nowhere, name: Nowhere, app_apple_id: 12, team_id: A1B2C3D4E5}
            products:
              - id: coins
                name: Coins
                kind: consumable
                app_store_product_ids: {droid: coins, phone: coins}
                google_play_product_ids: {droid: coins, phone: coins}
                coins: 5
            """,
            "c.yaml:4:5: error: the app ‘nowhere’ is in no store; add ‘bundle_id’ for the App Store, "
                + "or ‘package_name’ for Google Play",
            "c.yaml:4:48: error: ‘app_apple_id’ is of an app in the App Store; add its ‘bundle_id’, "
                + "or remove this",
            "c.yaml:4:61: error: ‘team_id’ is of an app in the App Store; add its ‘bundle_id’, or "
                + "remove this",
            "c.yaml:9:36: error: the app ‘droid’ has no ‘bundle_id’, so it sells nothing there; add "
                + "that to the app, or remove this id",
            "c.yaml:10:52: error: the app ‘phone’ has no ‘package_name’, so it sells nothing there; "
                + "add that to the app, or remove this id"
        ),
        Mistake(
            "ids by app without apps, beside one for all, or as one text",
            """
            products:
              - id: coins
                name: Coins
                kind: consumable
                app_store_product_id: coins
                app_store_product_ids: {reader: coins}
                coins: 5
              - id: text
                name: Text
                kind: consumable
                app_store_product_ids: coins
                coins: 5
            """,
            "c.yaml:6:28: error: ‘app_store_product_id’ is the id in every app; remove it, or these",
            "c.yaml:6:37: error: there is no app ‘reader’, since the catalog has no ‘apps’; list them, "
                + "or write ‘app_store_product_id’",
            "c.yaml:11:28: error: ‘app_store_product_ids’ has an id for each app, like {reader: "
                + "com.example.reader.pro}"
        ),
        Mistake(
            "offerings and placements",
            """
            entitlements: [{lookup_key: pro, name: Pro}]
            products:
              - id: pro
                name: Pro
                kind: non_consumable
                stripe_price_ids: [price_pro]
                entitlements: [pro]
            offerings:
              - id: standard
                products: [pro, gold]
                texts: {en: {titel: Go Pro}, German: {title: Pro}}
              - id: words
                products: [pro]
                texts: Go Pro
            placements:
              - id: paywall
                variants:
                  - {offering: standard, percent: 50%}
                  - {offering: none, percent: 50}
              - id: menu
                variants: [{offering: standard}]
            """,
            "c.yaml:11:17: error: the text in ‘en’ has no ‘title’; add it",
            "c.yaml:11:18: error: the text in ‘en’ has no key ‘titel’; did you mean ‘title’?",
            "c.yaml:14:12: error: ‘texts’ has a block for each language, like en: {title: Go Pro}",
            "c.yaml:18:39: error: ‘50%’ is not a whole number, like 100",
            "c.yaml:21:16: error: a variant has no ‘percent’; add its share of the customers, like 50"
        ),
        Mistake(
            "shares that are not 100 together, and offerings of what is not there",
            """
            entitlements: [{lookup_key: pro, name: Pro}]
            products:
              - id: pro
                name: Pro
                kind: non_consumable
                stripe_price_ids: [price_pro]
                entitlements: [pro]
            offerings:
              - id: standard
                products: [pro, gold]
              - id: other
                products: [pro]
                texts: {German: {title: Pro}}
            placements:
              - id: paywall
                variants:
                  - {offering: standard, percent: 50}
                  - {offering: none, percent: 40}
            """,
            "c.yaml:10:21: error: there is no product ‘gold’; name the id of one under ‘products’",
            "c.yaml:13:21: error: ‘German’ is no language; write one like en, ja, pt-BR or zh-Hans",
            "c.yaml:17:7: error: the shares add up to 90; change them until they are 100 together",
            "c.yaml:18:20: error: there is no offering ‘none’; name the id of one under ‘offerings’"
        ),
        Mistake(
            "a mistyped key",
            """
            entitlements:
              - lookup_key: pro
                nmae: Pro
            """,
            "c.yaml:2:5: error: an entitlement has no ‘name’; add it",
            "c.yaml:3:5: error: an entitlement has no key ‘nmae’; did you mean ‘name’?"
        ),
        Mistake(
            "a key from elsewhere",
            "prices: []",
            "c.yaml:1:1: error: the catalog has no key ‘prices’; possible are ‘apps’, ‘entitlements’, "
                + "‘products’, ‘buy_buttons’, ‘offerings’, ‘placements’, ‘renewal_leeway’, ‘past_due_grace’, "
                + "‘refunded_plan’, ‘ownership’, ‘coins_since’, ‘checkout’, ‘gates’"
        ),
        Mistake(
            "several mistakes at once, and none that only follows from another",
            """
            entitlements:
              - {lookup_key: pro, name: Pro}
            products:
              - id: monthly
                name: Monthly
                kind: autoRenewable
                app_store_product_id: com.example.monthly
                entitlements: [prro]
              - id: pass
                name: Pass
                kind: non_renewing
                stripe_price_ids: [price_pass]
                entitlements: [prro]
              - id: coins
                name: Coins
                kind: consumable
                stripe_price_ids: price_coins
                coins: 1e3
            buy_buttons:
              - id: b
                product: nothing
            ownership: hers
            past_due_grace: 3 days
            """,
            "c.yaml:6:11: error: ‘autoRenewable’ is no ‘kind’; did you mean ‘auto_renewable’?",
            "c.yaml:9:5: error: ‘pass’ is non-renewing, and the store does not say how long it "
                + "lasts; add ‘duration’, like P30D",
            "c.yaml:13:20: error: there is no entitlement ‘prro’; name the lookup key of one under "
                + "‘entitlements’",
            "c.yaml:17:23: error: ‘stripe_price_ids’ is a list; begin each element with a hyphen",
            "c.yaml:18:12: error: ‘1e3’ is not a whole number, like 100",
            "c.yaml:22:12: error: ‘hers’ is no ‘ownership’; possible are ‘keep’, ‘transfer’, "
                + "‘share’",
            "c.yaml:23:17: error: ‘3 days’ is not a length of time; write it like 90s, 30m, 2h or "
                + "3d"
        ),
        Mistake(
            "an unknown product behind a button",
            """
            buy_buttons:
              - id: b
                product: nothing
            """,
            "c.yaml:3:14: error: there is no product ‘nothing’; name the id of one under "
                + "‘products’"
        ),
        Mistake(
            "a key without a value",
            """
            products:
              - id: p
                name:
                kind: non_consumable
                duration: 30 days
            """,
            "c.yaml:3:10: error: ‘name’ is a text; write one, or remove the key",
            "c.yaml:5:15: error: ‘30 days’ is not a duration; write it like P1W, P30D, P1M or P1Y"
        ),
        Mistake(
            "a key twice",
            "ownership: keep\nownership: share",
            "c.yaml:1:1: error: ‘ownership’ is there more than once in one place; keep one"
        ),
        Mistake(
            "a list where a block belongs",
            "- products",
            "c.yaml:1:1: error: the catalog is a block of keys and values"
        ),
        Mistake(
            "no catalog at all",
            "# nothing\n",
            "c.yaml:1:1: error: the catalog is empty; start from the sample catalog.yaml"
        ),
        Mistake(
            "an endless length of time",
            "past_due_grace: 9223372036854775807d",
            "c.yaml:1:17: error: ‘9223372036854775807d’ is not a length of time; write it like "
                + "90s, 30m, 2h or 3d"
        ),
        Mistake(
            "a day that is none",
            "coins_since: 2026-02-30",
            "c.yaml:1:14: error: ‘2026-02-30’ is not a day like 2026-05-31, or an instant like "
                + "2026-05-31T18:00:00Z"
        ),
    ]

    @Test("every mistake is named with its line and what to do", arguments: mistakes)
    func errors(_ mistake: Mistake) {
        let check = CatalogCheck(bytes: mistake.yaml.utf8, file: "c.yaml")
        #expect(check.errors.map(\.description) == mistake.errors)
        #expect(!check.isOK)
        #expect(check.text.hasSuffix(mistake.errors.count == 1 ? ": 1 error" : " errors"))
    }

    @Test(
        "what is no YAML is refused with its line",
        arguments: [
            ("products:\n\t- id: x", 2), ("a: [1", 2), ("ownership: \"keep", 1), ("a: *b", 1),
            ("ownership: keep\n---\nownership: keep", 2), ("ownership: \u{1}", 1),
            (String(repeating: "[", count: 2000), 1),
        ]
    )
    func noYAML(text: String, line: Int) throws {
        let check = CatalogCheck(bytes: text.utf8, file: "c.yaml")
        let error = try #require(check.errors.first)
        #expect(check.errors.count == 1)
        #expect(error.line == line, "\(error)")
        #expect(error.message.hasPrefix("this is not YAML"), "\(error)")
    }

    @Test("bytes that are no UTF-8, and files that are far too large, are refused")
    func noText() {
        #expect(CatalogCheck(bytes: [0xFF, 0x41], file: "c").errors.count == 1)
        let large = repeatElement(UInt8(ascii: "#"), count: CatalogReader.sizeLimit + 1)
        #expect(CatalogCheck(bytes: large, file: "c").errors.count == 1)
    }
}
