import AppStoreConnector
import AppStoreSimulator
import Foundation
import HTTPTypes
import HummingbirdTesting
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import BillingSDK

@Suite("Several apps")
struct SeveralAppsTests {
    @Test(
        "What is bought in one app is had in the other, and a product counts by the app that sold it",
        arguments: Backend.allCases
    )
    func bought(on backend: Backend) async throws {
        try await TwoApps.run(on: backend) { apps in
            let (customer, token) = try await apps.customer()
            try await apps.buy("com.example.reader.pro", in: apps.reader, token: token)
            let session = try await apps.session(of: customer, app: "studio")
            #expect(session.json["app"].string == "studio")
            let list = try await apps.server.send(
                .get,
                "/v1/customers/\(customer)/entitlements",
                as: session.json["client_secret"].string,
                headers: [APIHeader.publishableKey: TwoApps.studioKey]
            )
            let entitlement = try #require(list.json["data"].array?.first)
            #expect(entitlement["lookup_key"].string == "pro")
            #expect(
                entitlement["purchase"].string?
                    .hasPrefix("app_store/production/com.example.reader/") == true
            )
            // Ids are unique within an app: `coins` is another product in each.
            try await apps.buy("coins", in: apps.reader, token: token)
            #expect(try await apps.coins(of: customer) == 100)
            try await apps.buy("coins", in: apps.studio, token: token)
            #expect(try await apps.coins(of: customer) == 600)
            let scratch = try Backend.sqlite.makeDatabase().open()
            let rebuilt = try await Rebuild(of: apps.server.tollgate.store.driver, into: scratch)
                .verify()
            await scratch.close()
            #expect(rebuilt.isIdentical)
        }
    }

    @Test("A notification for an app that is not listed is refused, and says which and what to do")
    func unlisted() async throws {
        try await TwoApps.run { apps in
            let (_, token) = try await apps.customer()
            let other = Catalog.App(id: "other", name: "", bundleID: "com.example.other")
            let stranger = try TwoApps.store(of: other, 3, apps.server.clock)
            _ = try await stranger.buy(
                "coins",
                customer: try await stranger.createCustomer().id,
                appAccountToken: token
            )
            let before = try await apps.server.rowCounts()
            let newest = try #require(await stranger.notifications().last)
            let answer = try await apps.server.deliver(newest.signedPayload)
            #expect(answer.status == 404 && answer.code == "app_unknown")
            #expect(
                answer.json["error"]["message"].string
                    == "the payload is for an app that is not among ‘apps’ in the catalog; add it there (com.example.other)"
            )
            #expect(try await apps.server.rowCounts() == before)
        }
    }

    @Test("T4: a notification of one app that bears another's ids is refused")
    func mixed() async throws {
        try await TwoApps.run { apps in
            let (_, token) = try await apps.customer()
            try await apps.buy("com.example.studio.pro", in: apps.studio, token: token)
            let before = try await apps.server.rowCounts()
            let number = try await apps.newest(
                of: apps.studio,
                replacing: "\"appAppleId\":2222222222",
                with: "\"appAppleId\":1111111111"
            )
            let wrongNumber = try await apps.server.deliver(number)
            #expect(wrongNumber.status == 404 && wrongNumber.code == "app_unknown")
            let outer = try await apps.newest(
                of: apps.studio,
                replacing: "\"bundleId\":\"com.example.studio\"",
                with: "\"bundleId\":\"com.example.reader\""
            )
            #expect(try await apps.server.deliver(outer).status == 400)
            #expect(try await apps.server.rowCounts() == before)
        }
    }

    @Test("Each app opens the links of its own checkouts; links that name no app are the first's")
    func association() async throws {
        try await TwoApps.run { apps in
            let answer = try await apps.server.get(
                "/.well-known/apple-app-site-association",
                as: nil
            )
            let details = try #require(answer.json["applinks"]["details"].array)
            #expect(
                details.map { $0["appIDs"].array?.first?.string } == [
                    "ABCDE12345.com.example.reader", "ABCDE12345.com.example.studio",
                ]
            )
            let reader = try #require(details[0]["components"].array)
            #expect(reader.count == 2)
            #expect(reader[0]["?"]["app"].string == "studio")
            #expect(reader[0]["exclude"].bool == true)
            #expect(reader[1]["/"].string == "/checkout_redirect*")
            let studio = try #require(details[1]["components"].array)
            #expect(studio.count == 1 && studio[0]["?"]["app"].string == "studio")

            for (key, query) in [(TwoApps.readerKey, ""), (TwoApps.studioKey, "app=studio")] {
                _ = try await apps.server.post("/v1/buy_buttons/buy_pro/checkout", as: key)
                let form = try #require(apps.server.stripe.seen.last).form
                #expect(
                    form["cancel_url"]?.hasSuffix("/cancel" + (query.isEmpty ? "" : "?" + query))
                        == true
                )
                #expect(
                    form["success_url"]?.hasSuffix(
                        "{CHECKOUT_SESSION_ID}" + (query.isEmpty ? "" : "&" + query)
                    ) == true
                )
                let button = try await apps.server.get("/v1/buy_buttons/buy_pro", as: key)
                #expect(
                    button.json["product"]["app_store_product_id"].string
                        == (query.isEmpty ? "com.example.reader.pro" : "com.example.studio.pro")
                )
            }
        }
    }

    @Test(
        "T4: a session for one app is refused beside the key of another and beside a removed key, and needs an app that is listed"
    )
    func sessions() async throws {
        try await TwoApps.run { apps in
            let (customer, _) = try await apps.customer()
            let unknown = try await apps.session(of: customer, app: "watch")
            #expect(unknown.status == 400 && unknown.code == "parameter_invalid")
            #expect(unknown.json["error"]["message"].string?.contains("reader, studio") == true)
            let made = try await apps.session(of: customer, app: "reader")
            let secret = try #require(made.json["client_secret"].string)
            let path = "/v1/customers/\(customer)/entitlements"
            func ask(_ key: String?) async throws -> Answer {
                try await apps.server.send(
                    .get,
                    path,
                    as: secret,
                    headers: key.map { [APIHeader.publishableKey: $0] } ?? [:]
                )
            }
            #expect(try await ask(nil).status == 200)
            #expect(try await ask(TwoApps.readerKey).status == 200)
            #expect(try await ask(TwoApps.formerReaderKey).status == 200)
            let refused = try await ask(TwoApps.studioKey)
            #expect(refused.status == 403 && refused.code == "app_mismatch")
            let removed = try await ask("pk_test_removed")
            #expect(removed.status == 401 && removed.code == "invalid_key")
            let studios = try await apps.session(of: customer, app: "studio")
            let former = try await apps.server.send(
                .get,
                path,
                as: studios.json["client_secret"].string,
                headers: [APIHeader.publishableKey: TwoApps.formerReaderKey]
            )
            #expect(former.status == 403 && former.code == "app_mismatch")
            let beside = try await apps.server.get(
                "/v1/catalog",
                as: TwoApps.studioKey,
                session: secret
            )
            #expect(beside.code == "app_mismatch")
            // A session for no app serves all.
            let any = try await apps.session(of: customer, app: nil)
            #expect(any.json["app"].string == nil)
        }
    }

    @Test("T4: an offline answer of one app is no answer in the other")
    func offline() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("apps-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TwoApps.run { apps in
            let (_, token) = try await apps.customer()
            try await apps.buy("com.example.reader.pro", in: apps.reader, token: token)
            let app = try AppOnServer(
                apps.server,
                publishableKey: TwoApps.readerKey,
                cache: folder
            )
            app.connectBackend()
            #expect(try await app.keys() == ["pro"])
            let session = try await app.session(of: "ada")
            // Somebody copies the files of one app to the other.
            try FileManager.default.copyItem(
                at: folder.appendingPathComponent(TwoApps.readerKey),
                to: folder.appendingPathComponent(TwoApps.studioKey)
            )
            let cases: [(String, [String]?)] = [
                (TwoApps.readerKey, ["pro"]), (TwoApps.studioKey, nil),
            ]
            for (key, expected) in cases {
                let launched = try AppOnServer(apps.server, publishableKey: key, cache: folder)
                launched.takeDown()
                launched.billing.setCustomerSessionProvider { session }
                let keys = try? await launched.keys()
                #expect(keys == expected, "\(key)")
            }
        }
    }

    @Test("Each app is asked about with a key that names it", arguments: Backend.allCases)
    func reconciled(on backend: Backend) async throws {
        try await TwoApps.run(on: backend) { apps in
            let (customer, token) = try await apps.customer()
            for (product, store) in [
                ("com.example.reader.pro", apps.reader), ("coins", apps.studio),
            ] {
                try await apps.buy(product, in: store, token: token, isLost: true)
            }
            await apps.server.clock.advance(to: apps.server.clock.now + 120_000)
            let appStore = apps.server.tollgate.appStore
            #expect(await appStore.reconcileIfDue(every: 900))
            #expect(Set(apps.asked.all) == ["reader", "studio"])
            #expect(try await apps.server.access(of: customer) == ["pro": "payment"])
            #expect(try await apps.coins(of: customer) == 500)
            let report = try #require(
                try await appStore.reconcile(in: .production, of: TwoApps.studio.bundleID)
            )
            #expect(report.application == TwoApps.studio.bundleID && report.foreign == 0)
            await #expect(throws: Refusal.self) {
                try await appStore.reconcile(in: .production, of: "com.example.other")
            }
        }
    }

    @Test(
        "An app goes on where it was while it was the only one, also where the place names no app",
        arguments: [true, false]
    )
    func joined(namesItsApp: Bool) async throws {
        try await TwoApps.run { apps in
            let appStore = apps.server.tollgate.appStore
            let (store, wall) = (apps.server.tollgate.store, apps.server.wall.now)
            await apps.server.clock.advance(to: apps.server.clock.now + 86_400_000)
            for app in [TwoApps.reader, TwoApps.studio] {
                _ = try await appStore.reconcile(in: .production, of: app.bundleID)
            }
            let kept = try #require(
                try await store.cursors.read("reconcile/app_store/production/com.example.reader")
            )
            let other = try #require(
                try await store.cursors.read("reconcile/app_store/production/com.example.studio")
            )
            #expect(kept.body != other.body)
            let name = "\"application\":\"com.example.reader\""
            let named = String(decoding: kept.body, as: UTF8.self)
            // Earlier programs wrote no name.
            let unnamed = named.replacing(",\(name)", with: "").replacing("\(name),", with: "")
            let place = namesItsApp ? named : unnamed
            #expect(named.contains(name) && !unnamed.contains(name))
            // As one app left it, in another database.
            try await TwoApps.run { later in
                let store = later.server.tollgate.store
                try await store.cursors.keep(
                    "reconcile/app_store/production",
                    Array(place.utf8),
                    now: wall
                )
                await later.server.clock.advance(to: later.server.clock.now + 2 * 86_400_000)
                let appStore = later.server.tollgate.appStore
                let reader = try #require(
                    try await appStore.reconcile(in: .production, of: TwoApps.reader.bundleID)
                )
                let studio = try #require(
                    try await appStore.reconcile(in: .production, of: TwoApps.studio.bundleID)
                )
                // Only the reader's purchases need not be read from the beginning.
                #expect(reader.historiesAsOf.map { $0 < reader.completeUntil - 43_200_000 } == true)
                #expect(studio.historiesAsOf.map { $0 > studio.completeUntil - 43_200_000 } == true)
            }
        }
    }

    @Test("Passes of an app that was removed are not late: their age is no metric any more")
    func removed() async throws {
        try await TwoApps.run { apps in
            let server = apps.server
            let names = [
                "reconcile/app_store/production/com.example.reader",
                "reconcile/app_store/production/com.example.removed",
                // The only app of earlier settings; a store that was connected then.
                "reconcile/app_store/production", "reconcile/google_play/com.example.android",
                "reports/google_play", "import/one.csv",
            ]
            for name in names {
                try await server.tollgate.store.cursors.keep(name, [], now: server.wall.now)
            }
            let text = try await server.get("/metrics", as: nil).text
            let shown = names.filter { text.contains("tollgate_work_age_seconds{work=\"\($0)\"}") }
            #expect(
                shown == ["reconcile/app_store/production/com.example.reader", "import/one.csv"]
            )
        }
    }

    @Test("Questions about an app that was removed wait, and are not late")
    func removedQuestions() async throws {
        try await TwoApps.run { apps in
            let server = apps.server
            func ask(about app: String) async throws {
                try await server.tollgate.store.questions.want(
                    Wanted(kind: .subscriptionStatus, object: "1"),
                    about: Purchase.Key(
                        store: .appStore,
                        environment: .production,
                        application: app,
                        id: "1"
                    ),
                    at: await server.tollgate.clocks.now()
                )
            }
            let age = "tollgate_wanted_oldest_seconds{"
            try await ask(about: "com.example.removed")
            await server.clock.advance(to: server.clock.now + 7_200_000)
            var text = try await server.get("/metrics", as: nil).text
            #expect(text.contains("tollgate_wanted{kind=") && !text.contains(age))
            try await ask(about: "com.example.reader")
            await server.clock.advance(to: server.clock.now + 60_000)
            text = try await server.get("/metrics", as: nil).text
            #expect(text.contains("\(age)kind=\"subscription_status\"} 60\n"))
        }
    }

    @Test("A transaction of one app signs no introductory offer of another")
    func offers() async throws {
        try await TwoApps.run { apps in
            let (customer, token) = try await apps.customer()
            try await apps.buy("com.example.studio.pro", in: apps.studio, token: token)
            func sign(_ app: Catalog.App) async throws -> API.OfferSignature {
                try await apps.server.tollgate.appStore.offers.sign(
                    API.OfferSignatureRequest(
                        type: .introductoryOfferEligibility,
                        product: "pro_monthly"
                    ),
                    for: Customer.ID(customer),
                    of: app,
                    in: .production
                )
            }
            #expect(try await sign(TwoApps.studio).productID == "com.example.studio.pro")
            let refusal = await #expect(throws: Refusal.self) { try await sign(TwoApps.reader) }
            #expect(refusal?.error.code == "offer_ineligible")
        }
    }

    @Test("A plan in Google Play is prepared under the asking app's id, by our id or that one")
    func preparedInGooglePlay() async throws {
        try await TwoApps.run { apps in
            let store = apps.server.tollgate.store
            var catalog = store.history.current
            catalog.products[0].googlePlayProductIDs = ["reader": "pro.fast", "studio": "pro.slow"]
            try await store.adopt(catalog, at: await apps.server.tollgate.clocks.now())
            let (customer, _) = try await apps.customer()
            let session = try await apps.session(of: customer, app: nil)
            let secret = try #require(session.json["client_secret"].string)
            for (key, product, id) in [
                (TwoApps.readerKey, "pro_monthly", "pro.fast"),
                (TwoApps.studioKey, "pro_monthly", "pro.slow"),
                (TwoApps.studioKey, "pro.slow", "pro.slow"), (nil, "pro_monthly", "pro.fast"),
                (TwoApps.readerKey, "pro.slow", nil),
            ] as [(String?, String, String?)] {
                let answer = try await apps.server.send(
                    .post,
                    "/v1/google_play/purchase_preparations",
                    as: secret,
                    json: "{\"product\":\"\(product)\"}",
                    headers: key.map { [APIHeader.publishableKey: $0] } ?? [:]
                )
                #expect(answer.status == (id == nil ? 404 : 200), "\(product)")
                #expect(answer.json["google_play_product_id"].string == id)
            }
        }
    }

    @Test("A plan in the studio's App Store is prepared under the studio's id")
    func prepared() async throws {
        try await TwoApps.run { apps in
            let (customer, _) = try await apps.customer()
            let session = try await apps.session(of: customer, app: nil)
            let secret = try #require(session.json["client_secret"].string)
            for (key, id) in [
                (TwoApps.readerKey, "com.example.reader.pro"),
                (TwoApps.studioKey, "com.example.studio.pro"),
            ] {
                let answer = try await apps.server.send(
                    .post,
                    "/v1/app_store/purchases",
                    as: secret,
                    json: "{\"product\":\"pro_monthly\"}",
                    headers: [APIHeader.publishableKey: key]
                )
                #expect(answer.json["app_store_product_id"].string == id)
                let catalog = try await apps.server.get("/v1/catalog", as: key)
                let token = try #require(catalog.json["signed_catalog"].string)
                let claims = try #require(
                    JSONWebToken(compact: token).flatMap {
                        try? APIJSON.decode(API.SignedCatalog.self, from: $0.payload)
                    }
                )
                #expect(claims.azp == key)
                #expect(claims.products.first?.appStoreProductID == id)
            }
            let foreign = try await apps.server.send(
                .post,
                "/v1/app_store/purchases",
                as: secret,
                json: "{\"product\":\"coins_studio\"}",
                headers: [APIHeader.publishableKey: TwoApps.readerKey]
            )
            #expect(foreign.status == 404)
        }
    }
}

extension TwoApps {
    fileprivate func coins(of customer: String) async throws -> Int64? {
        try await server.get("/v1/customers/\(customer)/coins").json["balance"].integer
    }
}
