import StrictJSON
import StripeAPI
import Synchronization
import Testing

/// Plays Stripe's side of the wire, in process: gives the prepared answers one after the other.
final class FakeStripe: Sendable {
    struct Down: Error {}

    enum Step: Sendable {
        case answer(Int, String, [String: String] = [:])
        case down
    }

    private struct State {
        var steps: [Step]
        var requests: [Stripe.Request] = []
        var pauses: [Duration] = []
    }

    private let state: Mutex<State>

    init(_ steps: Step...) {
        state = Mutex(State(steps: steps))
    }

    var requests: [Stripe.Request] { state.withLock { $0.requests } }
    var pauses: [Duration] { state.withLock { $0.pauses } }

    var client: Stripe.Client { client() }

    /// - Parameter jitter: what chance says each time it is asked.
    func client(retries: Int = 2, jitter: @escaping @Sendable () -> Double = { 0 }) -> Stripe.Client
    {
        Stripe.Client(
            apiBase: "http://stripe.test/",
            secretKey: "sk_test_1",
            maximumRetries: retries,
            transport: { try self.answer(to: $0) },
            sleep: { pause in self.state.withLock { $0.pauses.append(pause) } },
            jitter: jitter
        )
    }

    private func answer(to request: Stripe.Request) throws -> Stripe.Response {
        let step = state.withLock { state in
            state.requests.append(request)
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        switch step {
        case .answer(let status, let body, let headers):
            return Stripe.Response(status: status, headers: headers, body: Array(body.utf8))
        case .down, nil: throw Down()
        }
    }
}

@Suite("Stripe's API, called")
struct ClientTests {
    static let customer = #"""
        {"id":"cus_1","object":"customer","created":1,"email":"a@example.com","livemode":false,
        "metadata":{},"name":null}
        """#
    static let failure = #"{"error":{"type":"api_error","message":"Oops"}}"#

    @Test("a write is a form with its key, and its answer has Stripe's clock")
    func createCustomer() async throws {
        let stripe = FakeStripe(
            .answer(200, Self.customer, ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
        )
        let answer = try await stripe.client.createCustomer(
            email: "a+b@example.com",
            name: "Zoë & Co",
            metadata: ["b": "2", "a": "1"],
            idempotencyKey: "key_1"
        )
        #expect(answer.value.id == "cus_1")
        #expect(answer.date == 784_111_777)
        let request = try #require(stripe.requests.first)
        #expect(request.method == .post)
        #expect(request.url == "http://stripe.test/v1/customers")
        #expect(request.headers["authorization"] == "Bearer sk_test_1")
        #expect(request.headers["idempotency-key"] == "key_1")
        #expect(request.headers["stripe-version"] == "2026-09-30.endive")
        #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "email=a%2Bb%40example.com&name=Zo%C3%AB%20%26%20Co"
                + "&metadata[a]=1&metadata[b]=2"
        )
    }

    @Test("a replaced secret key is that of the next call, in every copy of the client")
    func replacedKey() async throws {
        let stripe = FakeStripe(.answer(200, Self.customer), .answer(200, Self.customer))
        let client = stripe.client
        let copy = client
        _ = try await copy.get(["customers", "cus_1"], as: Stripe.Customer.self)
        #expect(client.secretKey.replace(with: "sk_test_2"))
        #expect(!client.secretKey.replace(with: "rk_live_2"), "a key of the other mode")
        _ = try await copy.get(["customers", "cus_1"], as: Stripe.Customer.self)
        #expect(
            stripe.requests.map { $0.headers["authorization"] }
                == ["Bearer sk_test_1", "Bearer sk_test_2"]
        )
    }

    @Test("a read has its parameters in the query and no key")
    func read() async throws {
        let stripe = FakeStripe(.answer(200, Fixture.checkoutSession))
        let answer = try await stripe.client.checkoutSession("cs_test_1")
        #expect(answer.value.lineItems?.data.count == 1)
        #expect(answer.date == nil)
        let request = try #require(stripe.requests.first)
        #expect(
            request.url
                == "http://stripe.test/v1/checkout/sessions/cs_test_1?expand[0]=line_items"
                + "&expand[1]=payment_intent.latest_charge"
        )
        #expect(request.headers["idempotency-key"] == nil)
        #expect(request.body.isEmpty)
    }

    @Test("an id cannot leave its place in the path")
    func escapedID() async throws {
        let stripe = FakeStripe(.answer(200, Self.customer))
        _ = try await stripe.client.customer("../events?x=1")
        #expect(
            stripe.requests.first?.url == "http://stripe.test/v1/customers/..%2Fevents%3Fx%3D1"
        )
    }

    @Test("a Checkout session is asked for with lines, metadata for its child, and its items")
    func createCheckoutSession() async throws {
        let stripe = FakeStripe(.answer(200, Fixture.checkoutSession))
        _ = try await stripe.client.createCheckoutSession(
            Stripe.NewCheckoutSession(
                mode: .subscription,
                lines: [.init(price: "price_1"), .init(price: "price_2", quantity: 3)],
                successURL: "https://a.test/ok?s={CHECKOUT_SESSION_ID}",
                customer: "cus_1",
                clientReferenceID: "ref",
                metadata: ["u": "1"]
            ),
            idempotencyKey: "k"
        )
        #expect(
            String(decoding: stripe.requests[0].body, as: UTF8.self).split(separator: "&") == [
                "mode=subscription", "line_items[0][price]=price_1", "line_items[0][quantity]=1",
                "line_items[1][price]=price_2", "line_items[1][quantity]=3",
                "success_url=https%3A%2F%2Fa.test%2Fok%3Fs%3D%7BCHECKOUT_SESSION_ID%7D",
                "customer=cus_1", "client_reference_id=ref", "metadata[u]=1",
                "subscription_data[metadata][u]=1", "expand[0]=line_items",
            ]
        )
    }

    @Test("what may pass is tried again, with the same key and growing pauses")
    func retries() async throws {
        let stripe = FakeStripe(.down, .answer(500, Self.failure), .answer(200, Self.customer))
        _ = try await stripe.client.createCustomer(idempotencyKey: "k")
        #expect(stripe.requests.count == 3)
        #expect(Set(stripe.requests).count == 1)
        #expect(stripe.pauses == [.milliseconds(500), .milliseconds(1000)])
    }

    @Test("after two more tries the last error is given")
    func givesUp() async throws {
        let down = FakeStripe(.down, .down, .down, .answer(200, Self.customer))
        await #expect { try await down.client.customer("cus_1") } throws: { error in
            guard case .unreachable(let cause) = error as? Stripe.RequestError else { return false }
            return cause is FakeStripe.Down
        }
        #expect(down.requests.count == 3)
    }

    @Test(
        "the pause before a try is half a second, doubled up to five, of which chance takes up to half",
        arguments: [
            (0.0, [500, 1000, 2000, 4000, 5000, 5000]),
            (0.5, [375, 750, 1500, 3000, 3750, 3750]),
            (1.0, [250, 500, 1000, 2000, 2500, 2500]),
            // Chance that is none is held within its bounds.
            (7.0, [250, 500, 1000, 2000, 2500, 2500]),
            (-1.0, [500, 1000, 2000, 4000, 5000, 5000]),
        ]
    )
    func backOff(chance: Double, milliseconds: [Int]) async throws {
        let stripe = FakeStripe(.down, .down, .down, .down, .down, .down, .down)
        await #expect(throws: Stripe.RequestError.self) {
            try await stripe.client(retries: 6, jitter: { chance }).customer("cus_1")
        }
        #expect(stripe.requests.count == 7)
        #expect(stripe.pauses == milliseconds.map { .milliseconds($0) })
    }

    @Test("chance is asked before each try, so that clients that failed together come back apart")
    func jitterIsFresh() async throws {
        var random = SystemRandomNumberGenerator()
        let drawn = (0..<64).map { _ in Double.random(in: 0...1, using: &random) }
        var pauses: Set<Duration> = []
        for chance in drawn {
            let stripe = FakeStripe(.answer(500, Self.failure), .answer(200, Self.customer))
            _ = try await stripe.client(jitter: { chance }).customer("cus_1")
            let pause = try #require(stripe.pauses.first)
            #expect(pause >= .milliseconds(250) && pause <= .milliseconds(500))
            pauses.insert(pause)
        }
        #expect(pauses.count > 16)
        let asked = Mutex(0)
        let stripe = FakeStripe(.down, .down, .answer(200, Self.customer))
        _ = try await stripe.client(jitter: {
            asked.withLock { $0 += 1 }
            return 0
        }).customer("cus_1")
        #expect(asked.withLock { $0 } == 2)
    }

    @Test("a twin that is still being worked on is waited for: the same key gives its answer")
    func keyInUse() async throws {
        let conflict = #"""
            {"error":{"type":"idempotency_error","code":"idempotency_key_in_use",
            "message":"There is currently another in-progress request using this key."}}
            """#
        let stripe = FakeStripe(
            .answer(409, conflict),
            .answer(409, conflict),
            .answer(200, Self.customer)
        )
        let answer = try await stripe.client.createCustomer(idempotencyKey: "twin")
        #expect(answer.value.id == "cus_1")
        #expect(stripe.requests.map { $0.headers["idempotency-key"] } == ["twin", "twin", "twin"])
        // Where it lasts, the caller learns that the same call may succeed later.
        let stuck = FakeStripe(
            .answer(409, conflict),
            .answer(409, conflict),
            .answer(409, conflict)
        )
        do throws(Stripe.RequestError) {
            _ = try await stuck.client.createCustomer(idempotencyKey: "twin")
            Issue.record("it was made")
        } catch {
            #expect(error.isRetryable)
            guard case .refused(let refusal) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(refusal.code == "idempotency_key_in_use")
        }
    }

    static let tries: [(Int, String?, Int)] = [
        (400, nil, 1), (401, nil, 1), (402, nil, 1), (404, nil, 1), (409, nil, 3), (429, nil, 1),
        (500, nil, 3), (503, nil, 3), (400, "true", 3), (429, "true", 3), (500, "false", 1),
        (409, "false", 1), (500, "perhaps", 3),
    ]

    @Test("Stripe's own word on trying again goes before the status", arguments: tries)
    func shouldRetry(status: Int, header: String?, count: Int) async throws {
        let step = FakeStripe.Step.answer(
            status,
            Self.failure,
            header.map { ["Stripe-Should-Retry": $0] } ?? [:]
        )
        let stripe = FakeStripe(step, step, step, step)
        await #expect(throws: Stripe.RequestError.self) {
            try await stripe.client.customer("cus_1")
        }
        #expect(stripe.requests.count == count)
    }

    @Test("an error has everything that Stripe said")
    func error() async throws {
        let stripe = FakeStripe(
            .answer(
                404,
                #"""
                {"error":{"type":"invalid_request_error","code":"resource_missing","param":"id",
                "message":"No such customer: 'cus_x'"}}
                """#,
                ["request-id": "req_9"]
            )
        )
        do throws(Stripe.RequestError) {
            _ = try await stripe.client.customer("cus_x")
            Issue.record("it was found")
        } catch {
            guard case .refused(let refusal) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(refusal.status == 404)
            #expect(refusal.type == "invalid_request_error")
            #expect(refusal.code == "resource_missing")
            #expect(refusal.param == "id")
            #expect(!error.isRetryable)
            #expect(
                refusal.description
                    == "Stripe answered 404 (resource_missing, param id, req_9): "
                    + "No such customer: 'cus_x'"
            )
        }
    }

    static let rubbish: [(Int, String)] = [
        (502, "<html>"), (200, "<html>"), (200, "{}"), (200, #"{"object":"charge"}"#), (200, ""),
    ]

    @Test("an answer that is none of Stripe's is an error and no crash", arguments: rubbish)
    func refusesRubbish(status: Int, body: String) async throws {
        let step = FakeStripe.Step.answer(status, body)
        let stripe = FakeStripe(step, step, step)
        await #expect(throws: Stripe.RequestError.self) {
            try await stripe.client.customer("cus_1")
        }
    }

    @Test("a list is read page by page, only as far as it is asked for")
    func autoPaging() async throws {
        func page(_ ids: [Int], more: Bool) -> FakeStripe.Step {
            .answer(
                200,
                #"{"object":"list","url":"/v1/x","has_more":\#(more),"data":["#
                    + ids.map(Fixture.lineItem).joined(separator: ",") + "]}"
            )
        }
        let stripe = FakeStripe(page([1, 2], more: true), page([3], more: false))
        var ids: [String] = []
        for try await item in stripe.client.lists.lineItems(ofCheckoutSession: "cs_1") {
            ids.append(item.id)
        }
        #expect(ids == ["li_1", "li_2", "li_3"])
        #expect(
            stripe.requests.map(\.url) == [
                "http://stripe.test/v1/checkout/sessions/cs_1/line_items?limit=100",
                "http://stripe.test/v1/checkout/sessions/cs_1/line_items?limit=100"
                    + "&starting_after=li_2",
            ]
        )

        let first = FakeStripe(page([1, 2], more: true))
        for try await item in first.client.lists.lineItems(ofCheckoutSession: "cs_1") {
            #expect(item.id == "li_1")
            break
        }
        #expect(first.requests.count == 1)

        let empty = FakeStripe(page([], more: true))
        for try await item in empty.client.lists.lineItems(ofCheckoutSession: "cs_1") {
            Issue.record("\(item)")
        }

        let endless = FakeStripe(page([1], more: true), page([1], more: true))
        await #expect(throws: Stripe.RequestError.self) {
            for try await _ in endless.client.lists.lineItems(ofCheckoutSession: "cs_1") {}
        }
        #expect(endless.requests.count == 2)
    }

    @Test("events are filtered by type and time")
    func events() async throws {
        let event = Fixture.event("refund.created", Fixture.refund)
        let stripe = FakeStripe(
            .answer(
                200,
                #"{"object":"list","url":"/v1/events","has_more":false,"data":[\#(event)]}"#
            )
        )
        for try await event in stripe.client.lists.events(types: [.refundCreated], since: 7) {
            #expect(event.type == .refundCreated)
        }
        #expect(
            stripe.requests.first?.url
                == "http://stripe.test/v1/events?types[0]=refund.created&created[gte]=7&limit=100"
        )
    }

    @Test("a cancelled task sends nothing more")
    func cancellation() async throws {
        let stripe = FakeStripe(.down, .down)
        let client = stripe.client
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await client.customer("cus_1")
        }
        await #expect(throws: Stripe.RequestError.self) { try await task.value }
        #expect(stripe.requests.isEmpty)
    }

    static let dates: [(String, Int64?)] = [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
        ("Wed, 30 Sep 2026 12:00:00 GMT", 1_790_769_600),
        ("Wed, 29 Feb 2023 00:00:00 GMT", nil), ("Wednesday, 30-Sep-26 12:00:00 GMT", nil),
        ("Wed, 30 Sep 2026 24:00:00 GMT", nil), ("Wed, 30 Sep 2026 12:00:00 CET", nil),
        ("Wed, 00 Sep 2026 12:00:00 GMT", nil), ("", nil),
    ]

    @Test("Stripe's clock is read from the header Date", arguments: dates)
    func date(text: String, seconds: Int64?) async throws {
        let stripe = FakeStripe(.answer(200, Self.customer, ["date": text]))
        #expect(try await stripe.client.customer("cus_1").date == seconds)
    }
}
