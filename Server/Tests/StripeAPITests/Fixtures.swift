import StrictJSON

/// Objects as Stripe renders them in the pinned version, cut down to what is read and some more.
enum Fixture {
    static let price = #"""
        {"id":"price_pro_monthly","object":"price","active":true,"billing_scheme":"per_unit",
        "created":1790000000,"currency":"usd","livemode":false,"lookup_key":null,"metadata":{},
        "product":"prod_pro","recurring":{"interval":"month","interval_count":1,"meter":null,
        "trial_period_days":null,"usage_type":"licensed"},"type":"recurring","unit_amount":999,
        "unit_amount_decimal":"999"}
        """#

    static let subscription = #"""
        {"id":"sub_1","object":"subscription","billing_cycle_anchor":1790000000,
        "billing_mode":{"type":"flexible"},"cancel_at":null,"cancel_at_period_end":false,
        "canceled_at":null,"cancellation_details":{"comment":null,"feedback":null,
        "reason":"payment_failed"},"collection_method":"charge_automatically","created":1790000000,
        "currency":"usd","customer":"cus_1","ended_at":null,"items":{"object":"list","data":[
        {"id":"si_1","object":"subscription_item","created":1790000000,
        "current_period_end":1792592000,"current_period_start":1790000000,"metadata":{"a":"b"},
        "price":\#(price),"quantity":1,"subscription":"sub_1"}],"has_more":false,
        "url":"/v1/subscription_items?subscription=sub_1"},"latest_invoice":"in_1",
        "livemode":false,"metadata":{"app_user_id":"u1"},
        "pause_collection":{"behavior":"void","resumes_at":null},"start_date":1790000000,
        "status":"a_status_of_tomorrow","test_clock":null,"trial_end":null,"trial_start":null}
        """#

    static let invoice = #"""
        {"id":"in_1","object":"invoice","amount_due":999,"amount_paid":999,"amount_remaining":0,
        "attempt_count":1,"billing_reason":"subscription_cycle","created":1792592000,
        "currency":"usd","customer":"cus_1","lines":{"object":"list","data":[
        {"id":"il_1","object":"line_item","amount":999,"currency":"usd","description":"1 × Pro",
        "discountable":true,"invoice":"in_1","livemode":false,"metadata":{},
        "parent":{"type":"subscription_item_details","invoice_item_details":null,
        "subscription_item_details":{"invoice_item":null,"proration":false,
        "proration_details":{"credited_items":null},"subscription":"sub_1",
        "subscription_item":"si_1"}},"period":{"end":1795184000,"start":1792592000},
        "pricing":{"price_details":{"price":"price_pro_monthly","product":"prod_pro"},
        "type":"price_details","unit_amount_decimal":"999.5"},"quantity":1},
        {"id":"il_2","object":"line_item","amount":-166,"currency":"usd","description":"Unused",
        "metadata":{},"parent":{"type":"subscription_item_details","invoice_item_details":null,
        "subscription_item_details":{"invoice_item":"ii_1","proration":true,
        "subscription":"sub_1","subscription_item":"si_1"}},
        "period":{"end":1792592000,"start":1792592000},"pricing":null,"quantity":1}],
        "has_more":true,"url":"/v1/invoices/in_1/lines"},"livemode":false,"metadata":{},
        "next_payment_attempt":null,"parent":{"quote_details":null,"subscription_details":{
        "metadata":{},"subscription":"sub_1"},"type":"subscription_details"},
        "payments":{"object":"list","data":[\#(invoicePayment)],"has_more":false,"url":"/v1/x"},
        "period_end":1792592000,"period_start":1790000000,"status":"paid",
        "status_transitions":{"finalized_at":1792592000,"marked_uncollectible_at":null,
        "paid_at":1792595600,"voided_at":null},"subtotal":999,"total":999}
        """#

    /// As versions before `basil` rendered it.
    static let classicInvoice = #"""
        {"id":"in_0","object":"invoice","amount_due":999,"amount_paid":999,"amount_remaining":0,
        "created":1700000000,"currency":"usd","customer":"cus_1","lines":{"object":"list","data":[
        {"id":"il_0","object":"line_item","amount":999,"currency":"usd","metadata":{},
        "period":{"end":1702592000,"start":1700000000},"price":\#(price),"proration":true,
        "quantity":1,"subscription":"sub_1","subscription_item":"si_1","type":"subscription"}],
        "has_more":false,"url":"/v1/x"},"livemode":false,"metadata":{},"status":"paid",
        "subscription":"sub_1","total":999}
        """#

    static let invoicePayment = #"""
        {"id":"inpay_1","object":"invoice_payment","amount_paid":999,"amount_requested":999,
        "created":1792592000,"currency":"usd","invoice":"in_1","is_default":true,"livemode":false,
        "payment":{"payment_intent":"pi_1","type":"payment_intent"},"status":"paid"}
        """#

    static let checkoutSession = #"""
        {"id":"cs_test_1","object":"checkout.session","amount_subtotal":1000,"amount_total":1000,
        "client_reference_id":"ref","created":1790000000,"currency":"usd","customer":{"id":"cus_1",
        "object":"customer","created":1780000000,"email":"a@example.com","livemode":false,
        "metadata":{},"name":null,"test_clock":null},
        "customer_details":{"email":"b@example.com","name":null},"customer_email":null,
        "expires_at":1790086400,"invoice":null,"line_items":{"object":"list","data":[
        \#(lineItem(1))],"has_more":false,"url":"/v1/checkout/sessions/cs_test_1/line_items"},
        "livemode":false,"metadata":{},"mode":"payment","payment_intent":"pi_1",
        "payment_link":null,"payment_status":"paid","status":"complete","subscription":null,
        "url":null}
        """#

    static func lineItem(_ number: Int) -> String {
        #"""
        {"id":"li_\#(number)","object":"item","amount_discount":0,"amount_subtotal":1000,
        "amount_tax":0,"amount_total":1000,"currency":"usd","description":"100 coins",
        "price":\#(price),"quantity":2}
        """#
    }

    static let paymentIntent = #"""
        {"id":"pi_1","object":"payment_intent","amount":1000,"amount_received":1000,
        "cancellation_reason":null,"created":1790000000,"currency":"usd","customer":"cus_1",
        "latest_charge":\#(charge),"livemode":false,"metadata":{},"status":"succeeded"}
        """#

    static let charge = #"""
        {"id":"ch_1","object":"charge","amount":1000,"amount_captured":1000,"amount_refunded":400,
        "created":1790000000,"currency":"usd","customer":"cus_1","disputed":false,
        "livemode":false,"metadata":{},"paid":true,"payment_intent":"pi_1","refunded":false,
        "status":"succeeded"}
        """#

    static let refund = #"""
        {"id":"re_1","object":"refund","amount":400,"charge":"ch_1","created":1790000100,
        "currency":"usd","metadata":{},"payment_intent":"pi_1","reason":"requested_by_customer",
        "status":"succeeded"}
        """#

    static let dispute = #"""
        {"id":"du_1","object":"dispute","amount":1000,"charge":"ch_1","created":1790000200,
        "currency":"usd","livemode":false,"metadata":{},"payment_intent":"pi_1",
        "reason":"fraudulent","status":"needs_response"}
        """#

    static func event(_ type: String, _ object: String, version: String? = nil) -> String {
        let version = version ?? "2026-09-30.endive"
        return #"""
            {"id":"evt_1","object":"event","api_version":"\#(version)","created":1790000001,
            "data":{"object":\#(object),"previous_attributes":{"status":"incomplete"}},
            "livemode":false,"pending_webhooks":1,"request":{"id":"req_1",
            "idempotency_key":"key_1"},"type":"\#(type)"}
            """#
    }

    static func json(_ text: String) throws -> JSON {
        try JSON(Array(text.utf8))
    }
}
