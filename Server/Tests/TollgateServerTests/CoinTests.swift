import HTTPTypes
import AppStoreSimulator
import Foundation
import Testing
import TollgateSimulation

@Suite("Coins")
struct CoinTests {
    @Test("A spend is made once for each key", arguments: Backend.allCases)
    func spendOnce(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customerWithCoins()
            let spend = "/v1/customers/\(id)/coins/spend"
            let body = "{\"amount\":30,\"reason\":\"hint\"}"
            let first = try await server.post(spend, body, idempotencyKey: "one")
            #expect(first.status == 200)
            #expect(first.json["balance"].integer == 70)
            #expect(first.json["reason"].string == "hint")
            let again = try await server.post(spend, body, idempotencyKey: "one")
            #expect(again.status == 200)
            #expect(again.json == first.json)
            let other = try await server.post(spend, "{\"amount\":31}", idempotencyKey: "one")
            #expect(other.status == 409 && other.code == "idempotency_mismatch")
            let tooMuch = try await server.post(spend, "{\"amount\":71}", idempotencyKey: "two")
            #expect(tooMuch.status == 409 && tooMuch.code == "insufficient_coins")
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 70)
            #expect(coins.json["spendable"].integer == 70)
            #expect(coins.json["debt"].integer == 0)
            let all = try await server.post(spend, "{\"amount\":70}", idempotencyKey: "three")
            #expect(all.status == 200)
        }
    }

    @Test("Of many who spend the last coins at once, one may", arguments: Backend.allCases)
    func racesForTheLastCoin(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customerWithCoins()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<16 {
                    group.addTask {
                        try await server.post(
                            "/v1/customers/\(id)/coins/spend",
                            "{\"amount\":100}",
                            idempotencyKey: "race-\(index)"
                        ).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 409, count: 15))
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 0)
        }
    }

    @Test("The same key at once is one spend with one answer")
    func racesOfOneKey() async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins()
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let answer = try await server.post(
                            "/v1/customers/\(id)/coins/spend",
                            "{\"amount\":60}",
                            idempotencyKey: "same"
                        )
                        return "\(answer.status) \(answer.text)"
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(answers.count == 1)
            #expect(answers.first?.hasPrefix("200 ") == true)
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 40)
        }
    }

    @Test("A refund after spending leaves a debt, which is not spendable")
    func refundLeavesDebt() async throws {
        try await TestServer.run { server in
            let token = UUID()
            let id = try await server.customer(token: token)
            let buyer = try await server.appStore.createCustomer()
            let bought = try await server.appStore.buy(
                "com.example.app.coins100",
                customer: buyer.id,
                appAccountToken: token.uuidString.lowercased()
            )
            _ = try await server.deliverNewestNotification()
            _ = try await server.post(
                "/v1/customers/\(id)/coins/spend",
                "{\"amount\":80}",
                idempotencyKey: "k"
            )
            try await server.appStore.refund(bought.transactionID)
            #expect(try await server.deliverNewestNotification().status == 200)
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == -80)
            #expect(coins.json["spendable"].integer == 0)
            #expect(coins.json["debt"].integer == 80)
        }
    }

    @Test(
        "Only a positive whole number of coins can be spent",
        arguments: [
            ("0", 422), ("-5", 422), ("1.5", 400), ("1e300", 400), ("\"1\"", 400), ("null", 400),
            ("9223372036854775807", 409), ("9223372036854775808", 400),
        ]
    )
    func amounts(_ amount: String, _ status: Int) async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins()
            let answer = try await server.post(
                "/v1/customers/\(id)/coins/spend",
                "{\"amount\":\(amount)}",
                idempotencyKey: "k"
            )
            #expect(answer.status == status)
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 100)
        }
    }

    @Test("Spending without a key is refused")
    func spendingNeedsAKey() async throws {
        try await TestServer.run { server in
            let id = try await server.customerWithCoins()
            for (key, code) in [
                (nil, "parameter_missing"), ("", "parameter_invalid"),
                (String(repeating: "k", count: 256), "parameter_invalid"),
            ] {
                let answer = try await server.post(
                    "/v1/customers/\(id)/coins/spend",
                    "{\"amount\":1}",
                    idempotencyKey: key
                )
                #expect(answer.status == 400 && answer.code == code)
                #expect(answer.json["error"]["param"].string == "Idempotency-Key")
            }
        }
    }
}
