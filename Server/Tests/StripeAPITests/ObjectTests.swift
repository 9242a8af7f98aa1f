import StrictJSON
import StripeAPI
import Testing

@Suite("Stripe's objects")
struct ObjectTests {
    @Test("a subscription is read with its items and their periods")
    func subscription() throws {
        let subscription = try Stripe.Subscription(Fixture.json(Fixture.subscription))
        #expect(subscription.id == "sub_1")
        #expect(subscription.customer.id == "cus_1")
        #expect(try subscription.customer.object() == nil)
        let item = try #require(subscription.items.data.first)
        #expect(item.price.id == "price_pro_monthly")
        #expect(subscription.currentPeriod(of: item) == 1_790_000_000..<1_792_592_000)
    }

    @Test("a status that we do not know yet is kept as it came")
    func openEnum() throws {
        let subscription = try Stripe.Subscription(Fixture.json(Fixture.subscription))
        #expect(subscription.status.rawValue == "a_status_of_tomorrow")
        #expect(subscription.status != .active)
    }

    @Test("the JSON is kept byte for byte")
    func raw() throws {
        let event = try Stripe.Event(
            bytes: Array(Fixture.event("refund.created", Fixture.refund).utf8)
        )
        #expect(Array(event.object.rawBytes) == Array(Fixture.refund.utf8))
    }

    @Test("an invoice's lines say what was bought, and which are prorations")
    func invoice() throws {
        let invoice = try Stripe.Invoice(Fixture.json(Fixture.invoice))
        #expect(invoice.status == .paid)
        #expect(invoice.subscription?.id == "sub_1")
        #expect(invoice.paidAt == 1_792_595_600)
        #expect(invoice.lines.hasMore)
        let bought = invoice.lines.data[0]
        #expect(bought.period == 1_792_592_000..<1_795_184_000)
        #expect(bought.price == "price_pro_monthly")
        #expect(bought.subscriptionItem == "si_1")
        #expect(!bought.isProration)
        let credit = invoice.lines.data[1]
        #expect(credit.isProration)
        #expect(credit.amount == -166)
        #expect(credit.price == nil)
    }

    @Test(
        "a line tells its own discounts, and the tax on top of its price but not that in it",
        arguments: [
            (
                #""discount_amounts":[{"amount":100,"discount":"di_1"},{"amount":50,"discount":"di_2"}],"taxes":[{"amount":170,"tax_behavior":"exclusive"},{"amount":9,"tax_behavior":"inclusive"}],"#,
                Int64?(150), Int64(170)
            ),
            (
                #""discount_amounts":[],"tax_amounts":[{"amount":170,"inclusive":false},{"amount":9,"inclusive":true}],"#,
                0, 170
            ),
            (#""discount_amounts":null,"taxes":[],"#, nil, 0), ("", nil, 0),
        ]
    )
    func discounts(fields: String, discount: Int64?, tax: Int64) throws {
        let text = Fixture.invoice.replacing(
            #""discountable":true,"#,
            with: #""discountable":true,"# + fields
        )
        let line = try Stripe.Invoice(Fixture.json(text)).lines.data[0]
        #expect(line.discountAmount == discount)
        #expect(line.exclusiveTax == tax)
    }

    @Test("a rate of exchange is kept as Stripe writes it, with an exponent too")
    func rateWithExponent() throws {
        let transaction = try Stripe.BalanceTransaction(
            Fixture.json(
                """
                {"id":"txn_1","object":"balance_transaction","amount":61,"available_on":1767398400,
                "created":1767312000,"currency":"usd","exchange_rate":6.1e-05,"fee":2,
                "fee_details":[],"net":59,"reporting_category":"charge","source":"ch_1",
                "type":"charge","description":null,"status":"pending"}
                """
            )
        )
        #expect(transaction.exchangeRate == "6.1e-05")
    }

    @Test("an invoice says when it was voided or written off")
    func voided() throws {
        let text = Fixture.invoice
            .replacing(#""voided_at":null"#, with: #""voided_at":1792600000"#)
            .replacing(
                #""marked_uncollectible_at":null"#,
                with: #""marked_uncollectible_at":1792599000"#
            )
        let invoice = try Stripe.Invoice(Fixture.json(text))
        #expect(invoice.voidedAt == 1_792_600_000)
        #expect(invoice.markedUncollectibleAt == 1_792_599_000)
    }

    @Test("what moved in basil is found in its old place too")
    func classic() throws {
        let invoice = try Stripe.Invoice(Fixture.json(Fixture.classicInvoice))
        #expect(invoice.subscription?.id == "sub_1")
        let line = invoice.lines.data[0]
        #expect(line.price == "price_pro_monthly")
        #expect(line.isProration)
        let old = Fixture.subscription
            .replacing(
                #""current_period_end":1792592000,"current_period_start":1790000000,"#,
                with: ""
            )
            .replacing(
                #""customer":"cus_1""#,
                with: #""customer":"cus_1","current_period_start":1,"current_period_end":2"#
            )
        let subscription = try Stripe.Subscription(Fixture.json(old))
        #expect(subscription.currentPeriod(of: subscription.items.data[0]) == 1..<2)
    }

    @Test(
        "a subscription says whether its next charge may be another one",
        arguments: [
            (#""schedule":"sub_sched_1""#, true, false), (#""schedule":null"#, false, false),
            (#""discounts":["di_1"]"#, true, false), (#""discounts":[]"#, false, false),
            (#""discount":{"id":"di_1"}"#, true, false), (#""discount":null"#, false, false),
            (#""automatic_tax":{"enabled":true}"#, false, true),
            (#""automatic_tax":{"enabled":false}"#, false, false),
            (#""default_tax_rates":[{"id":"txr_1"}]"#, false, true),
            (#""default_tax_rates":[]"#, false, false),
        ]
    )
    func nextCharge(_ field: String, _ mayChangePrice: Bool, _ mayAddTax: Bool) throws {
        let text = Fixture.subscription
            .replacing(#""customer":"cus_1""#, with: #""customer":"cus_1",\#(field)"#)
        let subscription = try Stripe.Subscription(Fixture.json(text))
        #expect((subscription.hasSchedule || subscription.hasDiscounts) == mayChangePrice)
        #expect(subscription.mayAddTax == mayAddTax)
    }

    @Test("a Checkout session is read with its line items and an expanded customer")
    func checkoutSession() throws {
        let session = try Stripe.CheckoutSession(Fixture.json(Fixture.checkoutSession))
        #expect(session.mode == .payment)
        #expect(session.status == .complete)
        #expect(session.paymentStatus == .paid)
        #expect(session.customer?.id == "cus_1")
        #expect(try session.customer?.object()?.email == "a@example.com")
        #expect(session.clientReferenceID == "ref")
        #expect(session.url == nil)
        let line = try #require(session.lineItems?.data.first)
        #expect(line.quantity == 2)
        #expect(line.price?.id == "price_pro_monthly")
    }

    @Test("payments, refunds and disputes are read")
    func others() throws {
        let intent = try Stripe.PaymentIntent(Fixture.json(Fixture.paymentIntent))
        #expect(intent.status == .succeeded)
        #expect(try intent.latestCharge?.object()?.id == "ch_1")
        #expect(try Stripe.Refund(Fixture.json(Fixture.refund)).paymentIntent?.id == "pi_1")
        #expect(try Stripe.Dispute(Fixture.json(Fixture.dispute)).status == .needsResponse)
    }

    @Test("an event tells its object and its version")
    func event() throws {
        let text = Fixture.event("customer.subscription.updated", Fixture.subscription)
        let event = try Stripe.Event(bytes: Array(text.utf8))
        #expect(event.type == .subscriptionUpdated)
        #expect(event.created == 1_790_000_001)
        #expect(event.isInPinnedVersion)
        #expect(event.objectID == "sub_1")
        guard case .subscription(let subscription) = try event.subject() else {
            Issue.record("not a subscription")
            return
        }
        #expect(subscription.id == "sub_1")
        let old = Fixture.event("invoice.paid", Fixture.classicInvoice, version: "2024-06-20")
        #expect(try !Stripe.Event(bytes: Array(old.utf8)).isInPinnedVersion)
    }

    static let subjects: [(String, String)] = [
        (Fixture.price, "other"), (Fixture.invoice, "invoice"),
        (Fixture.checkoutSession, "checkoutSession"), (Fixture.paymentIntent, "paymentIntent"),
        (Fixture.charge, "other"), (Fixture.refund, "refund"), (Fixture.dispute, "dispute"),
        (#"{"id":"sub_1","object":"subscription","deleted":true}"#, "other"),
        (#"{"id":"cus_1","object":"customer","deleted":true}"#, "customer"),
        (#"{"object":"invoice","lines":{"data":[]}}"#, "other"),
        (#"{"id":"x_1","object":"thing.of.tomorrow"}"#, "other"),
    ]

    @Test("an object is read as what it says it is", arguments: subjects)
    func subject(text: String, name: String) throws {
        let event = try Stripe.Event(bytes: Array(Fixture.event("some.event", text).utf8))
        #expect("\(try event.subject())".hasPrefix(name + "("))
    }

    @Test("a deleted customer is read with what is left of it")
    func deletedCustomer() throws {
        let text = #"{"id":"cus_1","object":"customer","deleted":true}"#
        let customer = try Stripe.Customer(Fixture.json(text))
        #expect(customer.isDeleted)
    }

    static let unreadable: [(String, String)] = [
        ("", "Stripe's event is not JSON: the JSON text ends too early (byte 0)"),
        ("[]", "Stripe's event is not an object"),
        (#"{"id":"x","object":"charge"}"#, "‘object’ of Stripe's event is not ‘event’"),
        (#"{"object":"event"}"#, "‘id’ of Stripe's event is not a string"),
        (
            #"{"id":"evt_1","object":"v2.core.event"}"#,
            "‘object’ of Stripe's event is not ‘event’; set the endpoint to snapshot events, "
                + "not thin ones"
        ),
        (
            #"{"id":"evt_1","object":"event","type":"x","created":1.5,"livemode":false}"#,
            "‘created’ of Stripe's event is not a whole number"
        ),
        (
            #"{"id":"evt_1","object":"event","type":"x","created":1,"livemode":false,"data":{}}"#,
            "‘data’ of Stripe's event is not an object with an ‘object’"
        ),
    ]

    @Test(
        "what is no event is refused, with the field and never its content",
        arguments: unreadable
    )
    func unreadableEvent(text: String, message: String) {
        do throws(Stripe.DecodingError) {
            _ = try Stripe.Event(bytes: Array(text.utf8))
            Issue.record("it was read")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test("no event is read after any one of its bytes is gone, or it still is an event")
    func cut() {
        let bytes = Array(Fixture.event("customer.subscription.updated", Fixture.subscription).utf8)
        for place in bytes.indices {
            var cut = bytes
            cut.remove(at: place)
            if let event = try? Stripe.Event(bytes: cut) { _ = try? event.subject() }
        }
    }
}
