import TollgateCore

// Stripe's objects as `StripeMoneyTests` tells them.

extension StripeSubscription.Item {
    static func item(
        _ from: Double,
        _ to: Double,
        _ price: String = "price_monthly",
        _ id: String = "si_1",
        quantity: Int64 = 1,
        metered: Bool = false,
        created: Double? = nil
    ) -> Self {
        Self(
            id: id,
            price: price,
            quantity: quantity,
            start: .day(from),
            end: .day(to),
            isBilledInArrears: metered,
            created: created.map { .day($0) }
        )
    }
}

extension StripeInvoice.Line {
    static func full(
        _ from: Double,
        _ to: Double,
        _ price: String = "price_monthly",
        _ item: String = "si_1",
        amount: Int64 = 999
    ) -> Self {
        line("full", from, to, price, item, 1, amount, isProration: false)
    }

    static func charge(
        _ from: Double,
        _ to: Double,
        _ price: String = "price_monthly",
        quantity: Int64 = 1,
        amount: Int64 = 500
    ) -> Self {
        line("charge", from, to, price, "si_1", quantity, amount, isProration: true)
    }

    static func credit(
        _ from: Double,
        _ to: Double,
        _ price: String = "price_monthly",
        _ item: String? = "si_1",
        quantity: Int64 = 1
    ) -> Self {
        line("credit", from, to, price, item, quantity, -500, isProration: true)
    }

    /// A part of a graduated price's quantity.
    static func tier(_ from: Double, _ to: Double, _ quantity: Int64) -> Self {
        line("tier", from, to, "price_monthly", "si_1", quantity, 999, isProration: false)
    }

    /// A proration where a coupon pays all: a credit or a charge.
    ///
    /// - Parameter undone: of a second change within the second.
    static func free(
        _ from: Double,
        _ to: Double,
        _ price: String = "price_monthly",
        _ item: String = "si_1",
        quantity: Int64 = 1,
        undone: Bool = false
    ) -> Self {
        let kind = undone ? "again" : "free"
        return line(kind, from, to, price, item, quantity, 0, isProration: true)
    }

    static func once(
        _ price: String,
        _ day: Double,
        quantity: Int64 = 1,
        amount: Int64 = 999
    ) -> Self {
        line("once", day, day, price, nil, quantity, amount, isProration: false)
    }

    private static func line(
        _ kind: String,
        _ from: Double,
        _ to: Double,
        _ price: String,
        _ item: String?,
        _ quantity: Int64,
        _ amount: Int64,
        isProration: Bool
    ) -> Self {
        Self(
            id: "il_\(kind)_\(price)_\(item ?? "")_\(quantity)_\(from)",
            price: price,
            quantity: quantity,
            amount: amount,
            start: .day(from),
            end: .day(to),
            isProration: isProration,
            item: item
        )
    }
}

extension Fact {
    static func plan(
        _ status: String,
        _ day: Double,
        _ items: StripeSubscription.Item...,
        cancelAt: Double? = nil,
        cancels: Bool = false,
        ended: Double? = nil,
        days: Int64? = nil
    ) -> Fact {
        .said(
            .subscription(
                StripeSubscription(
                    status: status,
                    customer: "cus_1",
                    items: items,
                    cancelAt: cancelAt.map { .day($0) },
                    cancelsAtPeriodEnd: cancels,
                    endedAt: ended.map { .day($0) },
                    daysUntilDue: days
                )
            ),
            on: day,
            about: .stripe("sub_1")
        )
    }

    /// An invoice of the subscription; not paid without a day.
    static func bill(
        _ id: String,
        _ day: Double?,
        amount: Int64 = 999,
        _ lines: [StripeInvoice.Line],
        voided: Double? = nil
    ) -> Fact {
        .said(
            .invoice(
                StripeInvoice(
                    id: id,
                    isPaid: day != nil,
                    amount: amount,
                    currency: "usd",
                    lines: lines,
                    paid: day.map { .day($0) },
                    voided: voided.map { .day($0) }
                )
            ),
            on: day ?? 0,
            about: .stripe("sub_1")
        )
    }

    static func refunded(
        _ id: String,
        _ amount: Int64,
        of invoice: String,
        _ day: Double
    ) -> Fact {
        .said(
            .refund(
                StripeRefund(
                    id: id,
                    amount: amount,
                    status: "succeeded",
                    invoice: invoice,
                    created: .day(day)
                )
            ),
            on: 500,
            about: .stripe("sub_1")
        )
    }

    /// A pass, bought and paid on one day.
    static func pass(_ id: String, _ day: Double) -> Fact {
        .said(
            .payment(
                StripePayment(
                    session: "cs_\(id)",
                    status: "complete",
                    isPaid: true,
                    customer: "cus_1",
                    reference: nil,
                    lines: [.init(price: "price_pass", quantity: 1)],
                    amount: 1000,
                    currency: "usd",
                    created: .day(day)
                )
            ),
            on: day,
            about: .stripe(id)
        )
    }
}
