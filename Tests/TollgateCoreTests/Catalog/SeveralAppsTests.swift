import Testing
import TollgateCore

@Suite("A catalog of several apps")
struct SeveralAppsTests {
    typealias Mistake = CatalogTests.Mistake

    /// One app in both stores, one in the App Store, one in Google Play.
    static let sound = Catalog(
        products: [
            coins("coins", appStore: ["reader": "coins"], googlePlay: ["droid": "coins"]),
            coins("mac_coins", appStore: ["mac": "coins"], googlePlay: ["reader": "coins"]),
        ],
        apps: [
            .init(
                id: "reader",
                name: "Reader",
                bundleID: "com.example.reader",
                appAppleID: 1,
                teamID: "A1B2C3D4E5",
                packageName: "com.example.reader"
            ),
            .init(
                id: "mac",
                name: "Reader for the Mac",
                bundleID: "com.example.mac",
                appAppleID: 1_234_567_891,
                teamID: "A1B2C3D4E5"
            ),
            .init(id: "droid", name: "Droid", packageName: "com.example.droid"),
        ]
    )

    private static func coins(
        _ id: String,
        appStore: [String: String],
        googlePlay: [String: String]
    ) -> Catalog.Product {
        .init(
            id: id,
            name: "Coins",
            kind: .consumable,
            appStoreProductIDs: appStore,
            googlePlayProductIDs: googlePlay,
            coins: 100
        )
    }

    @Test("two apps may sell one id, for different products, and one team signs several apps")
    func noProblems() {
        #expect(Self.sound.validate() == [])
    }

    @Test("an app is found by its own id")
    func lookup() {
        #expect(Self.sound.app(id: "mac")?.bundleID == "com.example.mac")
        #expect(Self.sound.app(id: "watch") == nil)
    }

    @Test("reports tell apps apart where there are two", arguments: 0...3)
    func isOne(of count: Int) {
        #expect(Catalog(apps: Array(Self.sound.apps.prefix(count))).hasSeveralApps == (count > 1))
    }

    static let mistakes = [
        Mistake("app id twice", "apps[3].id: the app ‘mac’ is there twice; give one of them") {
            $0.apps.append(.init(id: "mac", name: "Other", bundleID: "com.example.other"))
        },
        Mistake("app without a name", "apps[1].name: people read this name; write one") {
            $0.apps[1].name = " "
        },
        Mistake("bundle id twice", "apps[1].bundle_id: the bundle id ‘com.example.reader’ belongs")
        { $0.apps[1].bundleID = "com.example.reader" },
        Mistake("package name twice", "apps[2].package_name: the package name ‘com.example.rea") {
            $0.apps[2].packageName = "com.example.reader"
        },
        Mistake("Apple ID twice", "apps[1].app_apple_id: the Apple ID 1 belongs to another app") {
            $0.apps[1].appAppleID = 1
        },
        Mistake("Apple ID 0", "apps[1].app_apple_id: an app's number is above 0; App Store Conn") {
            $0.apps[1].appAppleID = 0
        },
        Mistake("team id of nine letters", "apps[1].team_id: a team id has ten capital letters") {
            $0.apps[1].teamID = "A1B2C3D4E"
        },
        Mistake("team id in small letters", "apps[1].team_id: a team id has ten capital letters") {
            $0.apps[1].teamID = "a1b2c3d4e5"
        },
        Mistake("app in no store", "apps[2]: the app ‘droid’ is in no store; add ‘bundle_id’ for") {
            $0.products[0].googlePlayProductIDs = nil
            $0.apps[2].packageName = nil
        },
        Mistake("Apple ID of Android's", "apps[2].app_apple_id: ‘app_apple_id’ is of an app in") {
            $0.apps[2].appAppleID = 2
        },
        Mistake("team id of Android's", "apps[2].team_id: ‘team_id’ is of an app in the App Sto") {
            $0.apps[2].teamID = "A1B2C3D4E5"
        },
        Mistake(
            "product of an app that is not listed",
            "products[0].app_store_product_ids.watch: there is no app ‘watch’; "
                + "name the id of one under ‘apps’: reader, mac, droid"
        ) { $0.products[0].appStoreProductIDs?["watch"] = "coins" },
        Mistake(
            "product in Google Play of an app that is not there",
            "products[0].google_play_product_ids.mac: the app ‘mac’ has no ‘package_name’"
        ) { $0.products[0].googlePlayProductIDs?["mac"] = "coins" },
        Mistake(
            "product in the App Store of an app that is not there",
            "products[0].app_store_product_ids.droid: the app ‘droid’ has no ‘bundle_id’"
        ) { $0.products[0].appStoreProductIDs?["droid"] = "coins" },
        Mistake(
            "id in every app beside an app's own",
            "products[0].app_store_product_ids: ‘app_store_product_id’ is the id in every app; "
        ) { $0.products[0].appStoreProductID = "all_coins" },
        Mistake(
            "id of one app for two products",
            "products[1].app_store_product_ids.reader: the App Store product ‘coins’ belongs to"
        ) { $0.products[1].appStoreProductIDs?["reader"] = "coins" },
    ]

    @Test("a mistake is found, once, where it is", arguments: mistakes)
    func oneProblem(_ mistake: Mistake) throws {
        var catalog = Self.sound
        mistake.change(&catalog)
        let problems = catalog.validate().map(\.description)
        #expect(problems.count == 1, "\(problems)")
        #expect(try #require(problems.first).hasPrefix(mistake.problem), "\(problems)")
    }

    @Test("ids of apps without a list of apps, in the order of their names")
    func noApps() {
        let ids = Dictionary(uniqueKeysWithValues: "hdgaecfb".map { ("\($0)", "coins") })
        let catalog = Catalog(products: [Self.coins("coins", appStore: ids, googlePlay: [:])])
        let problems = catalog.validate().map(\.description)
        #expect(problems.count == 8)
        for (app, problem) in zip("abcdefgh", problems) {
            let place = "products[0].app_store_product_ids.\(app): there is no app ‘\(app)’, since "
            #expect(problem.hasPrefix(place + "the catalog has no ‘apps’; list them"))
        }
    }
}
