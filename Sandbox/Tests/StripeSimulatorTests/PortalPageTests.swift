import NIOHTTP1
import SandboxClock
import Testing

@testable import StripeSimulator

@Suite struct PortalPageTests {
    private func subscribed(_ sandbox: SandboxFixture) async throws -> (
        customer: String, id: String
    ) {
        let session = try await sandbox.session(price: "price_pro_monthly", mode: "subscription")
        _ = try await sandbox.simulator.pay(checkoutSession: session["id"].text)
        let paid = try await sandbox.send(.GET, "/v1/checkout/sessions/\(session["id"].text)").json
        return (paid["customer"].text, paid["subscription"].text)
    }

    @Test func aCustomerCancelsResumesAndSwitches() async throws {
        try await SandboxFixture.run { sandbox in
            let (customer, id) = try await subscribed(sandbox)
            let portal = try await sandbox.send(
                .POST,
                "/v1/billing_portal/sessions",
                "customer=\(customer)&return_url=https://example.com/app"
            ).json["url"].text
            let page = try await sandbox.send(.GET, portal, key: nil)
            #expect(page.text.contains("$9.99 per month"))
            #expect(page.text.contains("href=\"https://example.com/app\""))

            let asked = try await sandbox.send(
                .POST,
                portal,
                "action=cancel&subscription=\(id)",
                key: nil
            )
            #expect(asked.text.contains("You keep what you paid for until 01 Feb 2026"))
            let canceled = try await sandbox.send(
                .POST,
                portal,
                "action=cancel&confirmed=true&subscription=\(id)",
                key: nil
            )
            #expect(canceled.status == 303)
            var subscription = try await sandbox.send(.GET, "/v1/subscriptions/\(id)").json
            // Portal and flexible billing: only the instant is set.
            #expect(subscription["cancel_at_period_end"] == false)
            #expect(subscription["cancel_at"] == 1_769_904_000)

            _ = try await sandbox.send(
                .POST,
                portal,
                "action=resume&subscription=\(id)",
                key: nil
            )
            subscription = try await sandbox.send(.GET, "/v1/subscriptions/\(id)").json
            #expect(subscription["cancel_at"].isNull)

            _ = try await sandbox.send(
                .POST,
                portal,
                "action=switch&subscription=\(id)&price=price_pro_yearly",
                key: nil
            )
            subscription = try await sandbox.send(.GET, "/v1/subscriptions/\(id)").json
            #expect(
                subscription["items"]["data"].elements.first?["price"]["id"] == "price_pro_yearly"
            )
        }
    }

    private func portal(_ sandbox: SandboxFixture, _ customer: String) async throws -> String {
        try await sandbox.send(.POST, "/v1/billing_portal/sessions", "customer=\(customer)")
            .json["url"].text
    }

    private func typeCard(
        _ number: String,
        _ sandbox: SandboxFixture,
        _ portal: String
    ) async throws -> SandboxFixture.Answer {
        try await sandbox.send(
            .POST,
            portal,
            "action=card&card=\(number)&expiry=12/34&cvc=123&name=Jenny+Rosen"
                + "&country=US&postal_code=94103",
            key: nil
        )
    }

    @Test func theNextRenewalIsChargedToTheNewCard() async throws {
        try await SandboxFixture.run { sandbox in
            let (customer, _) = try await subscribed(sandbox)
            let portal = try await self.portal(sandbox, customer)
            let answer = try await typeCard("5555555555554444", sandbox, portal)
            #expect(answer.status == 303)
            let page = try await sandbox.send(.GET, portal, key: nil)
            #expect(page.text.contains("Mastercard ending in 4444"))
            await sandbox.clock.advance(to: 1_767_225_600_000 + 32 * 86_400_000)
            let charges = try await sandbox.send(.GET, "/v1/charges?customer=\(customer)").json
            let digits = charges["data"].elements
                .map { $0["payment_method_details"]["card"]["last4"].text }
            #expect(digits == ["4444", "4242"])
            let refused = try await typeCard("4242424242424241", sandbox, portal)
            #expect(refused.status == 400)
        }
    }

    @Test func aCardThatWorksLiftsWhatACardThatFailsLeftPastDue() async throws {
        try await SandboxFixture.run { sandbox in
            let (customer, id) = try await subscribed(sandbox)
            let portal = try await self.portal(sandbox, customer)
            #expect(try await typeCard("4000000000000341", sandbox, portal).status == 303)
            await sandbox.clock.advance(to: 1_767_225_600_000 + 32 * 86_400_000)
            let failed = try await sandbox.send(.GET, "/v1/subscriptions/\(id)").json
            #expect(failed["status"] == "past_due")
            #expect(try await typeCard("4242424242424242", sandbox, portal).status == 303)
            // The next attempt is three days after the first.
            await sandbox.clock.advance(to: 1_767_225_600_000 + 35 * 86_400_000)
            let mended = try await sandbox.send(.GET, "/v1/subscriptions/\(id)").json
            #expect(mended["status"] == "active")
            let invoices = try await sandbox.send(.GET, "/v1/invoices").json["data"].elements
            #expect(invoices.map { $0["status"] } == ["paid", "paid"])
        }
    }

    @Test func anotherCustomersSubscriptionIsOutOfReach() async throws {
        try await SandboxFixture.run { sandbox in
            let (_, id) = try await subscribed(sandbox)
            let other = try await sandbox.send(.POST, "/v1/customers").json["id"].text
            let portal = try await sandbox.send(
                .POST,
                "/v1/billing_portal/sessions",
                "customer=\(other)"
            ).json["url"].text
            let answer = try await sandbox.send(
                .POST,
                portal,
                "action=cancel&confirmed=true&subscription=\(id)",
                key: nil
            )
            #expect(answer.status == 400)
            let subscription = try await sandbox.send(.GET, "/v1/subscriptions/\(id)").json
            #expect(subscription["cancel_at"].isNull)
        }
    }

    @Test func withoutSavedSettingsThereIsNoPortal() async throws {
        var configuration = StripeSimulator.Configuration.sample
        configuration.hasPortalConfiguration = false
        try await SandboxFixture.run(configuration) { sandbox in
            let customer = try await sandbox.send(.POST, "/v1/customers").json["id"].text
            let answer = try await sandbox.send(
                .POST,
                "/v1/billing_portal/sessions",
                "customer=\(customer)"
            )
            #expect(answer.status == 400)
        }
    }
}
