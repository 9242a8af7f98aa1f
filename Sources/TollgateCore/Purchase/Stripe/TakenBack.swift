extension StripeRecord {
    /// How much of a payment its refunds and disputes have taken back (RULES §5).
    public struct TakenBack: Hashable, Sendable {
        /// Minor units, at most the amount.
        public var amount: Int64
        public var of: Int64
        /// When all of it was gone.
        public var cut: Instant?

        init(
            of amount: Int64,
            paying invoice: String?,
            by refunds: [Newest<StripeRefund>],
            _ disputes: [Newest<StripeDispute>]
        ) {
            var sum: Int64 = 0
            let refunds = refunds.filter { $0.value.takesBack && $0.value.invoice == invoice }
            let disputes = disputes.filter { $0.value.takesBack && $0.value.invoice == invoice }
            // A later statement about one of them moves no end (RULES §5.4).
            let movements =
                refunds.map { ($0.value.created ?? $0.stated.instant, $0.value.amount) }
                + disputes.map {
                    ($0.value.withdrawn ?? $0.value.created ?? $0.stated.instant, $0.value.amount)
                }
            for (instant, part) in movements.sorted(by: { $0 < $1 }) where sum < amount {
                sum += max(0, min(part, amount - sum))
                // Stripe counts whole seconds; what is finer only orders reads.
                if sum >= amount { cut = Instant(seconds: instant.milliseconds / 1000) }
            }
            self.amount = sum
            of = amount
        }
    }
}
