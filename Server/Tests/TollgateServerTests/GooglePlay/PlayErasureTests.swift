import Foundation
import GooglePlayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import SandboxClock
import Storage
import Stores
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// What Google Play has told of a customer goes with their erasure.
@Suite("Erasure of a customer of Google Play")
struct PlayErasureTests {
    /// The kept messages that contain a text, plainly or in the data of a push.
    private static func messages(with text: String, _ world: PlayWorld) async throws -> Int {
        try await world.server.tollgate.store.driver.read { connection in
            try connection.query("SELECT body FROM journal WHERE body IS NOT NULL").filter { row in
                let kept = try PackedBytes.unpacked(row.bytes(0))
                let body = String(decoding: kept, as: UTF8.self)
                if body.contains(text) { return true }
                // Before it stands its form.
                guard let start = body.firstIndex(of: "{") else { return false }
                let json = try? JSONDecoder().decode(
                    JSONValue.self,
                    from: Data(body[start...].utf8)
                )
                let data = json?["message"]["data"].string.flatMap { Data(base64Encoded: $0) }
                return data.map { String(decoding: $0, as: UTF8.self).contains(text) } ?? false
            }.count
        }
    }

    @Test(
        "The hint about a refund goes too, and one that comes later leaves nothing (D4)",
        arguments: Backend.allCases
    )
    func refundReview(_ backend: Backend) async throws {
        try await PlayWorld.run(on: backend) { world in
            let (id, account) = try await world.person()
            let customer = try await world.server.get("/v1/customers/\(id)")
            let name = try #require(customer.json["app_account_token"].string)
            func review() async throws {
                let token = try await world.buy("coins100", for: account)
                try await world.settle()
                let order = try #require(try await world.look(token)["order_id"].string)
                try await world.act("orders/\(order)/review")
                try await world.settle()
            }
            try await review()
            #expect(try await Self.messages(with: name, world) > 1)
            #expect(try await world.server.send(.delete, "/v1/customers/\(id)").status == 200)
            #expect(try await Self.messages(with: name, world) == 0)
            await world.wait(days: 2)
            try await review()
            #expect(try await Self.messages(with: name, world) == 0)
        }
    }

    @Test(
        "A read that says what the record of an erased customer says is no news",
        arguments: ["pro", "lifetime"]
    )
    func readAgain(_ product: String) async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy(product, for: account)
            try await world.settle()
            #expect(try await world.server.send(.delete, "/v1/customers/\(id)").status == 200)
            let before = try await world.rows(of: token)
            #expect(before > 0)
            let type = product == "pro" ? 2 : 1
            for _ in 0..<5 {
                await world.wait(days: 0.1)
                try await world.act("purchases/\(token)/tell", #"{"type":\#(type)}"#)
                try await world.settle()
            }
            #expect(try await world.rows(of: token) == before)
        }
    }

    @Test("The hints about a purchase go, a licence tester's too", arguments: [false, true])
    func hints(_ isTester: Bool) async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(tester: isTester)
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            #expect(try await Self.messages(with: token, world) > 0)
            #expect(try await world.server.send(.delete, "/v1/customers/\(id)").status == 200)
            #expect(try await Self.messages(with: token, world) == 0)
        }
    }
}
