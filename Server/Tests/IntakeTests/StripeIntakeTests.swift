import Foundation
import Stores
import StrictJSON
import StripeAPI
import StripeConnector
import Testing
import TollgateCore

@Suite("From Stripe's words to facts")
struct StripeTranslatorTests {
    static let second = Stated(Instant(seconds: 1_790_000_001))

    static func event(_ type: String, _ object: String, livemode: Bool = false) throws
        -> Translation.Meaning
    {
        let text = """
            {"id":"evt_1","object":"event","api_version":"\(Stripe.apiVersion)",
            "created":1790000001,"data":{"object":\(object)},"livemode":\(livemode),
            "pending_webhooks":1,"request":null,"type":"\(type)"}
            """
        return StripeTranslator.message(try Stripe.Event(bytes: Array(text.utf8)))
    }

    static func session(
        mode: String = "payment",
        status: String = "complete",
        payment: String = "paid",
        intent: String = "\"pi_1\"",
        subscription: String = "null",
        items: String = "null",
        words: String? = nil,
        reference: String = "\"user_1\""
    ) -> String {
        let metadata = words.map { "{\"tollgate_lines\":\"\($0)\"}" } ?? "{}"
        return """
            {"id":"cs_1","object":"checkout.session","amount_subtotal":1000,"amount_total":1000,
            "client_reference_id":\(reference),"created":1790000000,"currency":"usd",
            "customer":"cus_1","customer_details":null,"customer_email":null,
            "expires_at":1790086400,"invoice":null,"line_items":\(items),"livemode":false,
            "metadata":\(metadata),"mode":"\(mode)","payment_intent":\(intent),
            "payment_link":null,"payment_status":"\(payment)","status":"\(status)",
            "subscription":\(subscription),"url":null}
            """
    }

    static let price = """
        {"id":"price_pro","object":"price","active":true,"billing_scheme":"per_unit",
        "created":1790000000,"currency":"usd","livemode":false,"lookup_key":null,"metadata":{},
        "product":"prod_pro","recurring":{"interval":"month","interval_count":1,"meter":null,
        "trial_period_days":null,"usage_type":"licensed"},"type":"recurring","unit_amount":999,
        "unit_amount_decimal":"999"}
        """

    static func subscription(_ status: String, period: Bool = true, ended: String = "null")
        -> String
    {
        let dates =
            period
            ? #""current_period_end":1792592000,"current_period_start":1790000000,"# : ""
        return """
            {"id":"sub_1","object":"subscription","billing_cycle_anchor":1790000000,
            "cancel_at":null,"cancel_at_period_end":true,"canceled_at":null,
            "collection_method":"charge_automatically","created":1790000000,"currency":"usd",
            "customer":"cus_1","ended_at":\(ended),"items":{"object":"list","data":[
            {"id":"si_1","object":"subscription_item","created":1790000000,\(dates)
            "metadata":{},"price":\(price),"quantity":2,"subscription":"sub_1"}],
            "has_more":false,"url":"/v1/x"},"latest_invoice":"in_1","livemode":false,
            "metadata":{},"pause_collection":null,"start_date":1790000000,"status":"\(status)",
            "test_clock":null,"trial_end":null,"trial_start":null}
            """
    }

    static func refund(status: String, intent: String = "\"pi_1\"") -> String {
        """
        {"id":"re_1","object":"refund","amount":400,"charge":"ch_1","created":1790000100,
        "currency":"usd","metadata":{},"payment_intent":\(intent),"reason":null,
        "status":"\(status)"}
        """
    }

    static func fact(_ message: Translation.Meaning) -> Fact? {
        if case .facts(let facts, _) = message, facts.count == 1 { facts.first } else { nil }
    }

    @Test("a completed session is a payment, kept under its payment intent")
    func payment() throws {
        let message = try Self.event(
            "checkout.session.completed",
            Self.session(words: "price_b:2,price_a:1")
        )
        let fact = try #require(Self.fact(message))
        #expect(fact.purchase == StripeTranslator.key("pi_1", livemode: false))
        #expect(fact.purchase.environment == .sandbox)
        #expect(fact.source == "evt_1" && fact.stated == Self.second)
        #expect(
            fact.statement
                == .payment(
                    StripePayment(
                        session: "cs_1",
                        status: "complete",
                        isPaid: true,
                        customer: "cus_1",
                        reference: "user_1",
                        lines: [
                            .init(price: "price_a", quantity: 1),
                            .init(price: "price_b", quantity: 2),
                        ],
                        amount: 1000,
                        currency: "usd",
                        created: Instant(seconds: 1_790_000_000)
                    )
                )
        )
    }

    @Test("S12: live and test are two worlds")
    func livemode() throws {
        let message = try Self.event(
            "checkout.session.completed",
            Self.session(),
            livemode: true
        )
        #expect(Self.fact(message)?.purchase.environment == .production)
    }

    @Test(
        "an unpaid session is stated as unpaid",
        arguments: [
            ("unpaid", false), ("paid", true), ("no_payment_required", true),
        ]
    )
    func paymentStatus(word: String, isPaid: Bool) throws {
        let message = try Self.event(
            "checkout.session.completed",
            Self.session(payment: word)
        )
        guard case .payment(let payment)? = Self.fact(message)?.statement else {
            Issue.record("\(message)")
            return
        }
        #expect(payment.isPaid == isPaid)
        #expect(payment.lines == nil)
    }

    @Test(
        "words of ours that are none of ours name no lines",
        arguments: [
            "price_a", "price_a:", "price_a:0", "price_a:-1", "price_a:99999999999999999999", ",",
            "price_a:1,price_b",
        ]
    )
    func strangeWords(_ words: String) throws {
        let message = try Self.event("checkout.session.completed", Self.session(words: words))
        guard case .payment(let payment)? = Self.fact(message)?.statement else {
            Issue.record("\(message)")
            return
        }
        #expect(payment.lines == nil)
    }

    @Test("reading a session states its line items, as a read")
    func reading() throws {
        let items = """
            {"object":"list","data":[{"id":"li_1","object":"item","amount_discount":0,
            "amount_subtotal":1000,"amount_tax":0,"amount_total":1000,"currency":"usd",
            "description":"x","price":\(Self.price),"quantity":3}],"has_more":false,"url":"/v1/x"}
            """
        let session = try Stripe.CheckoutSession(
            JSON(Array(Self.session(items: items, words: "price_other:9").utf8))
        )
        let instant = Instant(seconds: 1_790_000_050)
        let message = StripeTranslator.message(reading: session, at: instant, livemode: false)
        let fact = try #require(Self.fact(message))
        #expect(fact.stated == Stated(instant, isRead: true))
        guard case .payment(let payment) = fact.statement else { return }
        #expect(payment.lines == [.init(price: "price_pro", quantity: 3)])
    }

    @Test("a session of a subscription says who bought it")
    func buyer() throws {
        let text = Self.session(
            mode: "subscription",
            intent: "null",
            subscription: "\"sub_1\""
        )
        let fact = try #require(Self.fact(try Self.event("checkout.session.completed", text)))
        #expect(fact.purchase.id == "sub_1")
        #expect(fact.statement == .buyer(StripeBuyer(reference: "user_1")))
        let german = text.replacing(
            #""customer_details":null"#,
            with: #""customer_details":{"address":{"country":"DE"}}"#
        )
        let named = try #require(Self.fact(try Self.event("checkout.session.completed", german)))
        #expect(named.statement == .buyer(StripeBuyer(reference: "user_1", country: "DE")))
        let anonymous = Self.session(
            mode: "subscription",
            intent: "null",
            subscription: "\"sub_1\"",
            reference: "null"
        )
        guard case .nothing = try Self.event("checkout.session.completed", anonymous) else {
            Issue.record("it names nobody")
            return
        }
    }

    @Test("a subscription states its items' periods", arguments: ["active", "of_tomorrow"])
    func subscription(_ status: String) throws {
        let message = try Self.event(
            "customer.subscription.updated",
            Self.subscription(status)
        )
        #expect(
            Self.fact(message)?.statement
                == .subscription(
                    StripeSubscription(
                        status: status,
                        customer: "cus_1",
                        items: [
                            .init(
                                id: "si_1",
                                price: "price_pro",
                                quantity: 2,
                                start: Instant(seconds: 1_790_000_000),
                                end: Instant(seconds: 1_792_592_000)
                            )
                        ],
                        cancelsAtPeriodEnd: true
                    )
                )
        )
    }

    @Test("S2: a deleted subscription is a canceled one, ended when it says")
    func deleted() throws {
        let message = try Self.event(
            "customer.subscription.deleted",
            Self.subscription("canceled", ended: "1790000500")
        )
        guard case .subscription(let subscription)? = Self.fact(message)?.statement else {
            Issue.record("\(message)")
            return
        }
        #expect(subscription.isFinal)
        #expect(subscription.endedAt == Instant(seconds: 1_790_000_500))
    }

    @Test("S14: a subscription in a shape without periods is parked")
    func withoutPeriods() throws {
        let message = try Self.event(
            "customer.subscription.updated",
            Self.subscription("active", period: false)
        )
        guard case .parked = message else {
            Issue.record("\(message)")
            return
        }
    }

    @Test("refunds and disputes are about the payment that they take back")
    func takenBack() throws {
        let refund = try #require(
            Self.fact(try Self.event("refund.updated", Self.refund(status: "pending")))
        )
        #expect(refund.purchase.id == "pi_1")
        #expect(
            refund.statement
                == .refund(
                    StripeRefund(
                        id: "re_1",
                        amount: 400,
                        status: "pending",
                        created: Instant(seconds: 1_790_000_100)
                    )
                )
        )
        let text = """
            {"id":"du_1","object":"dispute","amount":1000,"charge":"ch_1","created":1790000200,
            "currency":"usd","livemode":false,"metadata":{},"payment_intent":"pi_1",
            "reason":"fraudulent","status":"needs_response"}
            """
        let dispute = try #require(Self.fact(try Self.event("charge.dispute.created", text)))
        #expect(dispute.purchase == refund.purchase)
        #expect(
            dispute.statement
                == .dispute(
                    StripeDispute(
                        id: "du_1",
                        amount: 1000,
                        status: "needs_response",
                        created: Instant(seconds: 1_790_000_200)
                    )
                )
        )
    }

    @Test("a refund that names no payment is parked")
    func namelessRefund() throws {
        let message = try Self.event(
            "refund.created",
            Self.refund(status: "succeeded", intent: "null")
        )
        guard case .parked = message else {
            Issue.record("\(message)")
            return
        }
    }

    static func invoice(_ status: String, _ transitions: String = "null") -> String {
        """
        {"id":"in_1","object":"invoice","amount_due":999,"amount_paid":999,
        "amount_remaining":0,"billing_reason":"subscription_cycle","created":1792592000,
        "currency":"usd","customer":"cus_1","lines":{"object":"list","data":[
        {"id":"il_1","object":"line_item","amount":999,"currency":"usd",
        "discount_amounts":[{"amount":99,"discount":"di_1"}],"metadata":{},
        "parent":{"type":"subscription_item_details","invoice_item_details":null,
        "subscription_item_details":{"invoice_item":null,"proration":false,
        "subscription":"sub_1","subscription_item":"si_1"}},
        "period":{"end":1795184000,"start":1792592000},
        "pricing":{"price_details":{"price":"price_pro","product":"prod_pro"},
        "type":"price_details","unit_amount_decimal":"999"},"quantity":1,
        "taxes":[{"amount":171,"tax_behavior":"exclusive"}]}],
        "has_more":false,"url":"/v1/x"},"livemode":false,"metadata":{},
        "parent":{"quote_details":null,"subscription_details":{"metadata":{},
        "subscription":"sub_1"},"type":"subscription_details"},"period_end":1792592000,
        "period_start":1790000000,"status":"\(status)","status_transitions":\(transitions),
        "subtotal":999,"total":999}
        """
    }

    @Test("tax that the price includes is not added to it")
    func inclusiveTax() throws {
        let text = Self.invoice("paid").replacing("exclusive", with: "inclusive")
        let fact = try #require(Self.fact(try Self.event("invoice.paid", text)))
        guard case .invoice(let invoice) = fact.statement else { return }
        #expect(invoice.lines.map(\.amount) == [999] && invoice.lines.map(\.tax) == [nil])
    }

    @Test("an invoice that was paid says what its lines bought; one that is open says nothing")
    func paidInvoice() throws {
        guard case .nothing = try Self.event("invoice.finalized", Self.invoice("open")) else {
            Issue.record("an open invoice has bought nothing yet")
            return
        }
        let fact = try #require(Self.fact(try Self.event("invoice.paid", Self.invoice("paid"))))
        #expect(fact.purchase.id == "sub_1")
        guard case .invoice(let invoice) = fact.statement else { return }
        #expect(invoice.isPaid && invoice.voided == nil)
        #expect(
            invoice.lines == [
                StripeInvoice.Line(
                    id: "il_1",
                    price: "price_pro",
                    quantity: 1,
                    amount: 999,
                    start: Instant(seconds: 1_792_592_000),
                    end: Instant(seconds: 1_795_184_000),
                    isProration: false,
                    item: "si_1",
                    discount: 99,
                    tax: 171
                )
            ]
        )
    }

    @Test(
        "an invoice that was voided or written off says so, and buys nothing",
        arguments: [
            ("void", #"{"voided_at":1792600000}"#),
            ("uncollectible", #"{"marked_uncollectible_at":1792600000}"#),
        ]
    )
    func voidedInvoice(status: String, transitions: String) throws {
        let text = Self.invoice(status, transitions)
        let fact = try #require(Self.fact(try Self.event("invoice.voided", text)))
        guard case .invoice(let invoice) = fact.statement else { return }
        #expect(!invoice.isPaid && invoice.voided == Instant(seconds: 1_792_600_000))
    }

    @Test("the payer's country is that of the page, else that of the charge")
    func country() throws {
        func payment(of page: String, charge: String) throws -> StripePayment? {
            let intent = """
                {"id":"pi_1","object":"payment_intent","amount":1000,"amount_received":1000,
                "created":1790000000,"currency":"usd","customer":null,"latest_charge":
                {"id":"ch_1","object":"charge","amount":1000,"amount_refunded":0,
                "billing_details":{"address":{"country":\(charge)}},"created":1790000000,
                "currency":"usd","customer":null,"disputed":false,"livemode":false,"metadata":{},
                "paid":true,"payment_intent":"pi_1","refunded":false,"status":"succeeded"},
                "livemode":false,"metadata":{},"status":"succeeded"}
                """
            let text = Self.session(intent: intent).replacing(
                #""customer_details":null"#,
                with: #""customer_details":{"address":{"country":\#(page)}}"#
            )
            let message = StripeTranslator.message(
                reading: try Stripe.CheckoutSession(JSON(Array(text.utf8))),
                items: [],
                at: Instant(seconds: 1_790_000_050),
                livemode: false
            )
            guard case .payment(let payment)? = Self.fact(message)?.statement else { return nil }
            return payment
        }
        #expect(try payment(of: "\"DE\"", charge: "\"FR\"")?.country == "DE")
        #expect(try payment(of: "null", charge: "\"FR\"")?.country == "FR")
        #expect(try payment(of: "null", charge: "null")?.country == nil)
    }

    static func intent(_ status: String, _ metadata: String, of customer: String = "\"cus_1\"")
        -> String
    {
        """
        {"id":"pi_1","object":"payment_intent","amount":1000,"amount_received":1000,
        "created":1790000000,"currency":"usd","customer":\(customer),"livemode":false,
        "metadata":\(metadata),"status":"\(status)"}
        """
    }

    @Test("a payment without a checkout sells what its metadata name")
    func sellingPayment() throws {
        let words = #"{"tollgate_lines":"price_coins:2, price_pass"}"#
        let fact = Self.fact(
            try Self.event("payment_intent.succeeded", Self.intent("succeeded", words))
        )
        #expect(fact?.purchase.id == "pi_1")
        guard case .payment(let payment)? = fact?.statement else {
            Issue.record("no payment")
            return
        }
        #expect(payment.isPaid && payment.status == "complete" && payment.customer == "cus_1")
        #expect(
            payment.lines == [
                .init(price: "price_coins", quantity: 2), .init(price: "price_pass", quantity: 1),
            ]
        )
        #expect(payment.amount == 1000)
    }

    @Test(
        "a payment that is none yet, or names nothing, is of no consequence",
        arguments: [
            ("processing", #"{"tollgate_lines":"price_coins"}"#), ("succeeded", "{}"),
            ("succeeded", #"{"tollgate_lines":"price_coins:0"}"#),
            ("succeeded", #"{"tollgate_lines":"price_coins:1:1"}"#),
            ("succeeded", #"{"tollgate_lines":":3"}"#),
        ]
    )
    func silentPayment(status: String, metadata: String) throws {
        let message = try Self.event("payment_intent.succeeded", Self.intent(status, metadata))
        #expect(message == .nothing(reason: "payment_intent.succeeded"))
    }

    @Test("a price that is metered is billed when its period is over")
    func metered() throws {
        for (usage, isInArrears) in [("metered", true), ("licensed", nil as Bool?)] {
            let text = Self.subscription("active").replacingOccurrences(
                of: #""usage_type":"licensed""#,
                with: #""usage_type":"\#(usage)""#
            )
            let fact = Self.fact(try Self.event("customer.subscription.updated", text))
            guard case .subscription(let subscription)? = fact?.statement else {
                Issue.record("no subscription")
                return
            }
            #expect(subscription.items.map(\.isBilledInArrears) == [isInArrears])
        }
    }

    @Test("objects that no record is made of are of no consequence")
    func nothing() throws {
        let message = try Self.event("thing.happened", #"{"id":"x_1","object":"thing"}"#)
        #expect(message == .nothing(reason: "thing.happened"))
    }

    @Test("an object that cannot be read is parked, not refused")
    func unreadable() throws {
        let message = try Self.event("refund.created", #"{"id":"re_1","object":"refund"}"#)
        guard case .parked = message else {
            Issue.record("\(message)")
            return
        }
    }

    // MARK: - Hints

    static func hint(_ message: Translation.Meaning) -> [Wanted]? {
        if case .hint(let wanted, _, _) = message { wanted } else { nil }
    }

    @Test(
        "S14: an event in another API version only says what has to be read",
        arguments: hints
    )
    func anotherVersion(
        type: String,
        object: String,
        kind: Wanted.Kind,
        id: String
    ) throws {
        for version in ["\"2020-08-27\"", "null", "\"2027-01-01.tomorrow\""] {
            let text = """
                {"id":"evt_1","object":"event","api_version":\(version),
                "created":1790000001,"data":{"object":\(object)},"livemode":true,
                "pending_webhooks":1,"request":null,"type":"\(type)"}
                """
            let message = StripeTranslator.message(try Stripe.Event(bytes: Array(text.utf8)))
            #expect(Self.hint(message) == [Wanted(kind: kind, object: id)])
        }
    }

    @Test("what shows only its first page is read, not believed")
    func furtherPages() throws {
        let whole = Self.subscription("active")
        let part = whole.replacing(#""has_more":false"#, with: #""has_more":true"#)
        let believed = try Self.event("customer.subscription.updated", whole)
        #expect(Self.fact(believed) != nil)
        let hint = try Self.event("customer.subscription.updated", part)
        #expect(Self.hint(hint) == [Wanted(kind: .subscription, object: "sub_1")])
    }

    @Test("a summary of entitlements has no id, and is compared with what Stripe says now")
    func summary() throws {
        let object = """
            {"object":"entitlements.active_entitlement_summary","customer":"cus_1",
            "livemode":false,"entitlements":{"object":"list","data":[],"has_more":true,
            "url":"/v1/customer/cus_1/entitlements"}}
            """
        let hint = try Self.event(
            "entitlements.active_entitlement_summary.updated",
            object
        )
        #expect(Self.hint(hint) == [Wanted(kind: .entitlements, object: "cus_1")])
    }

    @Test("two words of one second on a dispute are read; whatever their order, the record is one")
    func contestedDispute() {
        let key = StripeTranslator.key("pi_1", livemode: false)
        func fact(_ status: String, _ stated: Stated) -> Fact {
            Fact(
                purchase: key,
                source: status,
                stated: stated,
                statement: .dispute(StripeDispute(id: "dp_1", amount: 1000, status: status))
            )
        }
        let facts = [
            fact("warning_needs_response", Self.second), fact("needs_response", Self.second),
        ]
        let record = Purchase(key: key, joining: facts)
        #expect(record == Purchase(key: key, joining: facts.reversed()))
        #expect(record.contested == ["dp_1"])
        let wanted = record.evaluate(in: CatalogHistory()).wanted
        #expect(wanted == [Wanted(kind: .payment, object: "pi_1")])
        let read = Stated(Self.second.instant, isRead: true)
        let settled = Purchase(key: key, joining: facts + [fact("under_review", read)])
        #expect(settled.contested == nil)
        #expect(
            settled
                == Purchase(
                    key: key,
                    joining: [fact("under_review", read)] + facts.reversed()
                )
        )
    }
}

/// Events whose objects are to be read, as what, and by which id.
private let hints: [(String, String, Wanted.Kind, String)] = [
    ("checkout.session.completed", StripeTranslatorTests.session(), .checkoutLines, "cs_1"),
    (
        "customer.subscription.updated", StripeTranslatorTests.subscription("active"),
        .subscription,
        "sub_1"
    ),
    ("refund.updated", StripeTranslatorTests.refund(status: "failed"), .payment, "pi_1"),
]
