/// What journal rows have in common, kept here instead of in each of them; see `PackedBytes`.
///
/// Rows refer to these bytes by where they stand, so **nothing here may ever change**: what the
/// stores and we say by then goes into a vocabulary with a number of its own. A test compares their
/// digests.
package enum JournalVocabulary: UInt8 {
    /// The names in our records (CBOR), most common last.
    case facts = 1
    /// Apple's JSON.
    case appStore = 2
    /// Stripe's JSON.
    case stripe = 3

    /// A vocabulary's bytes, and where each four of them stand.
    package final class Words: Sendable {
        package let bytes: [UInt8]
        let places: [UInt16]

        init(_ text: String) {
            // Each character is a byte.
            bytes = text.unicodeScalars.map { UInt8($0.value) }
            var places = [UInt16](repeating: 0, count: PackedBytes.Hashes.count)
            for place in 0..<(bytes.count - 3) {
                let four = bytes[place..<(place + 4)].reversed()
                    .reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                places[PackedBytes.Hashes.of(four)] = UInt16(place)
            }
            self.places = places
        }
    }

    package var words: Words {
        switch self {
        case .facts: Self.factWords
        case .appStore: Self.appStoreWords
        case .stripe: Self.stripeWords
        }
    }

    private static let factWords = Words(
        """
        \u{BF}espent\u{BF}b_0\u{BF}crowx famounthbodyHashx jisAccepted\u{F5}gbalance\u{18}ec\
        oins\u{BF}b_0\u{BF}hcustomerfamount\u{FF}\u{FF}egrant\u{BF}b_0\u{BF}hcustomerilookup\
        Keyesince\u{1B}\u{0}\u{0}\u{1}euntil\u{F6}\u{FF}\u{FF}pfreeSubscription\u{BF}b_0\
        \u{BF}hcustomergproductdisOn\u{F5}\u{FF}\u{FF}jassignment\u{BF}b_0\u{BF}hcustomer\
        \u{FF}\u{FF}eclaim\u{BF}b_0\u{BF}hcustomerdmode\u{FF}\u{FF}nrefundReversedgdispute\
        \u{BF}b_0\u{BF}bidfamount\u{19}fstatusginvoicegcreated\u{1B}\u{0}\u{0}\u{1}\u{FF}\
        \u{FF}frefund\u{BF}b_0\u{BF}bidfamount\u{19}fstatusisucceededginvoicegcreated\u{1B}\
        \u{0}\u{0}\u{1}\u{FF}\u{FF}ebuyer\u{BF}b_0\u{BF}ireference\u{FF}\u{FF}gpayment\u{BF}\
        b_0\u{BF}gsessionxfstatushcompletefisPaid\u{F5}hcustomerireferenceelines\u{9F}\u{BF}\
        epricehquantity\u{1}\u{FF}\u{FF}famount\u{19}hcurrencycusdgcreated\u{1B}\u{0}\u{0}\
        \u{1}gcountrybUS\u{FF}\u{FF}lsubscription\u{BF}b_0\u{BF}fstatusfactivehcustomereitem\
        s\u{9F}\u{BF}bidxepricehquantity\u{1}estart\u{1B}\u{0}\u{0}\u{1}cend\u{1B}\u{0}\u{0}\
        \u{1}qisBilledInArrears\u{F4}\u{FF}\u{FF}rcancelsAtPeriodEnd\u{F4}gcreated\u{1B}\
        \u{0}\u{0}\u{1}jcanceledAt\u{1B}\u{0}\u{0}\u{1}mlatestInvoice\u{FF}\u{FF}ginvoice\
        \u{BF}b_0\u{BF}bidx\u{1B}fstatusdpaidetotal\u{19}hcurrencycusdgcreated\u{1B}\u{0}\
        \u{0}\u{1}elines\u{9F}\u{BF}bidfamount\u{19}estart\u{1B}\u{0}\u{0}\u{1}cend\u{1B}\
        \u{0}\u{0}\u{1}kisProration\u{F4}\u{FF}\u{FF}dpaid\u{F5}\u{FF}\u{FF}grenewal\u{BF}b_\
        0\u{BF}pexpirationIntent\u{1}ngracePeriodEnd\u{1B}\u{0}\u{0}\u{1}iwillRenew\u{F4}kne\
        xtProductx\u{1B}mawaitsConsent\u{F4}pisInBillingRetry\u{F4}krenewalDate\u{1B}\u{0}\
        \u{0}\u{1}\u{FF}\u{FF}dkindjconsumabledkindmnonConsumabledkindknonRenewinggrevoked\
        \u{1B}\u{0}\u{0}\u{1}lrevokedShare\u{1A}hdiscounteofferstripe/production/-/pi_stripe\
        /sandbox/-/sub_\u{BF}efacts\u{BF}b_0\u{9F}\u{BF}hpurchasex@app_store/production/fsou\
        rcex$fstated\u{BF}ginstant\u{1B}\u{0}\u{0}\u{1}fisRead\u{F4}\u{FF}istatement\u{BF}fp\
        eriod\u{BF}b_0\u{BF}bidmtransactionIDgproductdkindmautoRenewableestart\u{1B}\u{0}\
        \u{0}\u{1}cend\u{1B}\u{0}\u{0}\u{1}jisUpgraded\u{F4}hquantity\u{1}etokenx$nisFamilyS\
        hared\u{F4}eprice\u{19}hcurrencycUSDjstorefrontcUSA\u{FF}\u{FF}\u{FF}\u{FF}\u{BF}hpu\
        rchasex@app_store/production/fsourcex$fstated\u{BF}ginstant\u{1B}\u{0}\u{0}\u{1}fisR\
        ead\u{F4}\u{FF}istatement\u{BF}grenewal\u{BF}b_0\u{BF}iwillRenew\u{F5}knextProductx\
        \u{1B}mawaitsConsent\u{F4}pisInBillingRetry\u{F4}krenewalDate\u{1B}\u{0}\u{0}\u{1}\
        \u{FF}\u{FF}\u{FF}\u{FF}\u{BF}hpurchasex@app_store/production/fsourcex$fstated\u{BF}\
        ginstant\u{1B}\u{0}\u{0}\u{1}fisRead\u{F4}\u{FF}istatement\u{BF}fstatus\u{BF}b_0\
        \u{BF}evalue\u{1}ireachesTo\u{1B}\u{0}\u{0}\u{1}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\
        \u{FF}x2app_store/sandbox/com.
        """
    )

    private static let appStoreWords = Words(
        """
        ","appAppleId":{"signedPayload":"{"notificationType":"DID_CHANGE_RENEWAL_STATUS","subt\
        ype":"AUTO_RENEW_DISABLED","AUTO_RENEW_ENABLED","VOLUNTARY","BILLING_RETRY","GRACE_PER\
        IOD","DID_CHANGE_RENEWAL_PREF","UPGRADE","DOWNGRADE","OFFER_REDEEMED","PRICE_INCREASE"\
        ,"DID_FAIL_TO_RENEW","GRACE_PERIOD_EXPIRED","EXPIRED","REFUND","REFUND_DECLINED","REFU\
        ND_REVERSED","REVOKE","CONSUMPTION_REQUEST","ONE_TIME_CHARGE","RENEWAL_EXTENDED","SUBS\
        CRIBED","subtype":"RESUBSCRIBE","INITIAL_BUY","DID_RENEW","BILLING_RECOVERY","notifica\
        tionUUID":"","data":{"appAppleId":,"bundleId":"com.","bundleVersion":"1","environment"\
        :"Sandbox","Production","signedTransactionInfo":"","signedRenewalInfo":"","status":2},\
        "status":1},"version":"2.0","signedDate":17},"notificationType":"SUBSCRIBED","notifica\
        tionUUID":"","signedDate":18,"subtype":"","version":"2.0"}"summary":{"requestIdentifie\
        r":""storefrontCountryCodes":["USA"],"succeededCount":,"failedCount":{"appAccountToken\
        ":"","appTransactionId":"70","bundleId":"com.","currency":"EUR","currency":"USD","envi\
        ronment":"Sandbox","expiresDate":17,"inAppOwnershipType":"FAMILY_SHARED","inAppOwnersh\
        ipType":"PURCHASED","isUpgraded":true,"offerDiscountType":"PAY_AS_YOU_GO","PAY_UP_FRON\
        T","FREE_TRIAL","offerIdentifier":"","offerPeriod":"P1M","offerType":1,"originalPurcha\
        seDate":18,"originalTransactionId":"2000000","price":0,"productId":"com.","purchaseDat\
        e":17,"quantity":1,"revocationDate":17,"revocationReason":0,"revocationPercentage":100\
        000,"revocationType":"REFUND_FULL","signedDate":17,"storefront":"USA","storefrontId":"\
        143441","subscriptionGroupIdentifier":"2","transactionId":"2000000","transactionReason\
        ":"PURCHASE","type":"Auto-Renewable Subscription","webOrderLineItemId":"2000000"}"Cons\
        umable","Non-Consumable","Non-Renewing Subscription","consumptionRequestReason":"UNINT\
        ENDED_PURCHASE"{"transactionId":"2000000","originalTransactionId":"2000000","webOrderL\
        ineItemId":"2","bundleId":"com.","productId":"","subscriptionGroupIdentifier":"","purc\
        haseDate":17,"originalPurchaseDate":17,"expiresDate":17,"quantity":1,"type":"Auto-Rene\
        wable Subscription","appAccountToken":"","inAppOwnershipType":"PURCHASED","signedDate"\
        :17,"environment":"Production","transactionReason":"RENEWAL","storefront":"USA","store\
        frontId":"143441","price":,"currency":"USD","appTransactionId":"70"}{"advancedCommerce\
        Info":"appAccountToken":"","appTransactionId":"","autoRenewProductId":"com.","autoRene\
        wStatus":0,"currency":"USD","eligibleWinBackOfferIds":["","environment":"Sandbox","exp\
        irationIntent":1,"gracePeriodExpiresDate":17,"isInBillingRetryPeriod":true,"isInBillin\
        gRetryPeriod":false,"originalTransactionId":"","priceIncreaseStatus":0,"productId":"",\
        "recentSubscriptionStartDate":18,"renewalDate":18,"renewalPrice":,"signedDate":18}{"or\
        iginalTransactionId":"","autoRenewProductId":"","productId":"","autoRenewStatus":1,"is\
        InBillingRetryPeriod":false,"renewalPrice":9990,"currency":"USD","signedDate":17,"envi\
        ronment":"Production","recentSubscriptionStartDate":17,"renewalDate":17,"appAccountTok\
        en":"","appTransactionId":"
        """
    )

    private static let stripeWords = Words(
        """
        {"id":"evt_","object":"event","account":null,"api_version":"20,"context":null,"created\
        ":,"data":{"object":{"id":"in_","object":"invoice","account_country":"US","account_nam\
        e":"","account_tax_ids":null,"amount_due":,"amount_overpaid":0,"amount_paid":,"amount_\
        paid_off_stripe":null,"amount_remaining":0,"amount_shipping":0,"application":null,"att\
        empt_count":1,"attempted":true,"auto_advance":false,"automatic_tax":{"disabled_reason"\
        :null,"enabled":false,"liability":null,"provider":null,"status":null},"automatically_f\
        inalizes_at":null,"billing_reason":"subscription_create","collection_method":"charge_a\
        utomatically","created":,"currency":"usd","custom_fields":null,"customer":"cus_","cust\
        omer_account":null,"customer_address":null,"customer_email":"","customer_name":null,"c\
        ustomer_phone":null,"customer_shipping":null,"customer_tax_exempt":"none","customer_ta\
        x_ids":null,"default_payment_method":null,"default_source":null,"default_tax_rates":[]\
        ,"description":null,"discounts":[],"due_date":null,"effective_at":,"ending_balance":0,\
        "footer":null,"from_invoice":null,"hosted_invoice_url":"https://,"invoice_pdf":"https:\
        //,"issuer":{"account":null,"type":"self"},"last_finalization_error":null,"latest_revi\
        sion":null,"lines":{"object":"list","data":[{"id":"il_","object":"line_item","amount":\
        ,"currency":"usd","description":"","discount_amounts":[],"discountable":true,"discount\
        s":[],"invoice":"in_","livemode":false,"metadata":{},"parent":{"invoice_item_details":\
        null,"subscription_item_details":{"invoice_item":null,"proration":false,"proration_det\
        ails":null,"subscription":"sub_","subscription_item":"si_"},"type":"subscription_item_\
        details"},"period":{"end":,"start":},"pretax_credit_amounts":[],"pricing":{"price_deta\
        ils":{"price":"price_","product":"prod_"},"type":"price_details","unit_amount_decimal"\
        :""},"quantity":1,"quantity_decimal":"1","subscription":"sub_","subtotal":,"taxes":[]}\
        ],"has_more":false,"url":"/v1/invoices/in_/lines"},"livemode":false,"metadata":{},"nex\
        t_payment_attempt":null,"number":"","on_behalf_of":null,"parent":{"quote_details":null\
        ,"subscription_details":{"metadata":{},"subscription":"sub_","subscription_proration_d\
        ate":null},"type":"subscription_details"},"payment_settings":{"default_mandate":null,"\
        payment_method_options":null,"payment_method_types":null},"period_end":,"period_start"\
        :,"post_payment_credit_notes_amount":0,"pre_payment_credit_notes_amount":0,"receipt_nu\
        mber":null,"rendering":null,"shipping_cost":null,"shipping_details":null,"starting_bal\
        ance":0,"statement_descriptor":null,"status":"paid","status_details":null,"status_tran\
        sitions":{"finalized_at":,"marked_uncollectible_at":null,"paid_at":,"voided_at":null},\
        "subtotal":,"subtotal_excluding_tax":,"test_clock":null,"threshold_reason":null,"total\
        ":,"total_discount_amounts":[],"total_excluding_tax":,"total_pretax_credit_amounts":[]\
        ,"total_taxes":[],"webhooks_delivered_at":null}},"livemode":false,"pending_webhooks":1\
        ,"request":{"id":null,"idempotency_key":null},"type":"invoice.paid"}{"id":"sub_","obje\
        ct":"subscription","application_fee_percent":null,"billing_cycle_anchor":17,"billing_c\
        ycle_anchor_config":null,"billing_mode":{"flexible":{"proration_discounts":"included"}\
        ,"type":"flexible","updated_at":null},"billing_schedules":[],"billing_thresholds":null\
        ,"cancel_at":null,"cancel_at_period_end":false,"canceled_at":null,"cancellation_detail\
        s":{"comment":null,"feedback":null,"feedback_option":null,"reason":null},"days_until_d\
        ue":null,"default_payment_method":"pm_","ended_at":null,"invoice_settings":{"items":{"\
        object":"list","data":[{"id":"si_","object":"subscription_item","billed_until":null,"c\
        urrent_period_end":18,"current_period_start":18,"current_trial":null,"plan":{"id":"pri\
        ce_","object":"plan","active":true,"amount":,"amount_decimal":"","billing_scheme":"per\
        _unit","interval":"month","interval_count":1,"meter":null,"nickname":null,"tiers_mode"\
        :null,"transform_usage":null,"trial_period_days":null,"usage_type":"licensed"},"price"\
        :{"id":"price_","object":"price","custom_unit_amount":null,"lookup_key":null,"recurrin\
        g":{"tax_behavior":"unspecified","transform_quantity":null,"type":"recurring","unit_am\
        ount":"subscription_items?subscription=sub_","tax_rates":[]}],"latest_invoice":"in_","\
        managed_payments":null,"next_pending_invoice_item_invoice":null,"pause_collection":nul\
        l,"save_default_payment_method":"off"},"pending_invoice_item_interval":null,"pending_s\
        etup_intent":null,"pending_update":null,"presentment_details":null,"schedule":null,"st\
        art_date":18,"status":"active","transfer_data":null,"trial_end":null,"trial_settings":\
        {"end_behavior":{"missing_payment_method":"create_invoice"}},"trial_start":null}},"pre\
        vious_attributes":{"customer.subscription.updated"{"id":"cs_test_","object":"checkout.\
        session","adaptive_pricing":{"enabled":false},"after_expiration":null,"allow_promotion\
        _codes":null,"allowed_payment_method_types":null,"amount_subtotal":,"amount_total":,"b\
        illing_address_collection":null,"branding_settings":null,"cancel_url":"https://","clie\
        nt_reference_id":"cus_tg_","client_secret":null,"collected_information":null,"consent"\
        :null,"consent_collection":null,"currency_conversion":null,"custom_fields":[],"custom_\
        text":{"after_submit":null,"shipping_address":null,"submit":null,"terms_of_service_acc\
        eptance":null},"customer_creation":"if_required","customer_details":{"address":{"city"\
        :null,"country":"US","line1":null,"line2":null,"postal_code":"","state":null},"busines\
        s_name":null,"email":"","individual_name":null,"name":null,"phone":null,"tax_exempt":"\
        none","tax_ids":[]},"excluded_payment_method_types":null,"expires_at":18,"integration_\
        identifier":null,"invoice_creation":null,"locale":null,"mode":"payment","name_collecti\
        on":null,"optional_items":null,"origin_context":"mobile_app","payment_intent":"pi_","p\
        ayment_link":null,"payment_method_collection":"if_required","payment_method_configurat\
        ion_details":null,"payment_method_options":{"card":{"request_three_d_secure":"automati\
        c"}},"payment_method_types":["card"],"payment_status":"paid","permissions":null,"phone\
        _number_collection":{"recovered_from":null,"redirect_on_completion":null,"return_url":\
        null,"saved_payment_method_options":null,"setup_intent":null,"shipping_address_collect\
        ion":null,"shipping_options":[],"status":"complete","submit_type":null,"subscription":\
        null,"success_url":"https:///checkout_redirect/success?session_id={CHECKOUT_SESSION_ID\
        }","tax_id_collection":null,"total_details":{"amount_discount":0,"amount_shipping":0,"\
        amount_tax":0},"ui_mode":"hosted_page","url":null,"wallet_options":null}},"type":"chec\
        kout.session.completed"}{"id":"pi_","object":"payment_intent","amount_capturable":0,"a\
        mount_details":null,"amount_received":,"automatic_payment_methods":null,"cancellation_\
        reason":null,"capture_method":"automatic_async","client_secret":"pi__secret_","confirm\
        ation_method":"automatic","hooks":null,"last_payment_error":null,"latest_charge":"ch_"\
        ,"next_action":null,"payment_details":null,"payment_method":"pm_","payment_record":nul\
        l,"processing":null,"receipt_email":null,"review":null,"setup_future_usage":null,"sour\
        ce":null,"statement_descriptor_suffix":null,"status":"succeeded","transfer_group":null\
        }{"id":"ch_","object":"charge","amount_captured":,"amount_refunded":0,"balance_transac\
        tion":"txn_","billing_details":{"calculated_statement_descriptor":"captured":true,"dis\
        pute":null,"disputed":false,"failure_code":null,"failure_message":null,"fraud_details"\
        :{},"outcome":{"network_status":"approved_by_network","risk_level":"normal","seller_me\
        ssage":"Payment complete."},"paid":true,"payment_method_details":{"card":{"amount_auth\
        orized":,"brand":"visa","checks":{"address_line1_check":null,"cvc_check":"pass"},"exp_\
        month":,"exp_year":20,"fingerprint":"","funding":"credit","last4":"4242","network":"vi\
        sa","three_d_secure":null,"type":"card"},"receipt_url":"https://","refunded":false,"re\
        funds":"type":"charge.refunded"}"type":"payment_intent.succeeded"}
        """
    )
}
