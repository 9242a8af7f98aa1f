import TollgateService
import SandboxClock
import AppStoreSimulator
import Foundation
import HTTPTypes
import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("CONSUMPTION_REQUEST")
struct ConsumptionTests {
    @Test(
        "It is answered from the ledger: delivered, and which share of the coins was spent",
        arguments: Backend.allCases
    )
    func coins(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let buyer = try await Buyer(server)
            try await Self.consent(buyer)
            let first = try await buyer.buys("com.example.app.coins100")
            let second = try await buyer.buys("com.example.app.coins100")
            _ = try await server.post(
                "/v1/customers/\(buyer.id)/coins/spend",
                "{\"amount\":125}",
                idempotencyKey: "one"
            )
            for bought in [first, second] {
                try await server.appStore.requestRefund(bought.transactionID)
            }
            try await server.deliverNotifications()
            // Repeated, it is one question.
            try await server.deliverNotifications()
            #expect(try await server.rowCounts()["wanted"] == 2)
            await server.tollgate.fetchWanted()
            let answers = await server.appStore.consumptionAnswers()
            #expect(answers.map(\.transactionID) == [first, second].map(\.transactionID))
            let sent = answers.map { Self.json($0.body) }
            #expect(sent.map { $0["consumptionPercentage"].integer } == [100_000, 25_000])
            for body in sent {
                #expect(body["customerConsented"].bool == true)
                #expect(body["deliveryStatus"].string == "DELIVERED")
                #expect(body["sampleContentProvided"].bool == true)
                #expect(body["refundPreference"].string == "DECLINE")
            }
            #expect(try await server.rowCounts()["wanted"] == 0)
            await server.tollgate.fetchWanted()
            #expect(await server.appStore.consumptionAnswers().count == 2)
            #expect(try await Self.journalled(server).map(\.0) == ["sent", "sent"])
        }
    }

    @Test("Without the customer's consent nothing is sent")
    func withoutConsent() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys("com.example.app.coins100")
            try await server.appStore.requestRefund(bought.transactionID)
            try await server.deliverNotifications()
            await server.tollgate.fetchWanted()
            #expect(await server.appStore.consumptionAnswers().isEmpty)
            #expect(try await Self.journalled(server).map(\.0) == ["withheld"])
            #expect(try await server.rowCounts()["wanted"] == 0)
            // It is asked again under another id, and the customer has agreed since.
            try await Self.consent(buyer)
            await server.clock.advance(to: server.clock.now + 3_600_000)
            try await server.appStore.requestRefund(bought.transactionID)
            try await server.deliverNotifications()
            await server.tollgate.fetchWanted()
            #expect(await server.appStore.consumptionAnswers().count == 1)
        }
    }

    @Test("Unanswered, it is asked again under another id until it is answered")
    func repeated() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys("com.example.app.coins100")
            try await server.appStore.requestRefund(bought.transactionID)
            func asked() async -> [SimulatedAppStore.Notification] {
                await server.appStore.notifications().filter { $0.type == "CONSUMPTION_REQUEST" }
            }
            func pass(hours: Int64) async {
                await server.clock.advance(to: server.clock.now + hours * 3_600_000)
            }
            await pass(hours: 5)
            #expect(await asked().count == 2)
            try await server.deliverNotifications()
            await server.tollgate.fetchWanted()
            // Nothing was said, since nobody had agreed; by the next time somebody has.
            try await Self.consent(buyer)
            await pass(hours: 4)
            #expect(Set(await asked().map(\.id)).count == 3)
            try await server.deliverNotifications()
            await server.tollgate.fetchWanted()
            #expect(await server.appStore.consumptionAnswers().count == 1)
            await pass(hours: 48)
            #expect(await asked().count == 3)

            // A decision ends it too, and so do twelve hours.
            let second = try await buyer.buys("com.example.app.coins100")
            try await server.appStore.requestRefund(second.transactionID)
            try await server.appStore.declineRefund(second.transactionID)
            await pass(hours: 48)
            #expect(await asked().count == 4)
            try await server.appStore.requestRefund(second.transactionID)
            await pass(hours: 48)
            #expect(await asked().count == 7)
        }
    }

    @Test("After twelve hours it is too late")
    func late() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            try await Self.consent(buyer)
            let bought = try await buyer.buys("com.example.app.coins100")
            try await server.appStore.requestRefund(bought.transactionID)
            try await server.deliverNotifications()
            await server.clock.advance(to: server.clock.now + 13 * 3_600_000)
            await server.tollgate.fetchWanted()
            #expect(await server.appStore.consumptionAnswers().isEmpty)
            #expect(try await Self.journalled(server).map(\.0) == ["late"])
        }
    }

    @Test("A plan takes no share, a pass says how much of it has run")
    func otherKinds() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            try await Self.consent(buyer)
            let plan = try await buyer.buys(ProductTypeTests.monthly)
            let pass = try await buyer.buys("com.example.app.pass30")
            let lifetime = try await buyer.buys("com.example.app.lifetime")
            await server.clock.advance(to: server.clock.now + 15 * 86_400_000)
            for bought in [plan, pass, lifetime] {
                try await server.appStore.requestRefund(bought.transactionID)
            }
            try await server.deliverNotifications()
            await server.tollgate.fetchWanted()
            let sent = await server.appStore.consumptionAnswers().map { Self.json($0.body) }
            #expect(sent.map { $0["consumptionPercentage"].integer } == [nil, 50_000, nil])
            #expect(sent.allSatisfy { $0["refundPreference"] == .null })
        }
    }

    @Test("While the App Store does not answer, the question waits for another try")
    func unreachable() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            try await Self.consent(buyer)
            let bought = try await buyer.buys("com.example.app.coins100")
            try await server.appStore.requestRefund(bought.transactionID)
            try await server.deliverNotifications()
            var faults = SimulatedAppStore.Faults()
            faults.apiErrors = 1
            await server.appStore.setFaults(faults)
            await server.tollgate.fetchWanted()
            #expect(try await server.rowCounts()["wanted"] == 1)
            await server.appStore.setFaults(.init())
            await server.tollgate.fetchWanted()
            #expect(await server.appStore.consumptionAnswers().isEmpty, "not at once")
            server.wall.advance(seconds: 11)
            await server.tollgate.fetchWanted()
            #expect(await server.appStore.consumptionAnswers().count == 1)
        }
    }

    private static func consent(_ buyer: Buyer) async throws {
        let answer = try await buyer.server.post(
            "/v1/customers",
            "{\"app_user_id\":\"user-1\",\"consumption_consent\":true}"
        )
        #expect(answer.json["consumption_consent"].bool == true)
    }

    private static func json(_ text: String) -> JSONValue {
        (try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))) ?? .null
    }

    /// Outcome and transaction of every answer in the journal.
    private static func journalled(_ server: TestServer) async throws -> [(String, String)] {
        try await server.tollgate.store.driver.read { connection in
            try connection.query(
                "SELECT body FROM journal WHERE kind = 3 AND body IS NOT NULL ORDER BY id"
            ).compactMap { row in
                let body = String(
                    decoding: try PackedBytes.unpacked(row.bytes(0)),
                    as: UTF8.self
                )
                guard let start = body.firstIndex(of: "{") else { return nil }
                let json = Self.json(String(body[start...]))
                guard let outcome = json["outcome"].string else { return nil }
                return (outcome, json["transaction"].string ?? "")
            }
        }
    }
}
