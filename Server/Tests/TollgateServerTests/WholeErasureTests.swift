import AppStoreSimulator
import Crypto
import Foundation
import HTTPTypes
import SandboxClock
import Storage
import StripeConnector
import StripeSimulator
import Synchronization
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// D4: an erasure takes every value that was ever given for a customer, from every table, and from
/// the files.
@Suite("A whole erasure")
struct WholeErasureTests {
    /// Somebody of whom everything is known.
    private struct Person: Sendable {
        let id: String
        /// Each value by what it is.
        var values: [String: String]
        let purchases: [String]
    }

    @Test(
        "Each value that was ever given is gone from every table, and stays so",
        arguments: Backend.allCases
    )
    func everything(_ backend: Backend) async throws {
        let file = Mutex<String?>(nil)
        let leaving = Mutex<[String: String]>([:])
        try await Shop.run(on: backend) { shop in
            let driver = shop.server.tollgate.store.driver
            let ann = try await Self.person("ann", in: shop)
            let bob = try await Self.person("bob", in: shop)
            // Nothing is asked of Stripe between this and the erasure.
            for person in [ann, bob] { try await Self.keep(person.values, of: person.id, in: shop) }
            let before = try await WholeDatabase(driver)
            for person in [ann, bob] {
                for (what, value) in person.values where !Self.hashed.contains(what) {
                    #expect(before.tables(with: value) != [], "\(what) \(value)")
                }
            }
            let gone = try await shop.server.send(.delete, "/v1/customers/\(ann.id)")
            #expect(gone.status == 200)
            try await Self.expectNothing(of: ann, in: driver)

            // What stores, devices and the app's backend say afterwards.
            try await shop.wait(days: 32)
            try await shop.server.deliverNotifications()
            try await Self.park(ann.values, in: shop, again: true)
            let again = try await shop.server.post(
                "/v1/customers",
                Self.profile(ann.values),
                idempotencyKey: "profile of ann"
            )
            #expect(again.status == 410 && again.code == "customer_erased")
            await shop.server.tollgate.events.publish()
            try await Self.expectNothing(of: ann, in: driver)

            // Nobody else lost anything, and what was paid is in the books.
            let after = try await WholeDatabase(driver)
            // Stripe's opinion was asked anew.
            for (what, value) in bob.values where !Self.hashed.contains(what) && what != "opinion" {
                #expect(after.tables(with: value) != [], "\(what) \(value)")
            }
            #expect(try await shop.entitlements(of: bob.id).contains("pro"))
            for purchase in ann.purchases {
                let key = try #require(Purchase.Key(canonical: purchase))
                #expect(try await shop.server.tollgate.store.record(of: key) != nil)
            }
            let scratch = try await Backend.sqlite.open()
            let report = try await Rebuild(of: driver, into: scratch).verify()
            #expect(report.isIdentical, "\(report.differences)")
            await scratch.close()
            if backend == .sqlite {
                let path = try await driver.read { connection in
                    try connection.query("SELECT file FROM pragma_database_list").first?.text(0)
                }
                file.withLock { $0 = path }
            }
            leaving.withLock { $0 = ann.values }
        }
        // Closed: what SQLite's log still had is in the file.
        guard let path = file.withLock({ $0 }) else { return }
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path + suffix))
            for (what, value) in leaving.withLock({ $0 }) {
                #expect(bytes.range(of: Data(value.utf8)) == nil, "\(what) in '\(suffix)'")
            }
        }
    }

    @Test("A purchase that somebody else restored does not tell whose it was")
    func restoredElsewhere() async throws {
        try await TestServer.run(catalog: { $0.ownership = .transfer }) { server in
            let token = UUID()
            let ann = try await server.customer("ann", token: token)
            let bob = try await server.customer("bob")
            let account = try await server.appStore.createCustomer(
                appAccountToken: token.uuidString.lowercased()
            )
            let bought = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: account.id
            )
            try await server.deliverNotifications()
            await server.clock.advance(to: server.clock.now + 1000)
            let restored = try await server.present(
                bought.jws,
                mode: "restored",
                session: server.session(of: bob)
            )
            #expect(restored.status == 200)
            let driver = server.tollgate.store.driver
            let text = token.uuidString.lowercased()
            #expect(try await WholeDatabase(driver).tables(with: text).count >= 3)
            #expect(try await server.send(.delete, "/v1/customers/\(ann)").status == 200)
            #expect(try await WholeDatabase(driver).tables(with: text) == [])
            try await server.pass(days: 40)
            #expect(try await WholeDatabase(driver).tables(with: text) == [])
            #expect(try await server.access(of: bob)["pro"] == "payment")
            let scratch = try await Backend.sqlite.open()
            let report = try await Rebuild(of: driver, into: scratch).verify()
            #expect(report.isIdentical, "\(report.differences)")
            await scratch.close()
        }
    }

    @Test(
        "What earlier programs left of who was erased goes when this one starts",
        arguments: Backend.allCases
    )
    func earlier(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let token = UUID()
            let id = try await server.customer("ann", token: token)
            let account = try await server.appStore.createCustomer(
                appAccountToken: token.uuidString.lowercased()
            )
            for product in ["pro.monthly", "coins100"] {
                _ = try await server.appStore.buy(
                    "com.example.app.\(product)",
                    customer: account.id
                )
            }
            try await server.deliverNotifications()
            let driver = server.tollgate.store.driver
            // As an earlier program erased: profile, answer, bodies.
            try await driver.write { connection in
                try connection.execute("UPDATE profile SET body = $1", [.blob([])])
                try connection.execute(
                    "UPDATE customer SET answer = $1 WHERE length(answer) > 0",
                    [.blob([0xF6])]
                )
                try connection.execute("UPDATE journal SET body = NULL")
                try connection.execute(
                    "UPDATE meta SET name = 'erasures_complete' WHERE name = 'erasures_complete_3'"
                )
            }
            let text = token.uuidString.lowercased()
            #expect(try await WholeDatabase(driver).tables(with: text) == ["journal", "purchase"])
            _ = try await RecordStore(driver)
            #expect(try await WholeDatabase(driver).tables(with: text) == [])
            #expect(try await server.get("/v1/customers/\(id)").status == 410)
            try await server.pass(days: 40)
            #expect(try await WholeDatabase(driver).tables(with: text) == [])
        }
    }

    @Test(
        "Messages that an earlier program kept go with whom they are about",
        arguments: Backend.allCases,
        ["erasures_complete", "erasures_complete_2"]
    )
    func earlierMessages(_ backend: Backend, completed: String) async throws {
        try await Shop.run(on: backend) { shop in
            let driver = shop.server.tollgate.store.driver
            let ann = try await Self.person("ann", in: shop)
            try await Self.keep(ann.values, of: ann.id, in: shop)
            let unknown = try await driver.write { connection in
                let count = try connection.execute("UPDATE journal SET person = NULL")
                try connection.execute(
                    "UPDATE meta SET name = $1 WHERE name = 'erasures_complete_3'",
                    [.text(completed)]
                )
                return count
            }
            #expect(unknown > 0)
            _ = try await RecordStore(driver)
            let gone = try await shop.server.send(.delete, "/v1/customers/\(ann.id)")
            #expect(gone.status == 200)
            try await Self.expectNothing(of: ann, in: driver)
        }
    }

    /// A session of a plan that names nobody of the app's, such as a Payment Link's, has no facts: only
    /// Stripe's customer leads to it.
    @Test(
        "A Checkout Session that was read goes with its payer, before the erasure and after it",
        arguments: Backend.allCases
    )
    func sessionsOfPlans(_ backend: Backend) async throws {
        // No events: sessions are known from reads alone.
        try await Shop.run(on: backend, hasWebhook: false) { shop in
            let server = shop.server
            let driver = server.tollgate.store.driver
            let id = try await server.customer("ann")
            let own = try await shop.buy("coins_100", for: id)
            try await server.tollgate.stripe.reads.fulfil(checkoutSession: own)
            let payer = try await shop.stripeCustomer(of: id)
            /// Buys a plan, and has the server read the session.
            func buy(as email: String) async throws {
                let session = try await shop.call(
                    "POST",
                    "/v1/checkout/sessions",
                    "mode=subscription&line_items[0][price]=price_pro_monthly"
                        + "&line_items[0][quantity]=1&customer=\(payer)"
                        + "&metadata[note]=\(email)&success_url=https://shop.example/"
                )
                let page = try #require(session["id"].string)
                _ = try await shop.stripe.pay(checkoutSession: page)
                try await server.tollgate.stripe.reads.fulfil(checkoutSession: page)
            }
            try await buy(as: "before@example.com")
            let before = try await WholeDatabase(driver)
            #expect(before.tables(with: "before@example.com") == ["journal"])
            #expect(try await server.send(.delete, "/v1/customers/\(id)").status == 200)
            #expect(try await WholeDatabase(driver).tables(with: "before@example.com") == [])
            try await buy(as: "after@example.com")
            #expect(try await WholeDatabase(driver).tables(with: "after@example.com") == [])
        }
    }

    @Test("An answer that was under way is not kept", arguments: Backend.allCases)
    func underWay(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let store = server.tollgate.store
            let id = Customer.ID(try await server.customer())
            let key = RowKey("test", "reply")
            let claim = try await store.replies.claim(
                key,
                bodyHash: key,
                customer: nil,
                limit: 9,
                now: Instant(milliseconds: TestServer.start)
            )
            #expect(claim == .first)
            #expect(try await server.send(.delete, "/v1/customers/\(id)").status == 200)
            try await store.replies.keep(key, status: 200, reply: [1], customer: id)
            let isKept = try await store.sessions.keep("s", customer: id, body: [1], expires: 1)
            #expect(!isKept)
            let rows = try await store.driver.read { connection in
                try connection.query(
                    "SELECT count(*) FROM idempotency UNION ALL SELECT count(*) FROM session"
                ).map { try $0.int64(0) }
            }
            #expect(rows == [0, 0])
        }
    }

    // MARK: - A person

    /// What is kept as a hash only.
    private static let hashed: Set<String> = ["address", "device"]

    private static func profile(_ values: [String: String]) -> String {
        """
        {"app_user_id":"\(values["user"] ?? "")","email":"\(values["email"] ?? "")",\
        "app_account_token":"\(values["token"] ?? "")",\
        "metadata":{"name":"\(values["metadata"] ?? "")"}}
        """
    }

    /// Gives everything for a customer that can be given.
    private static func person(_ name: String, in shop: Shop) async throws -> Person {
        let server = shop.server
        let secret = "the secret of \(name), kept by the SDK"
        var values = [
            "user": "\(name)-user-7c1f0b", "email": "\(name).profile@example.com",
            "token": UUID().uuidString.lowercased(), "metadata": "\(name)-metadata-value",
            "payer": "\(name).payer@example.com", "guest": "\(name).guest@example.com",
            "spend": "\(name)-reason-of-a-spend", "staff": "\(name)-note-of-staff",
            "receipt": "\(name)receiptbody", "opinion": "\(name)-opinion-of-stripe",
            "parked": "\(name)-in-a-parked-message", "address": "203.0.113.\(name.count)7",
            "device": "\(name)-device-9c41",
            "reference": Base64URL.encode(Data(SHA256.hash(data: Data(secret.utf8)))),
        ]
        let made = try await server.send(
            .post,
            "/v1/customers",
            json: profile(values),
            headers: [
                "Idempotency-Key": "profile of \(name)", "X-Forwarded-For": values["address"] ?? "",
                "User-Agent": values["device"] ?? "",
            ]
        )
        let id = try #require(made.json["id"].string)
        let session = try await server.session(of: id)
        // Stripe: signed in, by a link, and signed out.
        let checkout = try await shop.buy("pro_monthly", for: id)
        try await server.tollgate.stripe.reads.fulfil(checkoutSession: checkout)
        values["customer"] = try await shop.stripeCustomer(of: id)
        try await link(values, in: shop)
        try await signedOut(secret, values, session, in: shop)
        await server.tollgate.fetchWanted()
        // The App Store.
        let account = try await server.appStore.createCustomer(
            appAccountToken: values["token"] ?? ""
        )
        for product in ["pro.monthly", "coins100", "lifetime"] {
            _ = try await server.appStore.buy("com.example.app.\(product)", customer: account.id)
        }
        try await server.deliverNotifications()
        // What was said of them.
        let spent = try await server.post(
            "/v1/customers/\(id)/coins/spend",
            "{\"amount\":3,\"reason\":\"\(values["spend"] ?? "")\"}",
            idempotencyKey: "spend of \(name)"
        )
        #expect(spent.status == 200)
        _ = try await server.tollgate.coins.adjust(
            5,
            of: id,
            reason: values["staff"] ?? "",
            token: name
        )
        let said = try await server.post(
            "/v1/consents",
            as: session,
            "{\"age\":{\"at_least\":18}}",
            idempotencyKey: "consent"
        )
        #expect(said.status == 200)
        let taken = try await server.post(
            "/v1/customers/\(id)/free_subscriptions",
            as: session,
            "{\"product\":\"reader\"}"
        )
        #expect(taken.status == 201)
        try await park(values, in: shop)
        await server.tollgate.events.publish()
        let purchases = try await server.tollgate.store.purchases(
            of: Customer.ID(id),
            in: .sandbox
        ).map(\.record.key.canonical)
        #expect(purchases.count >= 7, "\(purchases)")
        return Person(id: id, values: values, purchases: purchases)
    }

    /// Buys by an address that names the customer as the app does, without a customer at Stripe.
    private static func link(_ values: [String: String], in shop: Shop) async throws {
        let session = try await shop.call(
            "POST",
            "/v1/checkout/sessions",
            "mode=payment&line_items[0][price]=price_coins_100&line_items[0][quantity]=1"
                + "&success_url=https://shop.example/&client_reference_id=\(values["user"] ?? "")"
        )
        let id = try #require(session["id"].string)
        _ = try await shop.stripe.pay(checkoutSession: id, email: values["guest"])
        await shop.server.tollgate.fetchWanted()
    }

    /// Buys signed out, and claims it.
    private static func signedOut(
        _ secret: String,
        _ values: [String: String],
        _ session: String,
        in shop: Shop
    ) async throws {
        let checkout = try await shop.server.post(
            "/v1/buy_buttons/buy_coins_100/checkout",
            as: TestServer.publishableKey,
            "{\"client_reference_id\":\"\(values["reference"] ?? "")\"}"
        )
        let url = try #require(checkout.json["url"].string)
        let id = try #require(url.split(separator: "/").last { $0.hasPrefix("cs_") })
        _ = try await shop.stripe.pay(checkoutSession: String(id), email: values["payer"])
        await shop.server.tollgate.fetchWanted()
        let claimed = try await shop.server.post(
            "/v1/checkout_claims",
            as: session,
            "{\"secret\":\"\(secret)\"}",
            idempotencyKey: "claim"
        )
        #expect(claimed.status == 200)
    }

    /// What lies in tables of their own.
    private static func keep(
        _ values: [String: String],
        of id: String,
        in shop: Shop
    ) async throws {
        let store = shop.server.tollgate.store
        let customer = Customer.ID(id)
        let now = Instant(milliseconds: await shop.clock.now)
        try await store.receipts.keep(
            StoredReceipt(
                key: RowKey("receipt", id),
                customer: customer,
                body: Array((values["receipt"] ?? "").utf8),
                due: now.advanced(by: 1 << 40)
            )
        )
        try await store.questions.keepOpinion(
            Array((values["opinion"] ?? "").utf8),
            of: customer,
            in: .production,
            at: now
        )
        let key = Purchase.Key(
            store: .stripe,
            environment: .production,
            application: "-",
            id: "sub_elsewhere"
        )
        try await store.questions.want(
            Wanted(kind: .entitlements, object: values["customer"] ?? ""),
            about: key,
            at: now
        )
    }

    /// Keeps genuine messages aside that nobody could read, which name the customer.
    private static func park(
        _ values: [String: String],
        in shop: Shop,
        again: Bool = false
    ) async throws {
        let signed = Base64URL.encode(
            Data("{\"appAccountToken\":\"\(values["token"] ?? "")\",\"x\":\"to be long\"}".utf8)
        )
        let note = values["parked"] ?? ""
        for (number, body) in [
            "{\"signedPayload\":\"eyJhbGciOiJFUzI1NiJ9.\(signed).c2ln\",\"note\":\"\(note)\"}",
            "{\"data\":{\"object\":{\"customer\":\"\(values["customer"] ?? "")\","
                + "\"note\":\"\(note)\"}}}",
            "{\"data\":{\"object\":{\"client_reference_id\":\"\(values["user"] ?? "")\","
                + "\"note\":\"\(note)\"}}}",
        ].enumerated() {
            try await shop.server.tollgate.store.parked.park(
                ParkedMessage(
                    key: RowKey("parked", note, "\(number)", again ? "again" : ""),
                    store: number == 0 ? .appStore : .stripe,
                    source: "message \(number)",
                    reason: "unreadable",
                    body: Array(body.utf8),
                    received: Instant(milliseconds: await shop.clock.now)
                )
            )
        }
    }

    private static func expectNothing(
        of person: Person,
        in driver: any StorageDriver,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let database = try await WholeDatabase(driver)
        for (what, value) in person.values.sorted(by: { $0.key < $1.key }) {
            #expect(
                database.tables(with: value) == [],
                "\(what) \(value)",
                sourceLocation: location
            )
        }
    }
}
