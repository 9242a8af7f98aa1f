import Foundation
import Stores
import StrictJSON
import StripeAPI
import StripeConnector
import Testing
import TollgateCore

@Suite("What has to be read of Stripe, and what a read comes to")
struct StripeReadTests {
    static let instant = Instant(seconds: 1_790_000_500)

    /// An event in another version of the API than ours.
    private static func old(_ object: String) throws -> [Wanted]? {
        let text = """
            {"id":"evt_1","object":"event","api_version":"2020-08-27","created":1790000001,
            "data":{"object":\(object)},"livemode":false,"pending_webhooks":1,"request":null,
            "type":"some.event"}
            """
        return StripeTranslatorTests.hint(
            StripeTranslator.message(try Stripe.Event(bytes: Array(text.utf8)))
        )
    }

    @Test(
        "of a charge that was taken back its payment is read, of no other",
        arguments: [
            (#""refunded":true"#, true), (#""disputed":true"#, true),
            (#""amount_refunded":1"#, true), (#""refunded":false,"disputed":false"#, false),
            (#""amount_refunded":0"#, false),
        ]
    )
    func charge(fields: String, isRead: Bool) throws {
        let wanted = [Wanted(kind: .payment, object: "pi_1")]
        for payment in [#""pi_1""#, #"{"id":"pi_1","object":"payment_intent"}"#] {
            let charge = #"{"id":"ch_1","object":"charge","payment_intent":\#(payment),\#(fields)}"#
            #expect(try Self.old(charge) == (isRead ? wanted : nil))
        }
    }

    @Test("of a payment that names what it sells that is read, of no other")
    func payment() throws {
        let sells = StripeTranslatorTests.intent("succeeded", #"{"tollgate_lines":"price_a"}"#)
        #expect(try Self.old(sells) == [Wanted(kind: .payment, object: "pi_1")])
        #expect(try Self.old(StripeTranslatorTests.intent("succeeded", "{}")) == nil)
    }

    // MARK: - Invoices

    private static func invoice(
        _ status: String,
        ofPlan: Bool = false,
        hasPrice: Bool = true
    ) -> String {
        var text = StripeTranslatorTests.invoice(status).replacing("\n", with: "")
        if !ofPlan {
            text.replace(
                #""parent":{"quote_details":null,"subscription_details":{"metadata":{},"#
                    + #""subscription":"sub_1"},"type":"subscription_details"}"#,
                with: #""parent":null"#
            )
        }
        if !hasPrice {
            text.replace(
                #""pricing":{"price_details":{"price":"price_pro","product":"prod_pro"},"#
                    + #""type":"price_details","unit_amount_decimal":"999"}"#,
                with: #""pricing":null"#
            )
        }
        return text
    }

    private static func object(_ text: String) throws -> Stripe.Invoice {
        try Stripe.Invoice(JSON(Array(text.utf8)))
    }

    @Test("an invoice of no plan is read once it is paid, if it sells anything by a price")
    func sale() throws {
        func read(_ invoice: String) throws -> [Wanted]? {
            StripeTranslatorTests.hint(try StripeTranslatorTests.event("invoice.updated", invoice))
        }
        #expect(try read(Self.invoice("paid")) == [Wanted(kind: .invoice, object: "in_1")])
        #expect(try read(Self.invoice("void")) == nil)
        #expect(try read(Self.invoice("open")) == nil)
        #expect(try read(Self.invoice("paid", hasPrice: false)) == nil)
    }

    @Test("what an invoice of no plan sold is a payment, of whoever paid it")
    func readSale() throws {
        func fact(_ text: String, paidBy payment: String? = nil) throws -> Fact? {
            let invoice = try Self.object(text)
            return StripeTranslatorTests.fact(
                StripeTranslator.message(
                    readingSale: invoice,
                    lines: invoice.lines.data,
                    paidBy: payment,
                    at: Self.instant
                )
            )
        }
        let sold = try #require(try fact(Self.invoice("paid"), paidBy: "pi_1"))
        #expect(sold.purchase == StripeTranslator.key("pi_1", livemode: false))
        #expect(sold.stated == Stated(Self.instant, isRead: true))
        guard case .payment(let payment) = sold.statement else {
            Issue.record("\(sold.statement)")
            return
        }
        #expect(payment.isPaid && payment.status == "complete" && payment.session == "in_1")
        #expect(payment.lines == [.init(price: "price_pro", quantity: 1)])
        #expect(try fact(Self.invoice("paid"))?.purchase.id == "in_1")
        #expect(try fact(Self.invoice("paid", ofPlan: true)) == nil)
        #expect(try fact(Self.invoice("void")) == nil)
        #expect(try fact(Self.invoice("paid", hasPrice: false)) == nil)
    }

    @Test("an invoice of a plan is read once it is known what became of it")
    func readInvoice() throws {
        func fact(_ text: String) throws -> Fact? {
            StripeTranslatorTests.fact(
                StripeTranslator.message(
                    reading: try Self.object(text),
                    at: Self.instant,
                    livemode: false
                )
            )
        }
        let paid = try fact(Self.invoice("paid", ofPlan: true))
        #expect(paid?.purchase.id == "sub_1" && paid?.kind == "invoice")
        #expect(paid?.stated == Stated(Self.instant, isRead: true))
        #expect(try fact(Self.invoice("void", ofPlan: true))?.kind == "invoice")
        #expect(try fact(Self.invoice("open", ofPlan: true)) == nil)
        #expect(try fact(Self.invoice("paid")) == nil)
    }

    // MARK: - Sessions

    private static func lines(_ session: String) throws -> [StripePayment.Line]? {
        let fact = StripeTranslatorTests.fact(
            try StripeTranslatorTests.event("checkout.session.completed", session)
        )
        guard case .payment(let payment)? = fact?.statement else { return nil }
        return payment.lines
    }

    @Test("line items that go on elsewhere are not all; our own words are")
    func furtherItems() throws {
        let items = """
            {"object":"list","data":[{"id":"li_1","object":"item","amount_discount":0,
            "amount_subtotal":1000,"amount_tax":0,"amount_total":1000,"currency":"usd",
            "description":"x","price":\(StripeTranslatorTests.price),"quantity":3}],"has_more":true,
            "url":"/v1/x"}
            """
        let session = StripeTranslatorTests.session(items: items, words: "price_a:1,price_pro:3")
        #expect(
            try Self.lines(session) == [
                .init(price: "price_a", quantity: 1), .init(price: "price_pro", quantity: 3),
            ]
        )
    }

    @Test("the id of an old plan may be any word")
    func colon() throws {
        let session = StripeTranslatorTests.session(words: "plan:gold:2")
        #expect(try Self.lines(session) == [.init(price: "plan:gold", quantity: 2)])
    }

    @Test("a charge that names no method of payment was paid when it was made")
    func methodless() throws {
        let charge = StripeDateTests.charge("card").replacing(
            #""payment_method_details":{"type":"card"},"#,
            with: ""
        )
        let session = StripeTranslatorTests.session(intent: charge, words: "price_pass:1")
        let message = StripeTranslator.message(
            reading: try Stripe.CheckoutSession(JSON(Array(session.utf8))),
            at: Instant(seconds: 1_790_500_000),
            livemode: false
        )
        guard case .payment(let payment)? = StripeTranslatorTests.fact(message)?.statement else {
            Issue.record("\(message)")
            return
        }
        #expect(payment.paidBy == Instant(seconds: 1_790_070_000))
    }
}
