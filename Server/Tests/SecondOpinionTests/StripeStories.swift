import TollgateCore

@testable import SecondOpinion

// Stripe's.
extension Story {
    static let stripe = [
        Story(
            testDescription: "a plan is active, and nothing more is heard",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active"))
            ],
            expected: [10: .yes, 30.5: .open, 31.5: .no]
        ),
        Story(
            testDescription: "a trial",
            words: [
                .event(
                    "customer.subscription.created",
                    created: 0,
                    .subscription("trialing", to: 7)
                )
            ],
            expected: [5: .yes, 9: .no]
        ),
        Story(
            testDescription: "a renewal fails: past due, three days from the unpaid period",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event("invoice.paid", created: 0, .invoice()),
                .event(
                    "customer.subscription.updated",
                    created: 30,
                    .subscription("past_due", from: 30, to: 60)
                ),
            ],
            expected: [32: .yes, 34: .no]
        ),
        Story(
            testDescription: "a raise of the quantity is not paid, in the middle of a paid period",
            words: [
                .event(
                    "customer.subscription.created",
                    created: 0,
                    .subscription("active", to: 365)
                ),
                .event("invoice.paid", created: 0, .invoice(to: 365)),
                .event(
                    "customer.subscription.updated",
                    created: 100,
                    .subscription("past_due", to: 365)
                ),
            ],
            expected: [200: .yes, 366: .yes, 369: .no]
        ),
        Story(
            testDescription: "a year is changed to a month, and the month's renewal fails",
            words: yearToMonth(credit: -900),
            expected: [39: .yes, 42: .yes, 44: .no, 200: .no]
        ),
        Story(
            testDescription: "the same, where a coupon pays all: what was given back is not told",
            words: yearToMonth(credit: 0),
            expected: [39: .yes, 200: .open]
        ),
        Story(
            testDescription: "a payment is past due, and no paid invoice is known",
            words: [
                .event(
                    "customer.subscription.updated",
                    created: 30,
                    .subscription("past_due", from: 30, to: 60)
                )
            ],
            expected: [32: .open, 34: .no]
        ),
        Story(
            testDescription: "a payment for usage is past due: it is billed a period later",
            words: [
                .event(
                    "customer.subscription.created",
                    created: 0,
                    .subscription("active", isMetered: true)
                ),
                .event("invoice.paid", created: 0, .invoice(from: 0, to: 0)),
                .event(
                    "customer.subscription.updated",
                    created: 30,
                    .subscription("past_due", from: 30, to: 60, isMetered: true)
                ),
            ],
            expected: [10: .yes, 35: .open]
        ),
        Story(
            testDescription: "a payment is past due, and the plan is told to end within the grace",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event("invoice.paid", created: 0, .invoice()),
                .event(
                    "customer.subscription.updated",
                    created: 30,
                    .subscription("past_due", from: 30, to: 60, cancelAt: 31)
                ),
            ],
            expected: [30.5: .yes, 32: .no]
        ),
        Story(
            testDescription: "a period is refunded: what the catalog said when it began counts",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event("invoice.paid", created: 0, .invoice()),
                .onAsking("/v1/payment_intents/pi_1", .paymentIntent),
                .onAsking("/v1/invoice_payments", .list([.invoicePayment])),
                .onAsking("/v1/invoices/in_1", .invoice()),
                .onAsking("/v1/refunds", .list([.refund(1000, created: 10)])),
                .event("refund.created", created: 10, .refund(1000, created: 10)),
                .adopts(20, .end),
            ],
            expected: [15: .yes, 25: .yes]
        ),
        Story(
            testDescription: "nobody pays for months, and the period goes on rolling",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event("invoice.paid", created: 0, .invoice()),
                .event(
                    "customer.subscription.updated",
                    created: 90,
                    .subscription("past_due", from: 90, to: 120)
                ),
            ],
            expected: [100: .no]
        ),
        Story(
            testDescription: "a plan is cancelled now",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event(
                    "customer.subscription.deleted",
                    created: 10,
                    .subscription("canceled", ended: 10)
                ),
            ],
            expected: [11: .no]
        ),
        Story(
            testDescription: "the end of a plan arrives before its beginning",
            words: [
                .event(
                    "customer.subscription.deleted",
                    created: 10,
                    .subscription("canceled", ended: 10)
                ),
                .event("customer.subscription.created", created: 0, .subscription("active")),
            ],
            expected: [11: .no]
        ),
        Story(
            testDescription: "a plan is cancelled at the end of its period",
            words: [
                .event(
                    "customer.subscription.updated",
                    created: 5,
                    .subscription("active", cancelAt: 30, atPeriodEnd: true)
                )
            ],
            expected: [29: .yes, 30.1: .no]
        ),
        Story(
            testDescription: "a plan ends at a date that is far away",
            words: [
                .event(
                    "customer.subscription.updated",
                    created: 5,
                    .subscription("active", cancelAt: 100)
                )
            ],
            expected: [29: .yes, 30.5: .open, 32: .no]
        ),
        Story(
            testDescription: "a first payment is not made",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("incomplete"))
            ],
            expected: [0.5: .no]
        ),
        Story(
            testDescription: "after the last attempt the plan is unpaid",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event(
                    "customer.subscription.updated",
                    created: 45,
                    .subscription("unpaid", from: 30, to: 60)
                ),
            ],
            expected: [46: .no]
        ),
        Story(
            testDescription: "a plan is paused",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event("customer.subscription.paused", created: 10, .subscription("paused")),
            ],
            expected: [11: .no]
        ),
        Story(
            testDescription: "an older word arrives later",
            words: [
                .event("customer.subscription.updated", created: 1, .subscription("active")),
                .event(
                    "customer.subscription.created",
                    created: 0,
                    .subscription("incomplete")
                ),
            ],
            expected: [10: .yes]
        ),
        Story(
            testDescription: "two words of one second",
            words: [
                .event("customer.subscription.created", created: 1, .subscription("incomplete")),
                .event("customer.subscription.updated", created: 1, .subscription("active")),
            ],
            expected: [10: .open]
        ),
        Story(
            testDescription:
                "the invoice of a renewal is paid, and its subscription's word is lost",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event("invoice.paid", created: 0, .invoice()),
                .event("invoice.paid", created: 30.05, .invoice(id: "in_2", from: 30, to: 60)),
            ],
            expected: [45: .yes, 61: .no]
        ),
        Story(
            testDescription: "something for ever is paid on the invoice of a plan",
            words: [
                .event("customer.subscription.created", created: 0, .subscription("active")),
                .event(
                    "invoice.paid",
                    created: 0,
                    .invoice(price: "price_lifetime", from: 0, to: 0, item: nil)
                ),
            ],
            expected: [100: .yes],
            lookupKey: "archive"
        ),
    ]

    private static func yearToMonth(credit: Int) -> [Word] {
        let year = "price_yearly"
        return [
            .event(
                "customer.subscription.created",
                created: 0,
                .subscription("active", price: year, to: 365)
            ),
            .event("invoice.paid", created: 0, .invoice(price: year, to: 365)),
            .event(
                "customer.subscription.updated",
                created: 10,
                .subscription("active", from: 10, to: 40)
            ),
            .event(
                "invoice.paid",
                created: 10,
                .invoice(
                    id: "in_2",
                    from: 10,
                    to: 40,
                    paid: 10,
                    credit: .init(price: year, from: 10, to: 365, amount: credit)
                )
            ),
            .event(
                "customer.subscription.updated",
                created: 40,
                .subscription("past_due", from: 40, to: 70)
            ),
        ]
    }

    static func webPass(created: Double) -> [Word] {
        let session = Thing.session(price: "price_pass", created: created)
        return [
            .onAsking("/v1/checkout/sessions/cs_1", session),
            .event("checkout.session.completed", created: created, session),
        ]
    }

    private static let paidSession: [Word] = [
        .onAsking("/v1/checkout/sessions/cs_1", .session()),
        .event("checkout.session.completed", created: 0, .session()),
    ]

    static let stripeSales = [
        Story(
            testDescription: "an unlock is paid for on the Checkout page",
            words: paidSession,
            expected: [100: .yes]
        ),
        Story(
            testDescription: "a bank debit is complete, and not paid yet",
            words: [
                .onAsking("/v1/checkout/sessions/cs_1", .session(payment: "unpaid")),
                .event("checkout.session.completed", created: 0, .session(payment: "unpaid")),
            ],
            expected: [1: .no]
        ),
        Story(
            testDescription: "a pass runs from its payment, days after the page was opened",
            words: [
                .onAsking(
                    "/v1/checkout/sessions/cs_1",
                    .session(price: "price_pass", created: 0)
                ),
                .event(
                    "checkout.session.async_payment_succeeded",
                    created: 5,
                    .session(price: "price_pass", created: 0)
                ),
            ],
            expected: [34: .yes, 36: .no]
        ),
        Story(
            testDescription: "two passes are bought at once",
            words: [
                .onAsking(
                    "/v1/checkout/sessions/cs_1",
                    .session(price: "price_pass", quantity: 2)
                ),
                .event(
                    "checkout.session.completed",
                    created: 0,
                    .session(price: "price_pass", quantity: 2)
                ),
            ],
            expected: [29: .yes, 45: .yes, 61: .no]
        ),
        Story(
            testDescription:
                "a Payment Link names somebody who was registered before there were two kinds of names",
            words: [
                .registers("jenny", reference: hash),
                .onAsking(
                    "/v1/checkout/sessions/cs_1",
                    .session(customer: "cus_stranger", reference: hash)
                ),
                .event(
                    "checkout.session.completed",
                    created: 0,
                    .session(customer: "cus_stranger", reference: hash)
                ),
            ],
            expected: [10: .yes]
        ),
        Story(
            testDescription: "all of an unlock is refunded",
            words: paidSession + [
                .event("refund.created", created: 10, .refund(1000, created: 10))
            ],
            expected: [11: .no]
        ),
        Story(
            testDescription: "a part of an unlock is refunded",
            words: paidSession + [.event("refund.created", created: 10, .refund(400, created: 10))],
            expected: [11: .open]
        ),
        Story(
            testDescription: "a refund fails",
            words: paidSession + [
                .event(
                    "refund.created",
                    created: 10,
                    .refund(1000, status: "pending", created: 10)
                ),
                .event(
                    "refund.failed",
                    created: 12,
                    .refund(1000, status: "failed", created: 10)
                ),
            ],
            expected: [13: .yes]
        ),
        Story(
            testDescription: "a dispute is lost",
            words: paidSession + [
                .event(
                    "charge.dispute.created",
                    created: 10,
                    .dispute("needs_response", created: 10)
                ),
                .event("charge.dispute.closed", created: 80, .dispute("lost", created: 10)),
            ],
            expected: [90: .no]
        ),
        Story(
            testDescription: "a dispute is won",
            words: paidSession + [
                .event(
                    "charge.dispute.created",
                    created: 10,
                    .dispute("needs_response", created: 10)
                ),
                .event("charge.dispute.closed", created: 80, .dispute("won", created: 10)),
            ],
            expected: [90: .yes]
        ),
    ]

    /// An `app_user_id` in the form of base64url(SHA-256(secret)).
    private static let hash = String(repeating: "a", count: 43)
}
