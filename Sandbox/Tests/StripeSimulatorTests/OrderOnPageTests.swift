import NIOHTTP1
import SandboxClock
import Testing

@testable import StripeSimulator

@Suite("What a payer adds on the page, and what the page only holds")
struct OrderOnPageTests {
    // https://docs.stripe.com/payments/checkout/cross-sells
    @Test("a plan takes a product beside it that is paid once, and none of another interval")
    func crossSell() async throws {
        try await SandboxFixture.run { sandbox in
            let id = try await sandbox.session(price: "price_pro_monthly", mode: "subscription")[
                "id"
            ].text
            await #expect(throws: StripeSimulator.Refusal.self) {
                _ = try await sandbox.simulator.pay(
                    checkoutSession: id,
                    adding: ["price_pro_yearly"]
                )
            }
            _ = try await sandbox.simulator.pay(checkoutSession: id, adding: ["price_coins"])
            let session = try await sandbox.send(.GET, "/v1/checkout/sessions/\(id)").json
            #expect(session["status"] == "complete")
            #expect(session["amount_total"] == 1_999)
            let lines = try await sandbox.send(
                .GET,
                "/v1/checkout/sessions/\(id)/line_items"
            ).json
            #expect(lines["data"].elements.count == 2)
            let invoice = try await sandbox.send(
                .GET,
                "/v1/invoices/\(session["invoice"].text)"
            ).json
            #expect(invoice["amount_paid"] == 1_999)
        }
    }

    @Test("a product that renews is not added to what is paid once")
    func planBesideCoins() async throws {
        try await SandboxFixture.run { sandbox in
            let id = try await sandbox.session(price: "price_coins")["id"].text
            await #expect(throws: StripeSimulator.Refusal.self) {
                _ = try await sandbox.simulator.pay(
                    checkoutSession: id,
                    adding: ["price_pro_monthly"]
                )
            }
        }
    }

    // https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
    @Test("money that nobody captures is let go after seven days")
    func expiredHold() async throws {
        try await SandboxFixture.run { sandbox in
            let id = try await sandbox.session(
                price: "price_coins",
                more: "&payment_intent_data[capture_method]=manual"
            )["id"].text
            _ = try await sandbox.simulator.pay(checkoutSession: id)
            let session = try await sandbox.send(.GET, "/v1/checkout/sessions/\(id)").json
            #expect(session["payment_status"] == "unpaid")
            let path = "/v1/payment_intents/\(session["payment_intent"].text)"
            #expect(try await sandbox.send(.GET, path).json["status"] == "requires_capture")
            await sandbox.clock.advance(to: 1_767_225_600_000 + 7 * 86_400_000)
            #expect(try await sandbox.send(.GET, path).json["status"] == "canceled")
            #expect(try await sandbox.send(.POST, path + "/capture").status == 400)
            #expect(sandbox.inbox.types.contains("charge.expired"))
            #expect(sandbox.inbox.types.contains("payment_intent.canceled"))
        }
    }
}
