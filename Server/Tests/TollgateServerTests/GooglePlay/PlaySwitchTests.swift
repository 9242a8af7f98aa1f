import Foundation
import Testing
import TollgateCore

@testable import GooglePlayConnector

/// Where Google's documentation is open, each possibility leads to the same access, coins and acts.
///
/// Scenarios are told under the switches of what reads say; these are of how Google delivers and lists.
@Suite("What Google's documentation leaves open")
struct PlaySwitchTests {
    private static let switches = [
        "{}",
        #"{"event_time_is_number":true}"#,
        #"{"push_has_snake_case_twins":false}"#,
        #"{"data_is_unpadded":true}"#,
        #"{"sets_ordering_keys":true}"#,
        #"{"certificates_are_cacheable":false}"#,
        #"{"issuer_has_no_scheme":true}"#,
        #"{"sends_one_time_notifications":false}"#,
        #"{"order_days":3}"#,
        #"{"orders_per_day":2}"#,
        #"{"revoked_item_is_listed":true}"#,
        #"{"signed_purchase_names_account":false}"#,
        #"{"test_acknowledgement_minutes":3}"#,
        #"{"malformed_token_is_invalid":false}"#,
        #"{"token_days":1}"#,
    ]

    @Test("Each possibility, with pushed notifications", arguments: switches)
    func pushed(_ switches: String) async throws { try await live(switches, .pushed) }

    @Test("Each possibility, with pulled notifications", arguments: switches)
    func pulled(_ switches: String) async throws { try await live(switches, .pulled) }

    private func live(_ switches: String, _ hints: PlayWorld.Hints) async throws {
        try await PlayWorld.run(hints: hints, licensed: true) { world in
            try await world.act("behaviour", switches, "PUT")
            let (anna, annas) = try await world.person("anna")
            let (ben, bens) = try await world.person("ben")
            let (carl, carls) = try await world.person("carl", named: false)
            let (dora, doras) = try await world.person("dora", tester: true)
            let plan = try await world.buy("pro", for: annas)
            let coins = try await world.buy("coins100", for: bens, #","quantity":2"#)
            let unlock = try await world.buy("lifetime", for: carls)
            let test = try await world.buy("lifetime", for: doras)
            // Each app shows its purchase; Carl's with Google's signature.
            try await show(plan, "subscription", world, anna)
            try await show(coins, "one_time", world, ben)
            let signed = try await world.act("purchases/\(unlock)/signed", "", "GET")
            let original = try JSONEncoder().encode(signed["original_json"].string)
            let signature = try #require(signed["signature"].string)
            let proof = """
                ,"signed":{"original_json":\(String(decoding: original, as: UTF8.self)),\
                "signature":"\(signature)"}
                """
            try await show(unlock, "one_time", world, carl, proof)
            try await show(test, "one_time", world, dora)
            try await world.settle()
            for token in [plan, coins, unlock, test] {
                let bought = try await world.look(token)
                #expect(bought["acknowledged"].bool == true || bought["consumed"].bool == true)
            }
            #expect(try await world.entitlements(of: anna) == ["pro"])
            #expect(try await world.coins(of: ben) == 200)
            #expect(try await world.entitlements(of: carl) == ["archive", "pro"])
            #expect(try await world.entitlements(of: dora).isEmpty)
            #expect(try await world.record(test, in: .sandbox) != nil)

            await world.wait(days: 1)
            try await world.act("purchases/\(coins)/refund_pieces", #"{"quantity":1}"#)
            try await world.act("purchases/\(unlock)/revoke")
            try await world.settle()
            _ = try await world.room.reconcileIfDue()
            try await world.settle()
            #expect(try await world.coins(of: ben) == 100)
            #expect(try await world.entitlements(of: carl).isEmpty)

            // The plan is renewed, and then cancelled.
            await world.wait(days: 30)
            try await world.settle()
            #expect(try await world.entitlements(of: anna) == ["pro"])
            #expect(try await world.record(plan)?.googlePlay?.periods.count == 2)
            try await world.act("purchases/\(plan)/cancel")
            try await world.settle()
            await world.wait(days: 31)
            try await world.settle()
            _ = try await world.room.reconcileIfDue()
            #expect(try await world.entitlements(of: anna).isEmpty)
            #expect(try await world.coins(of: ben) == 100)
            // What nobody bought is nobody's.
            let stranger = try await world.server.post(
                "/v1/google_play/purchases",
                as: try await world.server.session(of: ben),
                #"{"purchase_token":"no token","kind":"subscription","mode":"purchased"}"#
            )
            #expect(stranger.status == 404 || stranger.status == 400)
        }
    }

    private func show(
        _ token: String,
        _ kind: String,
        _ world: PlayWorld,
        _ customer: String,
        _ more: String = ""
    ) async throws {
        let answer = try await world.server.post(
            "/v1/google_play/purchases",
            as: try await world.server.session(of: customer),
            #"{"purchase_token":"\#(token)","kind":"\#(kind)","mode":"purchased"\#(more)}"#
        )
        #expect(answer.status == 200)
    }
}
