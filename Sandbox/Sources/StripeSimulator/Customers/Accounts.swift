/// The account that the secret key belongs to. https://docs.stripe.com/api/accounts/object
enum Accounts {
    /// Its id, the same in every sandbox.
    static let id = "acct_1TollgateSandbox"

    static let routes: [Route] = [
        .get("account") { _, _ in account },
        .get("accounts/:id") { _, call in
            guard call.ids[0] == id else {
                throw APIError(
                    status: 403,
                    code: "account_invalid",
                    message: "The provided key does not have access to account "
                        + "'\(call.ids[0])' (or that account does not exist)."
                )
            }
            return account
        },
    ]

    private static var account: JSON {
        let due: JSON = .object(
            nulls: "current_deadline disabled_reason",
            [
                "alternatives": [], "currently_due": [], "errors": [], "eventually_due": [],
                "past_due": [], "pending_verification": [],
            ]
        )
        return .object(
            nulls: "business_type company groups individual metadata",
            [
                "id": .string(id), "object": "account", "type": "standard",
                "country": "US", "default_currency": "usd", "email": "sandbox@example.com",
                "charges_enabled": true, "payouts_enabled": true, "details_submitted": true,
                "created": 1_700_000_000, "metadata": [:],
                "business_profile": .object(
                    nulls: """
                        annual_revenue estimated_worker_count mcc \
                        minority_owned_business_designation monthly_estimated_revenue \
                        product_description specified_commercial_transactions_act_url \
                        support_address support_email support_phone support_url url
                        """,
                    ["name": "Tollgate sandbox"]
                ),
                "capabilities": [
                    "card_payments": "active", "sepa_debit_payments": "active",
                    "transfers": "active",
                ],
                "controller": ["type": "account"],
                "external_accounts": JSON.list(
                    [],
                    url: "/v1/accounts/\(id)/external_accounts"
                ),
                "future_requirements": due, "requirements": due, "settings": settings,
                "tos_acceptance": .object(nulls: "date ip service_agreement user_agent", [:]),
            ]
        )
    }

    private static let settings: JSON = [
        "bacs_debit_payments": .object(nulls: "display_name service_user_number", [:]),
        "branding": .object(nulls: "icon logo primary_color secondary_color", [:]),
        "card_issuing": [
            "tos_acceptance": .object(nulls: "date ip user_agent", [:])
        ],
        "card_payments": .object(
            nulls: """
                statement_descriptor_prefix statement_descriptor_prefix_kana \
                statement_descriptor_prefix_kanji
                """,
            ["decline_on": ["avs_failure": false, "cvc_failure": false]]
        ),
        "dashboard": ["display_name": "Tollgate sandbox", "timezone": "Etc/UTC"],
        "invoices": .object(
            nulls: "default_account_tax_ids",
            ["hosted_payment_method_save": "offer"]
        ),
        "payments": .object(
            nulls: """
                statement_descriptor statement_descriptor_kana statement_descriptor_kanji \
                statement_descriptor_prefix_kana statement_descriptor_prefix_kanji
                """,
            [:]
        ),
        "payouts": .object(
            nulls: "statement_descriptor",
            [
                "debit_negative_balances": true,
                "schedule": .object(
                    nulls: """
                        monthly_anchor monthly_payout_days weekly_anchor weekly_payout_days
                        """,
                    ["delay_days": 2, "interval": "daily"]
                ),
            ]
        ),
        "sepa_debit_payments": .object(nulls: "creditor_id", [:]),
        "paypay_payments": .null, "treasury": .null,
    ]
}
