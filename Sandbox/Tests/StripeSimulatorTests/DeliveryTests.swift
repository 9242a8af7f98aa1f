import Crypto
import Foundation
import NIOHTTP1
import SandboxClock
import Testing

@testable import StripeSimulator

@Suite struct DeliveryTests {
    @Test func theSignatureIsTheHMACOfTimestampAndBytes() {
        let header = Signature.header(
            body: #"{"id":"evt_1"}"#,
            secrets: ["whsec_a", "whsec_b"],
            timestamp: 1_700_000_000
        )
        let parts = header.split(separator: ",").map(String.init)
        #expect(parts.count == 3)
        #expect(parts[0] == "t=1700000000")
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(#"1700000000.{"id":"evt_1"}"#.utf8),
            using: SymmetricKey(data: Data("whsec_a".utf8))
        )
        #expect(parts[1] == "v1=" + code.map { String(format: "%02x", $0) }.joined())
    }

    @Test func aYearOfRenewalsIsAnsweredWhenTheAdvanceReturns() async throws {
        try await SandboxFixture.run { sandbox in
            let session = try await sandbox.session(
                price: "price_pro_monthly",
                mode: "subscription"
            )
            _ = try await sandbox.simulator.pay(checkoutSession: session["id"].text)
            await sandbox.clock.advance(to: 1_767_225_600_000 + 365 * 86_400_000 + 3_600_000)
            #expect(sandbox.inbox.types.filter { $0 == "invoice.paid" }.count == 13)
            let created = sandbox.inbox.messages.filter { $0.event["type"] == "invoice.paid" }
                .map { $0.event["created"].count }
            #expect(created == created.sorted())
            #expect(await sandbox.simulator.world.deliveries.isEmpty)
        }
    }

    @Test func whatAnEndpointRefusesComesAgainForThreeDays() async throws {
        try await SandboxFixture.run { sandbox in
            sandbox.inbox.answer(with: 503)
            _ = try await sandbox.send(.POST, "/v1/customers")
            await sandbox.clock.advance(to: 1_767_225_600_000 + 4 * 86_400_000)
            #expect(sandbox.inbox.messages.count == 5)
            let bodies = Set(sandbox.inbox.messages.map(\.body))
            #expect(bodies.count == 1, "the bytes do not change")
            sandbox.inbox.answer(with: 200)
            await sandbox.clock.advance(to: 1_767_225_600_000 + 8 * 86_400_000)
            #expect(sandbox.inbox.messages.count == 5)
            let event = try #require(sandbox.inbox.messages.first).event["id"].text
            try await sandbox.simulator.resend(event: event)
            #expect(sandbox.inbox.messages.last?.event["id"].text == event)
        }
    }

    @Test func deliveriesFailAreDoubledAndWaitOnDemand() async throws {
        try await SandboxFixture.run { sandbox in
            var faults = StripeSimulator.Faults()
            faults.isFailing = true
            await sandbox.simulator.setFaults(faults)
            _ = try await sandbox.send(.POST, "/v1/customers", "name=first")
            await sandbox.simulator.settle()
            #expect(sandbox.inbox.messages.isEmpty)
            faults = StripeSimulator.Faults()
            faults.repeats = 1
            await sandbox.simulator.setFaults(faults)
            #expect(sandbox.inbox.messages.count == 1)
            _ = try await sandbox.send(.POST, "/v1/customers", "name=second")
            await sandbox.simulator.settle()
            #expect(sandbox.inbox.messages.count == 3)
            faults = StripeSimulator.Faults()
            faults.isPaused = true
            faults.isReversed = true
            await sandbox.simulator.setFaults(faults)
            for name in ["third", "fourth"] {
                _ = try await sandbox.send(.POST, "/v1/customers", "name=\(name)")
            }
            await sandbox.clock.advance(to: 1_767_225_600_000 + 86_400_000)
            #expect(sandbox.inbox.messages.count == 3)
            faults.isPaused = false
            await sandbox.simulator.setFaults(faults)
            let names = sandbox.inbox.messages.suffix(2)
                .map { $0.event["data"]["object"]["name"].text }
            #expect(names == ["fourth", "third"])
        }
    }

    @Test func anEndpointGetsWhatItWantsInItsOwnVersionAndNothingOnceDisabled() async throws {
        try await SandboxFixture.run { sandbox in
            let made = try await sandbox.send(
                .POST,
                "/v1/webhook_endpoints",
                "url=\(sandbox.hooks)?second&enabled_events[0]=customer.created"
                    + "&enabled_events[1]=customer.deleted&api_version=2025-03-31.basil"
            )
            #expect(made.status == 200)
            @Sendable func arrived() -> [String] {
                sandbox.inbox.messages.filter { $0.address.hasSuffix("?second") }
                    .map { $0.event["type"].text + " " + $0.event["api_version"].text }
            }
            let customer = try await sandbox.send(.POST, "/v1/customers").json["id"].text
            _ = try await sandbox.send(.POST, "/v1/customers/\(customer)", "name=Jenny")
            _ = try await sandbox.send(.POST, "/v1/products", "name=Pro")
            await sandbox.simulator.settle()
            #expect(arrived() == ["customer.created 2025-03-31.basil"])
            #expect(sandbox.inbox.types.contains("customer.updated"))
            let own = sandbox.inbox.messages.filter { $0.address == "/hooks" }
            #expect(own.allSatisfy { $0.event["api_version"] == "2026-09-30.endive" })

            let endpoint = "/v1/webhook_endpoints/" + made.json["id"].text
            _ = try await sandbox.send(.POST, endpoint, "disabled=true")
            _ = try await sandbox.send(.POST, "/v1/customers")
            await sandbox.simulator.settle()
            #expect(arrived().count == 1)
            _ = try await sandbox.send(.POST, endpoint, "disabled=false")
            _ = try await sandbox.send(.DELETE, "/v1/customers/\(customer)")
            await sandbox.simulator.settle()
            #expect(arrived().last == "customer.deleted 2025-03-31.basil")
        }
    }

    @Test func eachEndpointGetsTheShapesOfItsVersion() async throws {
        try await SandboxFixture.run { sandbox in
            for version in ["2026-10-28.endive", "2026-08-26.dahlia"] {
                let made = try await sandbox.send(
                    .POST,
                    "/v1/webhook_endpoints",
                    "url=\(sandbox.hooks)?\(version)&enabled_events[0]=*&api_version=\(version)"
                )
                #expect(made.status == 200)
            }
            let customer = try await sandbox.send(.POST, "/v1/customers").json["id"].text
            _ = try await sandbox.send(
                .POST,
                "/v1/billing_portal/sessions",
                "customer=\(customer)"
            )
            let product = try await sandbox.send(.POST, "/v1/products", "name=Pro").json["id"].text
            _ = try await sandbox.send(.POST, "/v1/products/\(product)", "name=Other")
            await sandbox.simulator.settle()
            /// Which endpoints were told of a member.
            @Sendable func told(_ type: String, _ member: String) -> Set<String> {
                let own = sandbox.inbox.messages.filter {
                    $0.event["type"].string == type
                        && $0.event["data"]["object"].members?[member] != nil
                }
                return Set(own.map { String($0.address.dropFirst("/hooks".count)) })
            }
            let all: Set = ["", "?2026-10-28.endive", "?2026-08-26.dahlia"]
            #expect(told("billing_portal.session.created", "url") == all)
            #expect(
                told("billing_portal.session.created", "after_expiration")
                    == ["?2026-10-28.endive"]
            )
            #expect(
                told("product.updated", "tax_details") == ["", "?2026-10-28.endive"]
            )
        }
    }

    @Test func stateOutlivesTheProcess() async throws {
        let path = FileSystem.temporary("state.json")
        defer { FileSystem.remove(path) }
        var configuration = StripeSimulator.Configuration.sample
        configuration.statePath = path
        let saved = configuration
        try await SandboxFixture.run(saved) { sandbox in
            let session = try await sandbox.session(
                price: "price_pro_monthly",
                mode: "subscription"
            )
            _ = try await sandbox.simulator.pay(checkoutSession: session["id"].text)
            await sandbox.clock.advance(to: 1_767_225_600_000 + 5 * 86_400_000)
        }
        #expect(try StripeSimulator.savedInstant(statePath: path) != nil)
        try await SandboxFixture.run(saved) { sandbox in
            let list = try await sandbox.send(.GET, "/v1/subscriptions").json
            #expect(list["data"].elements.count == 1)
            await sandbox.clock.advance(to: 1_767_225_600_000 + 32 * 86_400_000)
            let invoices = try await sandbox.send(.GET, "/v1/invoices").json
            #expect(invoices["data"].elements.map { $0["status"] } == ["paid", "paid"])
        }
    }
}
