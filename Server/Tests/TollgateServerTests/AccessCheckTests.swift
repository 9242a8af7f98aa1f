import AppStoreSimulator
import Foundation
import HTTPTypes
import SandboxClock
import Storage
import Stores
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// The second opinion in a running server: who is locked out, who is let in, and what devices see.
@Suite("Access checks")
struct AccessCheckTests {
    private static let lifetime = "com.example.app.lifetime"

    /// A customer who bought something for ever, and the signed transaction.
    private func buyer(_ user: String, _ server: TestServer) async throws -> (String, String) {
        let token = UUID()
        let id = try await server.customer(user, token: token)
        let account = try await server.appStore.createCustomer()
        let bought = try await server.appStore.buy(
            Self.lifetime,
            customer: account.id,
            appAccountToken: token.uuidString.lowercased()
        )
        try await server.deliverNotifications()
        return (id, bought.jws)
    }

    private func answer(of customer: String, _ server: TestServer) async throws -> [UInt8] {
        let row = RowKey(of: Customer.ID(customer)).inEnvironment(.sandbox)
        return try await server.tollgate.store.driver.read { connection in
            try connection.query("SELECT answer FROM customer WHERE key = $1", [row.value]).first?
                .bytes(0) ?? []
        }
    }

    /// Alters what a customer is answered, behind the server's back.
    private func plant(_ answer: [UInt8], in customer: String, _ server: TestServer) async throws {
        let row = RowKey(of: Customer.ID(customer)).inEnvironment(.sandbox)
        try await server.tollgate.store.driver.write { connection in
            _ = try connection.execute(
                """
                INSERT INTO customer (key, environment, sequence, balance, answer)
                VALUES ($1, 0, 1, 0, $2) ON CONFLICT (key) DO UPDATE SET answer = $2
                """,
                [row.value, .blob(answer)]
            )
        }
    }

    private func metric(_ name: String, _ server: TestServer) async throws -> Int? {
        try await server.get("/metrics", as: nil).text.split(separator: "\n")
            .first { $0.hasPrefix(name + " ") }
            .flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    @Test(
        "Who is locked out or let in behind the server's back is found, kept, shown and counted",
        arguments: Backend.allCases
    )
    func planted(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let (payer, _) = try await buyer("payer", server)
            let idler = try await server.customer("idler")
            let bought = try await answer(of: payer, server)
            #expect(try await metric("tollgate_access_check_age_seconds", server) == nil)
            #expect(try await #require(server.tollgate.accessChecks.check()).findings.isEmpty)
            var browser = try await server.staff(.viewer)
            let calm = try await browser.open("/dashboard/access")
            #expect(calm.words.contains("Nobody who paid is locked out"))

            try await plant([], in: payer, server)
            try await plant(bought, in: idler, server)
            let report = try #require(try await server.tollgate.accessChecks.check())
            let found = report.findings.filter { $0.lookupKey == "pro" }
            #expect(found.map(\.kind) == [.letIn, .lockedOut])
            #expect(found.map(\.customer.rawValue) == [idler, payer])
            let lockedOut = try #require(found.last)
            #expect(lockedOut.environment == .sandbox && lockedOut.evidence.count == 1)
            // The evidence is the row of the journal, and Apple's own id of the message.
            let notification = try #require(await server.appStore.notifications().last)
            #expect(
                lockedOut.evidence.first?.message?.lowercased()
                    == notification.id.lowercased()
            )
            #expect(found.first?.opinion == "it is somebody else's")

            let page = try await browser.open("/dashboard/access")
            let message = try #require(lockedOut.evidence.first?.message)
            for word in [
                "Locked out", "Let in", payer, idler, "it is somebody else", lockedOut.opinion,
                lockedOut.answer, message,
            ] {
                #expect(page.words.contains(word), "\(word)")
            }
            #expect(try await metric("tollgate_access_findings{kind=\"locked_out\"}", server) == 2)
            #expect(try await metric("tollgate_access_findings{kind=\"let_in\"}", server) == 2)
            let since = "tollgate_access_findings_oldest_seconds{kind=\"locked_out\"}"
            let age =
                (await server.tollgate.clocks.now().milliseconds
                    - lockedOut.since.milliseconds) / 1000
            #expect(try await metric(since, server) == Int(age))
            server.wall.advance(seconds: 90)
            #expect(try await metric("tollgate_access_check_age_seconds", server) == 90)

            // What lasts keeps the time at which it was first found; what is mended is gone.
            try await plant(bought, in: payer, server)
            _ = try await server.tollgate.accessChecks.check()
            let kept = try await server.tollgate.store.evidence.findings()
            #expect(Set(kept.map(\.finding.customer.rawValue)) == [idler])
            #expect(kept.allSatisfy { $0.seen.milliseconds - $0.firstSeen.milliseconds == 90_000 })
            #expect(try await server.send(.delete, "/v1/customers/\(idler)").status == 200)
            #expect(try await server.tollgate.store.evidence.findings().isEmpty, "erased (D4)")
            // A check that had looked before the erasure keeps nothing after it.
            try await server.tollgate.store.evidence.keep(report, now: server.wall.now)
            let late = try await server.tollgate.store.evidence.findings()
            #expect(Set(late.map(\.finding.customer.rawValue)) == [payer])
            #expect(try await #require(server.tollgate.accessChecks.check()).findings.isEmpty)
        }
    }

    @Test("What many devices saw hides nobody who is locked out")
    func rooms() async throws {
        try await TestServer.run { server in
            func keep(_ kind: AccessFinding.Kind, _ customer: String) async throws {
                let finding = AccessFinding(
                    kind,
                    "pro",
                    of: Customer.ID(customer),
                    in: .sandbox,
                    purchase: nil,
                    since: server.wall.now,
                    opinion: "it runs",
                    answer: "nothing",
                    evidence: []
                )
                try await server.tollgate.store.evidence.keep(finding, now: server.wall.now)
            }
            let payer = try await server.customer("payer")
            try await keep(.lockedOut, payer)
            for number in 0..<3 {
                server.wall.advance(seconds: 1)
                try await keep(.device, server.customer("device \(number)"))
            }
            let shown = try await server.tollgate.store.evidence.findings(limit: 2)
            #expect(shown.map(\.finding.kind) == [.lockedOut, .device, .device])
            #expect(shown.first?.finding.customer.rawValue == payer)
            let oldest = try await server.tollgate.store
                .evidence.findings(of: [.device], oldestFirst: true, limit: 1)
            #expect(oldest.first.map { $0.firstSeen < shown[2].firstSeen } == true)
        }
    }

    @Test("Everybody is checked each night, and after each change of the engine")
    func nightly() async throws {
        try await TestServer.run { server in
            func ended() async throws -> Instant? {
                try await server.tollgate.accessChecks.summary()?.ended
            }
            #expect(await server.tollgate.accessChecks.checkIfDue())
            let first = try #require(try await ended())
            server.wall.advance(seconds: 3 * 3600 - 1)
            #expect(await server.tollgate.accessChecks.checkIfDue())
            #expect(try await ended() == first, "once a night")
            server.wall.advance(seconds: 1)
            #expect(await server.tollgate.accessChecks.checkIfDue())
            let second = try #require(try await ended())
            #expect(second > first, "at 03:00")
            // As if an engine before this one had been checked.
            let kept = try #require(try await server.tollgate.store.cursors.read("access/check"))
            let text = String(decoding: kept.body, as: UTF8.self)
            let older = text.replacing("\"engine\":", with: "\"engine\":1")
            try await server.tollgate.store.cursors.keep(
                "access/check",
                Array(older.utf8),
                now: second
            )
            server.wall.advance(seconds: 60)
            #expect(await server.tollgate.accessChecks.checkIfDue())
            #expect(try await #require(ended()) > second, "a new engine")
        }
    }

    // MARK: - What devices see

    private func observe(
        _ jws: [String],
        _ keys: [String] = ["pro"],
        as session: String?,
        _ server: TestServer
    ) async throws -> Answer {
        let list = { (texts: [String]) in
            texts.map { "\"\($0)\"" }.joined(separator: ",")
        }
        return try await server.post(
            "/v1/app_store/observations",
            as: TestServer.publishableKey,
            session: session,
            "{\"signed_transactions\":[\(list(jws))],\"lookup_keys\":[\(list(keys))]}"
        )
    }

    @Test("What a device holds and the server never heard of is taken in")
    func settled() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let account = try await server.appStore.createCustomer()
            let bought = try await server.appStore.buy(Self.lifetime, customer: account.id)
            let answer = try await observe([bought.jws], ["pro", "archive"], as: session, server)
            #expect(answer.status == 200)
            #expect(
                answer.json["entitled"].array?.compactMap(\.string) == ["archive", "pro"]
            )
            #expect(try await server.access(of: id)["pro"] != nil)
            #expect(try await server.tollgate.store.evidence.findings().isEmpty)
        }
    }

    @Test(
        "What stays a no is shown with its cause before the customer writes, and until it is a yes"
    )
    func cause() async throws {
        try await TestServer.run { server in
            let (_, jws) = try await buyer("first", server)
            let second = try await server.customer("second")
            let answer = try await observe(
                [jws],
                as: try await server.session(of: second),
                server
            )
            #expect(answer.status == 200 && answer.json["entitled"] == .array([]))
            #expect(try await server.access(of: second).isEmpty)
            let kept = try await server.tollgate.store.evidence.findings()
            #expect(kept.map(\.finding.kind) == [.device])
            #expect(kept.first?.finding.customer.rawValue == second)
            #expect(kept.first?.finding.opinion == "it is somebody else's")
            var browser = try await server.staff(.support)
            #expect(try await browser.open("/dashboard/access").words.contains("On a device"))
            // A check does not take it away; a yes does.
            _ = try await server.tollgate.accessChecks.check()
            #expect(try await server.tollgate.store.evidence.findings().count == 1)
            _ = try await server.post("/v1/customers/\(second)/grants", "{\"lookup_key\":\"pro\"}")
            _ = try await server.tollgate.accessChecks.check()
            #expect(try await server.tollgate.store.evidence.findings().isEmpty)
        }
    }

    @Test(
        "T2: forged, foreign and too many observations change nothing, and too frequent ones wait"
    )
    func attacks() async throws {
        try await TestServer.run { server in
            let (first, jws) = try await buyer("first", server)
            let second = try await server.customer("second")
            let session = try await server.session(of: second)
            let before = try await server.rowCounts()
            for (jws, keys, status, code) in [
                (["a.b.c"], ["pro"], 400, "jws_encoding"),
                ([String(jws.dropLast(4)) + "AAAA"], ["pro"], 400, "jws_signature"),
                ([], ["pro"], 400, "parameter_invalid"),
                (Array(repeating: jws, count: 11), ["pro"], 400, "parameter_invalid"),
                ([jws], ["' OR 1=1 --"], 400, "parameter_invalid"),
                ([jws], ["prox"], 400, "parameter_invalid"),
                ([jws], [], 400, "parameter_invalid"),
            ] {
                let answer = try await observe(jws, keys, as: session, server)
                #expect(answer.status == status && answer.code == code, "\(code)")
            }
            let nobody = try await observe([jws], as: nil, server)
            #expect(nobody.status == 401 && nobody.code == "no_session_present")
            let large = try await observe(
                [String(repeating: "a", count: 300_000)],
                as: session,
                server
            )
            #expect(large.status == 413)
            #expect(try await server.rowCounts() == before)
            #expect(try await server.tollgate.store.evidence.findings().isEmpty)
            // Genuine, and another's: it stays another's, and is one row however often it is told.
            // The forged ones above were counted. The session has ended meanwhile.
            server.wall.advance(seconds: 3600)
            let expired = try await observe([jws], as: session, server)
            #expect(expired.status == 401 && expired.code == "session_expired")
            let newer = try await server.session(of: second)
            #expect(try await observe([jws], as: newer, server).status == 200)
            let once = try await server.rowCounts()
            for _ in 0..<3 {
                #expect(try await observe([jws], as: newer, server).status == 200)
            }
            #expect(try await server.rowCounts() == once, "what is told again is kept once")
            let frequent = try await observe([jws], as: newer, server)
            #expect(frequent.status == 429 && frequent.code == "rate_limited")
            #expect(try await server.tollgate.store.evidence.findings().count == 1)
            #expect(try await server.access(of: second).isEmpty)
            #expect(try await server.access(of: first)["pro"] != nil)
        }
    }
}
