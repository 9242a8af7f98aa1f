import Foundation
import Stores
import StrictJSON
import StripeAPI
import StripeConnector
import Testing
import TollgateCore

/// Every event of the flows in which Stripe sells, row by row: the fact it becomes, what it makes
/// us read, or why it is of no consequence.
@Suite("Every event of Stripe's")
struct StripeEventTableTests {
    /// What an event comes to.
    enum Meaning: Hashable, Sendable {
        /// A fact about the record of this id, of this kind.
        case fact(String, String)
        case read(Wanted.Kind, String)
        /// Of no consequence; the reason names the type unless another is given.
        case nothing(String? = nil)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var type: String
        var object: String
        var meaning: Meaning

        var testDescription: String { type }

        init(_ type: String, _ object: String, _ meaning: Meaning) {
            (self.type, self.object, self.meaning) = (type, object, meaning)
        }
    }

    // MARK: - Objects

    static func plain(_ name: String, _ id: String = "x_1") -> String {
        #"{"id":"\#(id)","object":"\#(name)","livemode":false,"metadata":{}}"#
    }

    static func charge(_ status: String, refunded: Bool = false) -> String {
        """
        {"id":"ch_1","object":"charge","amount":1000,"amount_captured":1000,
        "amount_refunded":\(refunded ? 1000 : 0),"created":1790000000,"currency":"usd",
        "customer":"cus_1","disputed":false,"livemode":false,"metadata":{},
        "paid":\(status == "succeeded"),"payment_intent":"pi_1","refunded":\(refunded),
        "status":"\(status)"}
        """
    }

    static func invoice(_ status: String, id: String? = "in_1") -> String {
        let name = id.map { "\"id\":\"\($0)\"," } ?? ""
        return """
            {\(name)"object":"invoice","amount_due":999,"amount_paid":999,
            "amount_remaining":0,"billing_reason":"subscription_cycle","created":1792592000,
            "currency":"usd","customer":"cus_1","lines":{"object":"list","data":[
            {"id":"il_1","object":"line_item","amount":999,"currency":"usd","metadata":{},
            "parent":{"type":"subscription_item_details","invoice_item_details":null,
            "subscription_item_details":{"invoice_item":null,"proration":false,
            "subscription":"sub_1","subscription_item":"si_1"}},
            "period":{"end":1795184000,"start":1792592000},
            "pricing":{"price_details":{"price":"price_pro","product":"prod_pro"},
            "type":"price_details","unit_amount_decimal":"999"},"quantity":1}],
            "has_more":false,"url":"/v1/x"},"livemode":false,"metadata":{},
            "parent":{"quote_details":null,"subscription_details":{"metadata":{},
            "subscription":"sub_1"},"type":"subscription_details"},"period_end":1792592000,
            "period_start":1790000000,"status":"\(status)","subtotal":999,"total":999}
            """
    }

    static func dispute(_ status: String) -> String {
        """
        {"id":"du_1","object":"dispute","amount":1000,"charge":"ch_1","created":1790000200,
        "currency":"usd","livemode":false,"metadata":{},"payment_intent":"pi_1",
        "reason":"fraudulent","status":"\(status)"}
        """
    }

    static let invoicePayment = """
        {"id":"inpay_1","object":"invoice_payment","amount_paid":999,"amount_requested":999,
        "created":1790000000,"invoice":"in_1","is_default":true,"livemode":false,
        "payment":{"type":"payment_intent","payment_intent":"pi_1"},"status":"paid"}
        """
    static let product = """
        {"id":"prod_pro","object":"product","active":true,"livemode":false,"metadata":{},
        "name":"Pro"}
        """
    static let summary = """
        {"object":"entitlements.active_entitlement_summary","customer":"cus_1","livemode":false,
        "entitlements":{"object":"list","data":[],"has_more":false,
        "url":"/v1/customer/cus_1/entitlements"}}
        """
    static let deletedCustomer = #"{"id":"cus_1","object":"customer","deleted":true}"#

    // MARK: - The table

    static let payment = Meaning.fact("payment", "pi_1")
    static let plan = Meaning.fact("subscription", "sub_1")

    static func session(_ status: String, _ payment: String) -> String {
        StripeTranslatorTests.session(status: status, payment: payment)
    }
    static func intent(_ status: String) -> String { StripeTranslatorTests.intent(status, "{}") }
    static func subscription(_ status: String) -> String {
        StripeTranslatorTests.subscription(status)
    }
    static func refund(_ status: String) -> String { StripeTranslatorTests.refund(status: status) }

    static let checkout: [Row] = [
        .init("checkout.session.completed", session("complete", "paid"), payment),
        .init("checkout.session.completed", session("complete", "unpaid"), payment),
        .init("checkout.session.async_payment_succeeded", session("complete", "paid"), payment),
        .init("checkout.session.async_payment_failed", session("complete", "unpaid"), payment),
        .init("checkout.session.expired", session("expired", "unpaid"), payment),
        .init(
            "checkout.session.completed",
            StripeTranslatorTests.session(
                mode: "subscription",
                intent: "null",
                subscription: "\"sub_1\""
            ),
            .fact("buyer", "sub_1")
        ),
        .init(
            "checkout.session.completed",
            StripeTranslatorTests.session(mode: "setup", intent: "null"),
            .nothing("checkout in mode setup")
        ),
        // What was sold stands in the session; money by itself sells nothing.
        .init("payment_intent.created", intent("requires_payment_method"), .nothing()),
        .init("payment_intent.processing", intent("processing"), .nothing()),
        .init("payment_intent.requires_action", intent("requires_action"), .nothing()),
        .init("payment_intent.succeeded", intent("succeeded"), .nothing()),
        .init("payment_intent.payment_failed", intent("requires_payment_method"), .nothing()),
        .init("payment_intent.canceled", intent("canceled"), .nothing()),
        .init("charge.pending", charge("pending"), .nothing()),
        .init("charge.succeeded", charge("succeeded"), .nothing()),
        .init("charge.failed", charge("failed"), .nothing()),
        .init("charge.updated", charge("succeeded"), .nothing()),
        .init("customer.created", plain("customer", "cus_1"), .nothing()),
        .init("customer.updated", plain("customer", "cus_1"), .nothing()),
        .init("customer.deleted", deletedCustomer, .nothing()),
        .init("payment_method.attached", plain("payment_method"), .nothing()),
    ]

    static let subscriptions: [Row] =
        [
            ("created", "incomplete"), ("created", "active"), ("updated", "past_due"),
            ("updated", "incomplete_expired"), ("deleted", "canceled"),
            ("trial_will_end", "trialing"), ("paused", "paused"), ("resumed", "active"),
            ("pending_update_applied", "active"), ("pending_update_expired", "active"),
        ].map { Row("customer.subscription.\($0.0)", subscription($0.1), plan) }
        + [
            ("created", "draft"), ("updated", "draft"), ("finalized", "open"),
            ("payment_failed", "open"), ("payment_action_required", "open"),
        ].map { Row("invoice.\($0.0)", invoice($0.1), .nothing()) }
        + [
            .init("invoice.upcoming", invoice("draft", id: nil), .nothing()),
            .init("invoice.paid", invoice("paid"), .fact("invoice", "sub_1")),
            .init("invoice.payment_succeeded", invoice("paid"), .fact("invoice", "sub_1")),
            // Stripe says so when an invoice that was paid changes, too.
            .init("invoice.updated", invoice("paid"), .fact("invoice", "sub_1")),
            .init("invoice.voided", invoice("void"), .fact("invoice", "sub_1")),
            .init(
                "invoice.marked_uncollectible",
                invoice("uncollectible"),
                .fact("invoice", "sub_1")
            ),
            .init("invoice_payment.paid", invoicePayment, .nothing()),
            .init("invoiceitem.created", plain("invoiceitem"), .nothing()),
            .init(
                "entitlements.active_entitlement_summary.updated",
                summary,
                .read(.entitlements, "cus_1")
            ),
        ]
        + ["created", "updated", "released", "completed", "canceled", "aborted", "expiring"].map {
            Row("subscription_schedule.\($0)", plain("subscription_schedule"), .nothing())
        }

    static let takenBack: [Row] =
        [
            ("refund.created", "pending"), ("refund.updated", "succeeded"),
            ("charge.refund.updated", "succeeded"), ("refund.failed", "failed"),
        ].map { Row($0.0, refund($0.1), .fact("refund", "pi_1")) }
        // The charge repeats what the refund says, without its id.
        + [.init("charge.refunded", charge("succeeded", refunded: true), .nothing())]
        + [
            ("created", "needs_response"), ("funds_withdrawn", "needs_response"),
            ("updated", "under_review"), ("closed", "lost"), ("closed", "won"),
            ("funds_reinstated", "won"),
        ].map { Row("charge.dispute.\($0.0)", dispute($0.1), .fact("dispute", "pi_1")) }

    static let shop: [Row] = [
        .init("product.created", product, .nothing()),
        .init("product.updated", product, .nothing()),
        .init("price.created", StripeTranslatorTests.price, .nothing()),
        .init("payment_link.created", plain("payment_link"), .nothing()),
        .init("payment_link.updated", plain("payment_link"), .nothing()),
        .init("billing_portal.session.created", plain("billing_portal.session"), .nothing()),
        .init(
            "billing_portal.configuration.updated",
            plain("billing_portal.configuration"),
            .nothing()
        ),
        .init("test_helpers.test_clock.ready", plain("test_helpers.test_clock"), .nothing()),
        .init("payout.paid", plain("payout"), .nothing()),
    ]

    @Test("is a fact, a read, or nothing for a reason", arguments: checkout + subscriptions)
    func selling(_ row: Row) throws { try check(row) }

    @Test("is a fact, a read, or nothing for a reason, when it is taken back", arguments: takenBack)
    func takingBack(_ row: Row) throws { try check(row) }

    @Test("of the shop itself is nothing for a reason", arguments: shop)
    func shopkeeping(_ row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        let message = try StripeTranslatorTests.event(row.type, row.object)
        switch row.meaning {
        case .fact(let kind, let id):
            let fact = try #require(StripeTranslatorTests.fact(message), "\(message)")
            #expect(fact.purchase == StripeTranslator.key(id, livemode: false))
            #expect(fact.source == "evt_1" && fact.stated == StripeTranslatorTests.second)
            #expect(String(describing: fact.statement).hasPrefix("\(kind)("))
        case .read(let kind, let id):
            #expect(StripeTranslatorTests.hint(message) == [Wanted(kind: kind, object: id)])
        case .nothing(let reason):
            #expect(message == .nothing(reason: reason ?? row.type))
        }
    }
}
