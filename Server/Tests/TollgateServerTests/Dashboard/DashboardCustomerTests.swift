import AppStoreSimulator
import Foundation
import NIOHTTP1
import Storage
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Customers on the dashboard")
struct DashboardCustomerTests {
    /// Somebody with an email who has bought a plan and coins.
    private struct Reader {
        var id: String
        var token: String
        var transaction: String

        init(_ server: TestServer) async throws {
            let made = try await server.post(
                "/v1/customers",
                "{\"app_user_id\":\"reader-1\",\"email\":\"Ann.Reader@Example.com\"}"
            )
            id = try #require(made.json["id"].string)
            token = try #require(made.json["app_account_token"].string)
            let account = try await server.appStore.createCustomer(appAccountToken: token)
            transaction = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: account.id
            ).originalTransactionID
            _ = try await server.appStore.buy("com.example.app.coins100", customer: account.id)
            try await server.deliverNotifications()
        }
    }

    @Test("Anybody is found by any of their ids", arguments: Backend.allCases)
    func search(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let reader = try await Reader(server)
            let notification = try #require(await server.appStore.notifications().last)
            var browser = try await server.staff(.viewer)
            let page = "/dashboard/customers/\(reader.id)"
            for text in [
                reader.id, "reader-1", reader.token, reader.token.uppercased(),
                "ann.reader@example.com", "  ANN.READER@EXAMPLE.COM ", reader.transaction,
                "app_store/sandbox/com.example.app/\(reader.transaction)",
            ] {
                let found = try await browser.send(
                    "/dashboard/customers?q=\(StaffBrowser.escaped(text))"
                )
                #expect(found.location == page, "\(text)")
            }
            let message = try await browser.send(
                "/dashboard/customers?q=\(StaffBrowser.escaped(notification.id))"
            )
            #expect(message.location?.hasPrefix("/dashboard/deliveries/") == true)
            for text in ["nobody", "ann", "%25", "' OR 1=1 --"] {
                let found = try await browser.send(
                    "/dashboard/customers?q=\(StaffBrowser.escaped(text))"
                )
                #expect(found.status == 200 && found.text.contains("Nothing has the id"), "\(text)")
            }
        }
    }

    @Test("A customer's page tells what they have and why", arguments: Backend.allCases)
    func file(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let reader = try await Reader(server)
            var browser = try await server.staff(.support)
            let page = try await browser.open("/dashboard/customers/\(reader.id)")
            #expect(page.status == 200)
            for text in [
                "reader-1", "Ann.Reader@Example.com", reader.token, "Pro, monthly",
                "Paid for, until 1 Jul 2026", "Renews 1 Jul 2026", "$9.99", "100",
            ] {
                #expect(page.words.contains(text), "\(text)")
            }
            let why = try await browser.open(
                "/dashboard/customers/\(reader.id)/explain?lookup_key=pro"
            )
            #expect(why.words.contains("Yes, entitled") && why.words.contains("decides"))
            #expect(why.words.contains("com.example.app.pro.monthly paid from"))
            let later = try await browser.open(
                "/dashboard/customers/\(reader.id)/explain?lookup_key=pro&at=2027-01-01T00:00"
            )
            #expect(later.words.contains("No, not entitled"))
            // A viewer sees no personal data.
            var viewer = try await server.staff(.viewer)
            let masked = try await viewer.open("/dashboard/customers/\(reader.id)")
            #expect(
                !masked.text.contains("Ann.Reader@") && masked.text.contains("A•••@Example.com")
            )
        }
    }

    @Test("A customer's page says in words what happened, once, and what they pay")
    func story() async throws {
        try await TestServer.run { server in
            let reader = try await Reader(server)
            // Told a second time, nothing new happened.
            try await server.deliverNotifications()
            while try await !server.tollgate.figures.followOnce() {}
            var browser = try await server.staff(.support)
            let page = try await browser.open("/dashboard/customers/\(reader.id)")
            let once = "Pro, monthly: paid until 1 Jul 2026, $9.99"
            #expect(page.words.ranges(of: once).count == 1)
            #expect(page.words.contains("100 coins: bought, $10.00"))
            for text in [
                "Pays now, a month $9.99", "Lifetime value $19.99", "First payment 1 Jun 2026",
                "Payments 2", "Where the coins came from",
            ] {
                #expect(page.words.contains(text), "\(text)")
            }
            browser.language = "ja"
            let japanese = try await browser.open("/dashboard/customers/\(reader.id)")
            #expect(japanese.words.contains("2026年7月1日まで支払い済み"))
        }
    }

    @Test("Z5: a name is suggested by any part of it; an email only to those who may see it")
    func suggestions() async throws {
        try await TestServer.run { server in
            _ = try await Reader(server)
            await server.tollgate.events.publish()
            var viewer = try await server.staff(.viewer)
            #expect(
                try await viewer.open("/dashboard/suggestions?q=EADER").text == "[\"reader-1\"]"
            )
            for nothing in ["ann", "a", "", "%25", "eader-2"] {
                let page = try await viewer.open("/dashboard/suggestions?q=\(nothing)")
                #expect(page.text == "[]", "\(nothing)")
            }
            var support = try await server.staff(.support)
            #expect(try await support.open("/dashboard/suggestions?q=ann").text == "[\"reader-1\"]")
            // Files have what the page has.
            let file = "/dashboard/customers?format=csv"
            let (few, all) = (try await viewer.open(file).text, try await support.open(file).text)
            #expect(few.contains("reader-1") && !few.lowercased().contains("ann.reader"))
            #expect(all.lowercased().contains("ann.reader@example.com"))
            let search = try await support.open("/dashboard/customers?q=eader")
            #expect(search.words.contains("Similar name reader-1"))
            var anybody = StaffBrowser(server)
            let refused = try await anybody.send("/dashboard/suggestions?q=reader")
            #expect(refused.status == 303 && !refused.text.contains("reader-1"))
        }
    }

    @Test("A grant says for how long, or that it has no end")
    func grantEnds() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            var browser = try await server.staff(.support)
            let path = "/dashboard/customers/\(id)"
            _ = try await browser.open(path)
            let vague = try await browser.press(
                "\(path)/grant",
                ["lookup_key": "pro", "days": "", "ends": "days", "nonce": "n1"]
            )
            #expect(vague.status == 400 && vague.words.contains("Say for how many days"))
            #expect(try await server.access(of: id).isEmpty)
            _ = try await browser.open(path)
            let forever = try await browser.press(
                "\(path)/grant",
                ["lookup_key": "pro", "days": "", "ends": "never", "nonce": "n2"]
            )
            #expect(forever.words.contains("Granted."))
            #expect(forever.words.contains("without end"))
        }
    }

    @Test("The evidence of a message is shown opened, to those who may read it")
    func evidence() async throws {
        try await TestServer.run { server in
            _ = try await Reader(server)
            var browser = try await server.staff(.support)
            let list = try await browser.open("/dashboard/deliveries")
            let link = try #require(list.text.firstMatch(of: /\/dashboard\/deliveries\/\d+/))
            let page = try await browser.open(String(link.output))
            #expect(page.text.contains("notificationUUID"))
            #expect(page.text.contains("com.example.app.coins100"))
            var viewer = try await server.staff(.viewer)
            let hidden = try await viewer.open(String(link.output))
            #expect(hidden.status == 200 && !hidden.text.contains("notificationUUID"))
            for path in ["0", "999999", "x", "-1", "9223372036854775808"] {
                #expect(try await browser.open("/dashboard/deliveries/\(path)").status == 404)
            }
        }
    }

    @Test(
        "Access is granted and the grant ended, once each, with an entry for both",
        arguments: Backend.allCases
    )
    func grant(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            var browser = try await server.staff(.support)
            let page = try await browser.open("/dashboard/customers/\(id)")
            let nonce = try #require(page.field("nonce"))
            let fields = ["lookup_key": "pro", "days": "30", "nonce": nonce]
            for _ in 0..<2 {
                let done = try await browser.press("/dashboard/customers/\(id)/grant", fields)
                #expect(done.words.contains("Granted."))
            }
            #expect(try await server.access(of: id) == ["pro": "grant"])
            let granted = try await browser.open("/dashboard/customers/\(id)")
            #expect(granted.text.matches(of: /name="grant" value="grant_/).count == 1)
            let grant = try #require(granted.field("grant"))
            let ended = try await browser.press(
                "/dashboard/customers/\(id)/end-grant",
                ["grant": grant]
            )
            #expect(ended.words.contains("The grant has ended"))
            #expect(try await server.access(of: id).isEmpty)
            let twice = try await browser.press(
                "/dashboard/customers/\(id)/end-grant",
                ["grant": grant]
            )
            #expect(twice.status == 409)

            let log = try await server.tollgate.store.audit.entries(subject: "customer:\(id)")
            #expect(
                log.map(\.action) == ["grant.end", "grant.end", "grant.create", "grant.create"]
            )
            #expect(log.map(\.outcome) == ["refused: grant_ended", "done", "done", "done"])
            #expect(log[1].before == "pro" && log[1].after == "")
            #expect(log[3].before == "" && log[3].after == "pro")
            #expect(log.allSatisfy { $0.actor == "support@example.com" && $0.role == "support" })
            #expect(log.allSatisfy { !$0.request.isEmpty })
            try await Self.expectRebuilds(server)
        }
    }

    @Test(
        "Coins are corrected once per form, in the same books as all others",
        arguments: Backend.allCases
    )
    func coins(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customerWithCoins()
            var browser = try await server.staff(.admin)
            let page = try await browser.open("/dashboard/customers/\(id)")
            let nonce = try #require(page.field("nonce"))
            var fields = [
                "amount": "25", "direction": "give", "reason": "a parcel that was lost",
                "nonce": nonce,
            ]
            for _ in 0..<3 {
                let done = try await browser.press("/dashboard/customers/\(id)/coins", fields)
                #expect(done.words.contains("The coins are corrected"))
            }
            #expect(try await server.tollgate.coins.balance(of: id).balance == 125)
            // The same form with another amount is another wish: nobody is told that it was done.
            for (amount, direction) in [("250", "give"), ("25", "take")] {
                let other = fields.merging(["amount": amount, "direction": direction]) { $1 }
                let refused = try await browser.press("/dashboard/customers/\(id)/coins", other)
                #expect(refused.status == 409 && refused.text.contains("idempotency_mismatch"))
            }
            #expect(try await server.tollgate.coins.balance(of: id).balance == 125)
            let fresh = try await browser.open("/dashboard/customers/\(id)")
            fields["nonce"] = fresh.field("nonce")
            fields["direction"] = "take"
            fields["amount"] = "130"
            _ = try await browser.press("/dashboard/customers/\(id)/coins", fields)
            #expect(try await server.tollgate.coins.balance(of: id).balance == -5)
            #expect(try await server.tollgate.coins.balance(of: id).debt == 5)
            for (amount, reason) in [
                ("0", "why"), ("-4", "why"), ("1e9", "why"), ("1000000001", "why"), ("7", ""),
                ("99999999999999999999", "why"),
            ] {
                fields["nonce"] = UUID().uuidString
                fields["amount"] = amount
                fields["reason"] = reason
                let page = try await browser.press("/dashboard/customers/\(id)/coins", fields)
                #expect(page.status == 400, "\(amount) \(reason)")
            }
            #expect(try await server.tollgate.coins.balance(of: id).balance == -5)
            let log = try await server.tollgate.store.audit.entries(subject: "customer:\(id)")
            let done = log.filter { $0.outcome == AuditEntry.done }
            #expect(done.map(\.before) == ["125", "125", "125", "100"])
            #expect(done.map(\.after) == ["-5", "125", "125", "125"])
            #expect(log.count { $0.outcome == "refused: idempotency_mismatch" } == 2)
            try await Self.expectRebuilds(server)
        }
    }

    @Test("Sessions are ended, and a customer is forgotten only when their id was typed")
    func sessionsAndErasure() async throws {
        try await TestServer.run { server in
            let reader = try await Reader(server)
            let session = try await server.session(of: reader.id)
            var browser = try await server.staff(.admin)
            let page = try await browser.open("/dashboard/customers/\(reader.id)")
            #expect(page.words.contains("Signed-in devices: 1"))
            _ = try await browser.press("/dashboard/customers/\(reader.id)/sessions")
            #expect(
                try await server.get("/v1/customers/\(reader.id)/entitlements", as: session).status
                    == 401
            )
            _ = try await browser.open("/dashboard/customers/\(reader.id)/erase")
            let slip = try await browser.press(
                "/dashboard/customers/\(reader.id)/erase",
                ["typed": "reader-1"]
            )
            #expect(slip.status == 400)
            let gone = try await browser.press(
                "/dashboard/customers/\(reader.id)/erase",
                ["typed": reader.id]
            )
            #expect(gone.words.contains("The customer is erased"))
            #expect(try await server.get("/v1/customers/\(reader.id)").status == 410)
            let search = try await browser.open("/dashboard/customers?q=ann.reader%40example.com")
            #expect(search.words.contains("Nothing has the id"))
            // What is said of them in the log leads to nobody.
            let log = try await server.tollgate.store.audit.entries()
            #expect(log.allSatisfy { !"\($0)".contains("reader-1") && !"\($0)".contains("Ann") })
        }
    }

    @Test("A purchase is assigned by staff, and its page says to whom")
    func assign() async throws {
        try await TestServer.run { server in
            let reader = try await Reader(server)
            let other = try await server.customer("reader-2")
            var browser = try await server.staff(.support)
            let found = try await browser.open("/dashboard/purchases")
            let link = try #require(
                found.text.firstMatch(of: /\/dashboard\/purchases\/[0-9a-f]{32}/)
            )
            let page = try await browser.open(String(link.output))
            #expect(page.words.contains("reader-1"))
            let done = try await browser.press("\(link.output)/assign", ["customer": "reader-2"])
            #expect(done.words.contains("The purchase is assigned"))
            #expect(done.words.contains("reader-2") && !done.words.contains("Held by reader-1"))
            let log = try await server.tollgate.store.audit.entries()
            #expect(log.first?.action == "purchase.assign")
            #expect(log.first?.before == reader.id && log.first?.after == other)
        }
    }

    @Test("A reason of a spend stands in the way of no other statement")
    func spentWithReason() async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins()
            _ = try await server.post(
                "/v1/customers/\(id)/coins/spend",
                "{\"amount\":1,\"reason\":\"a letter\"}",
                idempotencyKey: "one"
            )
            let session = try await server.session(of: id)
            #expect(try await server.get("/v1/consents", as: session).status == 200)
        }
    }

    private static func expectRebuilds(_ server: TestServer) async throws {
        let scratch = try await Backend.sqlite.open(migrated: false)
        let report = try await Rebuild(of: server.tollgate.store.driver, into: scratch).verify()
        #expect(report.isIdentical)
        await scratch.close()
    }
}
