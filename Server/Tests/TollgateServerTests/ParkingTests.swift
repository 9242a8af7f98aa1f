import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// What is genuine is never refused for what it says (RULES §11), what is not leaves nothing.
@Suite("Parking")
struct ParkingTests {
    static let now = AppStoreWorld.start

    /// A notification's payload; `data` and `changes` are JSON text by member.
    static func payload(
        _ changes: [String: String?] = [:],
        data: [String: String?] = [:]
    ) -> Data {
        func object(_ members: [String: String]) -> String {
            let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
            return "{" + text.joined(separator: ",") + "}"
        }
        var inner = [
            "environment": "\"Sandbox\"", "bundleId": "\"com.example.app\"", "status": "1",
        ]
        for (name, value) in data { inner[name] = value }
        var members = [
            "notificationType": "\"DID_RENEW\"", "version": "\"2.0\"",
            "notificationUUID": "\"002e14d5-51f5-4503-b5a8-c3a1af68eb20\"",
            "signedDate": "\(now)", "data": object(inner),
        ]
        for (name, value) in changes { members[name] = value }
        return Data(object(members).utf8)
    }

    static func jws(_ payload: String) -> String {
        let text = Data(payload.utf8).base64EncodedString().replacing("=", with: "")
            .replacing("+", with: "-").replacing("/", with: "_")
        return "\"e30.\(text).AAAA\""
    }

    @Test(
        "Genuine and for our app, but of no use: kept aside, counted, answered 200",
        arguments: Backend.allCases
    )
    func unusable(_ backend: Backend) async throws {
        let transaction =
            "{\"transactionId\":\"1\",\"bundleId\":\"com.example.app\",\"environment\":\"Sandbox\"}"
        let payloads = [
            Self.payload(["notificationType": "7"]), Self.payload(["notificationType": nil]),
            Self.payload(["notificationUUID": "\"none\""]),
            Self.payload(data: ["status": "\"one\""]),
            Self.payload(data: ["signedTransactionInfo": "\"no.jws\""]),
            Self.payload(data: ["signedTransactionInfo": Self.jws("{\"a\":1,\"a\":2}")]),
            Self.payload(data: ["signedTransactionInfo": Self.jws("{\"transactionId\":1}")]),
            Self.payload(data: ["signedRenewalInfo": Self.jws("{\"renewalDate\":1e300}")]),
            // A transaction without what every purchase has.
            Self.payload(data: ["signedTransactionInfo": Self.jws(transaction)]),
        ]
        try await TestServer.run(on: backend) { server in
            for payload in payloads {
                let signed = try await server.appStore.sign(anyPayload: payload)
                for _ in 0..<2 {
                    let answer = try await server.deliver(signed)
                    #expect(answer.status == 200, "\(String(decoding: payload, as: UTF8.self))")
                }
            }
            let parked = try await server.tollgate.store.parked.page()
            #expect(parked.count == payloads.count)
            #expect(parked.allSatisfy { $0.store == .appStore && !$0.reason.isEmpty })
            #expect(try await server.rowCounts()["purchase"] == 0)
            let metrics = try await server.get("/metrics", as: nil).text
            #expect(
                metrics.contains(
                    "tollgate_parked_messages{store=\"app_store\"} \(payloads.count)\n"
                )
            )
            let again = try await server.tollgate.parked.retryAll()
            #expect(again.stillParked == payloads.count && again.used == 0)
        }
    }

    @Test("What is not for our app, or not what it should be, is refused and leaves nothing")
    func foreign() async throws {
        try await TestServer.run { server in
            let before = try await server.rowCounts()
            let other =
                "{\"transactionId\":\"1\",\"bundleId\":\"com.example.other\",\"environment\":\"Sandbox\"}"
            let elsewhere =
                "{\"transactionId\":\"1\",\"bundleId\":\"com.example.app\",\"environment\":\"Production\"}"
            for (payload, status, code) in [
                (Self.payload(data: ["bundleId": "\"com.example.other\""]), 404, "app_unknown"),
                (Self.payload(data: ["bundleId": nil]), 404, "app_unknown"),
                (Self.payload(["data": nil]), 404, "app_unknown"),
                (Self.payload(data: ["environment": "\"Xcode\""]), 400, "environment"),
                (Self.payload(data: ["environment": "\"Production\""]), 400, "environment"),
                (Self.payload(data: ["environment": nil]), 400, "environment"),
                // Another app's, even where it cannot be read.
                (
                    Self.payload(data: ["bundleId": "\"com.example.other\"", "status": "\"x\""]),
                    400, "json"
                ),
                (Self.payload(["signedDate": "0"]), 400, "jws_date"),
                (Self.payload(["signedDate": "\"soon\""]), 400, "jws_date"),
                (Self.payload(["signedDate": nil]), 400, "jws_date"),
                (Data("{\"a\":1,\"a\":2}".utf8), 400, "json"),
                (
                    Data("{\"transactionId\":\"1\",\"signedDate\":\(Self.now)}".utf8), 400,
                    "jws_type"
                ),
                (
                    Self.payload(data: ["signedTransactionInfo": Self.jws(other)]), 400,
                    "jws_binding"
                ),
                (
                    Self.payload(data: ["signedTransactionInfo": Self.jws(elsewhere)]), 400,
                    "jws_binding"
                ),
            ] {
                let answer = try await server.deliver(
                    try await server.appStore.sign(anyPayload: payload)
                )
                #expect(answer.status == status, "\(String(decoding: payload, as: UTF8.self))")
                #expect(answer.code == code, "\(String(decoding: payload, as: UTF8.self))")
            }
            #expect(try await server.rowCounts() == before)
            #expect(try await server.tollgate.store.parked.page().isEmpty)
        }
    }

    @Test("What names no app because it is about no purchase is taken in, and acted upon by nobody")
    func withoutApp() async throws {
        try await TestServer.run { server in
            let before = try await server.rowCounts()
            let uuids = [
                "5e1d4a1c-0000-4000-8000-000000000001", "5e1d4a1c-0000-4000-8000-000000000002",
                "5e1d4a1c-0000-4000-8000-000000000003",
                "5e1d4a1c-0000-4000-8000-000000000004",
                "5e1d4a1c-0000-4000-8000-000000000005",
            ]
            func token(_ uuid: String, _ subtype: String) -> Data {
                Self.payload([
                    "notificationType": "\"EXTERNAL_PURCHASE_TOKEN\"", "data": nil,
                    "notificationUUID": "\"\(uuid)\"", "subtype": "\"\(subtype)\"",
                    "externalPurchaseToken": "{\"externalPurchaseId\":\"SANDBOX_1\"}",
                ])
            }
            let payloads = [
                Self.payload([
                    "notificationType": "\"UNCLAIM_SEATS\"", "data": nil,
                    "notificationUUID": "\"\(uuids[0])\"",
                    "unclaimInfo": "{\"unclaimSeatIds\":[\"\(uuids[1])\"]}",
                ]),
                // That a token was made asks for nothing; that it was not reported does.
                token(uuids[1], "CREATED"), token(uuids[3], "UNREPORTED"),
                token(uuids[4], "ACTIVE_TOKEN_REMINDER"),
                Self.payload([
                    "notificationType": "\"RESCIND_CONSENT\"", "data": nil,
                    "notificationUUID": "\"\(uuids[2])\"",
                    "appData": "{\"bundleId\":\"com.example.app\",\"environment\":\"Sandbox\"}",
                ]),
            ]
            for payload in payloads {
                let signed = try await server.appStore.sign(anyPayload: payload)
                for _ in 0..<2 { #expect(try await server.deliver(signed).status == 200) }
            }
            // A token of production is as foreign to a sandbox as any purchase from there.
            let foreign = Self.payload([
                "notificationType": "\"EXTERNAL_PURCHASE_TOKEN\"", "data": nil,
                "externalPurchaseToken": "{\"externalPurchaseId\":\"1\"}",
            ])
            let refused = try await server.deliver(
                try await server.appStore.sign(anyPayload: foreign)
            )
            #expect((400..<500).contains(refused.status))
            var after = try await server.rowCounts()
            #expect(after["journal"] == (before["journal"] ?? 0) + 5)
            after["journal"] = before["journal"]
            #expect(after == before)
            let metrics = try await server.get("/metrics", as: nil).text
            #expect(
                metrics.contains(
                    "tollgate_messages_total{store=\"app_store\",outcome=\"nothing\"} 5\n"
                )
            )
            // What somebody has to do by hand is seen, once each, and nothing else with it.
            let left = metrics.split(separator: "\n").filter {
                $0.hasPrefix("tollgate_left_to_you_total{")
            }
            #expect(
                left.sorted() == [
                    "tollgate_left_to_you_total{store=\"app_store\",type=\"EXTERNAL_PURCHASE_TOKEN\",subtype=\"ACTIVE_TOKEN_REMINDER\"} 1",
                    "tollgate_left_to_you_total{store=\"app_store\",type=\"EXTERNAL_PURCHASE_TOKEN\",subtype=\"UNREPORTED\"} 1",
                    "tollgate_left_to_you_total{store=\"app_store\",type=\"RESCIND_CONSENT\"} 1",
                    "tollgate_left_to_you_total{store=\"app_store\",type=\"UNCLAIM_SEATS\"} 1",
                ]
            )
            // One that cannot be read is as little another app's.
            let unreadable = Self.payload([
                "notificationType": "\"UNCLAIM_SEATS\"", "data": nil,
                "unclaimInfo": "{\"unclaimSeatIds\":7}",
            ])
            let signed = try await server.appStore.sign(anyPayload: unreadable)
            #expect(try await server.deliver(signed).status == 200)
            #expect(try await server.tollgate.store.parked.page().count == 1)
        }
    }

    @Test("A type of tomorrow is journalled and counted")
    func unknownType() async throws {
        try await TestServer.run { server in
            let payload = Self.payload(["notificationType": "\"NOT_YET_INVENTED\""])
            let signed = try await server.appStore.sign(anyPayload: payload)
            let before = try await server.rowCounts()["journal"] ?? 0
            #expect(try await server.deliver(signed).status == 200)
            #expect(try await server.rowCounts()["journal"] == before + 1)
            let metrics = try await server.get("/metrics", as: nil).text
            #expect(metrics.contains("tollgate_unknown_types_total{store=\"app_store\"} 1\n"))
        }
    }

    @Test(
        "One message that the database refuses is parked, and its neighbours are not held up",
        arguments: Backend.allCases
    )
    func refusedByTheDatabase(_ backend: Backend) async throws {
        let uuid = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
        let poison = RowKey("notification", "com.example.app", uuid)
        var setup = AppStoreWorld.Setup()
        setup.refusing = [Self.bytes(of: poison)]
        try await AppStoreWorld.run(on: backend, setup) { world in
            var bodies: [[UInt8]] = []
            for number in 0..<20 {
                let id = number == 10 ? uuid : UUID().uuidString.lowercased()
                let signed = try await world.appStore.sign(
                    anyPayload: Self.payload(["notificationUUID": "\"\(id)\""])
                )
                bodies.append(Array("{\"signedPayload\":\"\(signed)\"}".utf8))
            }
            let before = try await world.count("journal")
            let outcomes = try await withThrowingTaskGroup(of: (Int, MessageOutcome).self) {
                group in
                for (number, body) in bodies.enumerated() {
                    group.addTask {
                        (number, try await world.tollgate.appStore.receive(ReceivedMessage(body)))
                    }
                }
                return try await group.reduce(into: [Int: MessageOutcome]()) { $0[$1.0] = $1.1 }
            }
            for number in 0..<20 {
                #expect(outcomes[number] == (number == 10 ? .parked : .nothing))
            }
            #expect(try await world.count("journal") == before + 19)
            let parked = try await world.tollgate.store.parked.page()
            #expect(parked.map(\.body) == [bodies[10]])
            #expect(parked.first?.source == uuid)
        }
    }

    private static func bytes(of key: RowKey) -> [UInt8] {
        let digits = Array(key.hex)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0
        }
    }
}
