import Foundation
import Stores
import StrictJSON
import StripeAPI
import StripeConnector
import Testing
import TollgateCore

@Suite("When Stripe says that something was paid, is due, or was taken back")
struct StripeDateTests {
    static func charge(_ method: String) -> String {
        """
        {"id":"pi_1","object":"payment_intent","amount":1000,"amount_received":1000,
        "created":1790000000,"currency":"usd","customer":"cus_1","livemode":false,"metadata":{},
        "status":"succeeded","latest_charge":{"id":"ch_1","object":"charge","amount":1000,
        "amount_captured":1000,"amount_refunded":0,"created":1790070000,"currency":"usd",
        "customer":"cus_1","disputed":false,"livemode":false,"metadata":{},"paid":true,
        "payment_intent":"pi_1","payment_method_details":{"type":"\(method)"},"refunded":false,
        "status":"succeeded"}}
        """
    }

    @Test(
        "S22: a read says when it was paid: by the charge, or as it finds a debit that takes days",
        arguments: [
            (charge("card"), 1_790_500_000, 1_790_070_000),
            (charge("card"), 1_799_000_000, 1_790_070_000),
            (charge("sepa_debit"), 1_790_500_000, 1_790_500_000),
            // Three weeks after the charge at the latest.
            (charge("us_bank_account"), 1_799_000_000, 1_791_884_400),
            (#""pi_1""#, 1_790_500_000, nil),
            // Nothing was to be paid: until the page closed.
            ("null", 1_790_000_500, 1_790_000_500), ("null", 1_790_500_000, 1_790_086_400),
        ] as [(String, Int64, Int64?)]
    )
    func paidBy(intent: String, read: Int64, paidBy: Int64?) throws {
        let session = try Stripe.CheckoutSession(
            JSON(Array(StripeTranslatorTests.session(intent: intent, words: "price_pass:1").utf8))
        )
        let message = StripeTranslator.message(
            reading: session,
            at: Instant(milliseconds: read * 1000 + 7),
            livemode: false
        )
        guard case .payment(let payment)? = StripeTranslatorTests.fact(message)?.statement else {
            Issue.record("\(message)")
            return
        }
        #expect(payment.paidBy == paidBy.map { Instant(seconds: $0) })
        #expect(payment.lines == [.init(price: "price_pass", quantity: 1)])
    }

    // A debit that is paid in the first second of a day is no sale of the day before.
    @Test(
        "S22: a read shows by when a debit was paid: the second of Stripe's Date, not the one before"
    )
    func secondOfTheDate() throws {
        let session = StripeTranslatorTests.session(
            intent: Self.charge("sepa_debit"),
            words: "price_pass:1"
        )
        let message = StripeTranslator.message(
            reading: try Stripe.CheckoutSession(JSON(Array(session.utf8))),
            at: Instant(seconds: 1_790_499_999),
            livemode: false
        )
        guard case .payment(let payment)? = StripeTranslatorTests.fact(message)?.statement else {
            Issue.record("\(message)")
            return
        }
        #expect(payment.paidBy == Instant(seconds: 1_790_500_000))
    }

    @Test("S22: a session that is not paid says nothing of when it was paid")
    func notPaid() throws {
        let session = try Stripe.CheckoutSession(
            JSON(
                Array(
                    StripeTranslatorTests.session(
                        payment: "unpaid",
                        intent: Self.charge("sepa_debit").replacing("succeeded", with: "processing")
                    )
                    .utf8
                )
            )
        )
        let message = StripeTranslator.message(
            reading: session,
            at: Instant(seconds: 1_790_500_000),
            livemode: false
        )
        guard case .payment(let payment)? = StripeTranslatorTests.fact(message)?.statement else {
            Issue.record("\(message)")
            return
        }
        #expect(payment.paidBy == nil)
    }

    @Test(
        "S18: invoices that are sent may stay unpaid for some days",
        arguments: [("send_invoice", 14), ("charge_automatically", nil)] as [(String, Int64?)]
    )
    func daysUntilDue(method: String, days: Int64?) throws {
        let text = StripeTranslatorTests.subscription("active").replacing(
            #""collection_method":"charge_automatically""#,
            with: #""collection_method":"\#(method)","days_until_due":14"#
        )
        let message = try StripeTranslatorTests.event("customer.subscription.updated", text)
        guard case .subscription(let subscription)? = StripeTranslatorTests.fact(message)?.statement
        else {
            Issue.record("\(message)")
            return
        }
        #expect(subscription.daysUntilDue == days)
        #expect(subscription.items.allSatisfy { ($0.created == nil) == (days == nil) })
    }

    @Test("S21: a dispute takes back when its money is withdrawn, which it says itself")
    func withdrawn() throws {
        let text = """
            {"id":"du_1","object":"dispute","amount":1000,"balance_transactions":[
            {"id":"txn_2","object":"balance_transaction","amount":1000,"created":1790900000},
            {"id":"txn_1","object":"balance_transaction","amount":-1000,"created":1790500000}],
            "charge":"ch_1","created":1790000200,"currency":"usd","livemode":false,"metadata":{},
            "payment_intent":"pi_1","reason":"fraudulent","status":"lost"}
            """
        let fact = StripeTranslatorTests.fact(
            try StripeTranslatorTests.event("charge.dispute.closed", text)
        )
        guard case .dispute(let dispute)? = fact?.statement else {
            Issue.record("no dispute")
            return
        }
        #expect(dispute.created == Instant(seconds: 1_790_000_200))
        #expect(dispute.withdrawn == Instant(seconds: 1_790_500_000))
    }
}
