import NIOHTTP1
import SandboxClock
import Synchronization
import Testing

@testable import StripeSimulator

@Suite struct CheckoutPageTests {
    @Test func theLabelledPageTakesACardAndSendsThePayerBack() async throws {
        try await SandboxFixture.run { sandbox in
            let session = try await sandbox.session(price: "price_coins")
            let page = try await sandbox.send(.GET, session["url"].text, key: nil)
            #expect(page.status == 200)
            for field in ["email", "card", "expiry", "cvc", "name", "country", "postal_code"] {
                #expect(page.text.contains("<label for=\"\(field)\">"), "\(field)")
                #expect(page.text.contains("id=\"\(field)\""), "\(field)")
            }
            #expect(page.text.contains("Pay $10.00"))
            #expect(page.text.contains("href=\"https://example.com/back\""))
            let policy = page.headers.first(name: "Content-Security-Policy") ?? ""
            #expect(policy.hasPrefix("default-src 'none'"))
            #expect(!page.text.contains("<script"))

            let paid = try await sandbox.send(
                .POST,
                session["url"].text,
                SandboxFixture.entry(card: "4242+4242+4242+4242"),
                key: nil
            )
            #expect(paid.status == 303)
            #expect(
                paid.headers.first(name: "Location")
                    == "https://example.com/done?id=\(session["id"].text)"
            )
            #expect(sandbox.inbox.types.contains("checkout.session.completed"))
            let again = try await sandbox.send(.GET, session["url"].text, key: nil)
            #expect(again.text.contains("has been completed"))
        }
    }

    @Test func whatTheMerchantNamedIsEscaped() async throws {
        try await SandboxFixture.run { sandbox in
            let session = try await sandbox.session(
                price: "price_pro_monthly",
                mode: "subscription"
            )
            let page = try await sandbox.send(.GET, session["url"].text, key: nil)
            #expect(page.text.contains("Pro &lt;b&gt;plan&lt;/b&gt;"))
            #expect(!page.text.contains("<b>plan</b>"))
            let refused = try await sandbox.session(
                price: "price_coins",
                more: "&cancel_url=javascript:alert(1)"
            )
            #expect(refused["error"]["code"] == "url_invalid")
        }
    }

    @Test func theCustomersBalancePaysAPartOfAPlan() async throws {
        try await SandboxFixture.run { sandbox in
            let customer = try await sandbox.send(.POST, "/v1/customers").json["id"].text
            _ = try await sandbox.send(
                .POST,
                "/v1/customers/\(customer)/balance_transactions",
                "amount=-300&currency=usd"
            )
            let session = try await sandbox.session(
                price: "price_pro_monthly",
                mode: "subscription",
                more: "&customer=\(customer)"
            )
            let entry = SandboxFixture.entry(card: "4242424242424242")
            _ = try await sandbox.send(.POST, session["url"].text, entry, key: nil)
            let query = "?customer=\(customer)"
            let invoices = try await sandbox.send(.GET, "/v1/invoices\(query)").json["data"]
            #expect(invoices.elements.map { $0["amount_paid"].count } == [699])
            let charges = try await sandbox.send(.GET, "/v1/charges\(query)").json["data"]
            #expect(charges.elements.map { $0["amount"].count } == [699])
        }
    }

    static let declines = [
        ("4000000000000002", "Your card was declined."),
        ("4000000000009995", "Your card has insufficient funds."),
        ("4000000000000069", "Your card has expired."),
        ("4000000000000127", "Your card&#39;s security code is incorrect."),
        ("4242424242424241", "Your card number is invalid."),
        ("4111111111111111", "This is no test card."),
    ]

    @Test(arguments: declines)
    func aDeclineIsSaidOnThePage(_ card: String, _ message: String) async throws {
        try await SandboxFixture.run { sandbox in
            let session = try await sandbox.session(price: "price_coins")
            let page = try await sandbox.send(
                .POST,
                session["url"].text,
                SandboxFixture.entry(card: card),
                key: nil
            )
            #expect(page.status == 402)
            #expect(page.text.contains(message), "\(page.text)")
            #expect(page.text.contains("role=\"alert\""))
            let open = try await sandbox.send(.GET, "/v1/checkout/sessions/\(session["id"].text)")
            #expect(open.json["status"] == "open")
        }
    }

    @Test(arguments: ["4000000000003220", "4000002500003155", "4000002760003184"])
    func aChallengeIsPassedOrNot(_ card: String) async throws {
        try await SandboxFixture.run { sandbox in
            let session = try await sandbox.session(
                price: "price_pro_monthly",
                mode: "subscription"
            )
            let url = session["url"].text
            let entry = SandboxFixture.entry(card: card)
            let challenge = try await sandbox.send(.POST, url, entry, key: nil)
            #expect(challenge.text.contains("Confirm your payment"))
            let failed = try await sandbox.send(.POST, url, entry + "&challenge=fail", key: nil)
            #expect(failed.text.contains("We are unable to authenticate"))
            let paid = try await sandbox.send(.POST, url, entry + "&challenge=complete", key: nil)
            #expect(paid.status == 303)
            #expect(sandbox.inbox.types.contains("customer.subscription.created"))
        }
    }

    @Test func aDownEndpointHoldsThePayerForTenSecondsAndNoLonger() async throws {
        let waits = Mutex<[Duration]>([])
        var configuration = StripeSimulator.Configuration.sample
        configuration.pause = { wait in waits.withLock { $0.append(wait) } }
        // Each look at the clock finds it three seconds later: so long the delivery took.
        let time = Mutex(ContinuousClock.now)
        configuration.instant = {
            time.withLock {
                $0 = $0.advanced(by: .seconds(3)); return $0
            }
        }
        try await SandboxFixture.run(configuration) { sandbox in
            let session = try await sandbox.session(price: "price_coins")
            _ = try await sandbox.send(
                .POST,
                session["url"].text,
                SandboxFixture.entry(card: "4242424242424242")
            )
            #expect(waits.withLock { $0 }.isEmpty)
            sandbox.inbox.answer(with: 500)
            let second = try await sandbox.session(price: "price_coins")
            let paid = try await sandbox.send(
                .POST,
                second["url"].text,
                SandboxFixture.entry(card: "4242424242424242")
            )
            #expect(paid.status == 303)
            #expect(waits.withLock { $0 } == [.seconds(7)])
        }
    }

    /// What keeps `checkout.session.completed` from being taken, and whether the payer waits.
    enum Trouble: String, CaseIterable, Sendable {
        case silentEndpoint, oneOfTwoDown, downButNotSubscribed, downButDisabled
    }

    @Test(arguments: Trouble.allCases)
    func thePayerWaitsForEveryEndpointThatIsSubscribed(_ trouble: Trouble) async throws {
        let waits = Mutex<[Duration]>([])
        var configuration = StripeSimulator.Configuration.sample
        configuration.pause = { wait in waits.withLock { $0.append(wait) } }
        if trouble == .silentEndpoint { configuration.deliveryTimeout = .milliseconds(300) }
        let time = Mutex(ContinuousClock.now)
        configuration.instant = {
            time.withLock {
                $0 = $0.advanced(by: .seconds(3)); return $0
            }
        }
        try await SandboxFixture.run(configuration) { sandbox in
            let events = trouble == .downButNotSubscribed ? "charge.succeeded" : "*"
            if trouble == .silentEndpoint {
                sandbox.inbox.answer(with: 0)
            } else {
                // Nobody listens on port 1.
                let endpoint = try await sandbox.send(
                    .POST,
                    "/v1/webhook_endpoints",
                    "url=http://127.0.0.1:1/&enabled_events[0]=\(events)"
                ).json["id"].text
                if trouble == .downButDisabled {
                    _ = try await sandbox.send(
                        .POST,
                        "/v1/webhook_endpoints/\(endpoint)",
                        "disabled=true"
                    )
                }
            }
            let session = try await sandbox.session(price: "price_coins")
            let paid = try await sandbox.send(
                .POST,
                session["url"].text,
                SandboxFixture.entry(card: "4242424242424242")
            )
            #expect(paid.status == 303)
            let isHeld = [.silentEndpoint, .oneOfTwoDown].contains(trouble)
            #expect(waits.withLock { $0 } == (isHeld ? [.seconds(7)] : []))
            #expect(
                sandbox.inbox.types.contains("checkout.session.completed")
                    != (trouble == .silentEndpoint)
            )
        }
    }

    @Test func aPaymentLinkMakesASessionOfItsOwn() async throws {
        try await SandboxFixture.run { sandbox in
            let link = try await sandbox.send(
                .POST,
                "/v1/payment_links",
                "line_items[0][price]=price_coins&line_items[0][quantity]=2"
                    + "&after_completion[type]=redirect"
                    + "&after_completion[redirect][url]=https://example.com/{CHECKOUT_SESSION_ID}"
            ).json
            let visit = try await sandbox.send(
                .GET,
                link["url"].text + "?client_reference_id=user-1",
                key: nil
            )
            #expect(visit.status == 303)
            let page = visit.headers.first(name: "Location") ?? ""
            let paid = try await sandbox.send(
                .POST,
                page,
                SandboxFixture.entry(card: "4242424242424242"),
                key: nil
            )
            let id = page.split(separator: "/").last.map(String.init) ?? ""
            #expect(paid.headers.first(name: "Location") == "https://example.com/\(id)")
            let session = try await sandbox.send(.GET, "/v1/checkout/sessions/\(id)").json
            #expect(session["payment_link"] == link["id"])
            #expect(session["client_reference_id"] == "user-1")
            #expect(session["amount_total"] == 2_000)
        }
    }
}
