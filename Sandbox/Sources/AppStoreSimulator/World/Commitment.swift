extension SimulatedAppStore {
    /// What a customer of a monthly plan with a commitment is bound to: a number of billing
    /// periods, one of which is running.
    public struct Commitment: Codable, Hashable, Sendable {
        /// The running billing period, from 1.
        public var number: Int
        /// How many billing periods the commitment has.
        public var total: Int
        /// When the commitment ends, UNIX milliseconds.
        public var expires: Int64
        /// The price of the whole commitment, in milliunits.
        public var price: Int64
        /// Whether another commitment follows; cancelled before its last billing period, a
        /// commitment is still paid to its end.
        public var renews = true

        /// Whether no billing period is left after the running one.
        public var isLast: Bool { number >= total }

        /// How a plan with a commitment is billed, as spelled in `billingPlanType`.
        static let plan = "MONTHLY"
    }
}

extension SimulatedAppStore.Product {
    /// What a whole commitment costs, or one period of a plan that has none.
    var commitmentPrice: Int64 { price * Int64(commitmentPeriods ?? 1) }
}

extension SimulatedAppStore.Subscription {
    /// Whether the customer is bound for another billing period after this one.
    var isBound: Bool { commitment.map { !$0.isLast } ?? false }

    /// What the next billing period is of: a change of plan waits for the commitment's end.
    var nextProductID: String { isBound ? productID : autoRenewProductID }
}

extension SimulatedAppStore.Renewals {
    /// The commitment that begins with a period, if the plan has one and the period is no offer's
    /// trial or prepaid span.
    func commitment(of product: Product, offer: Offer?, from start: Int64) -> Commitment? {
        guard let total = product.commitmentPeriods,
            offer == nil || offer?.discount == .payAsYouGo
        else { return nil }
        return Commitment(
            number: 1,
            total: total,
            expires: end(of: product.period ?? .month, times: total, from: start),
            price: product.commitmentPrice
        )
    }

    /// The commitment of the billing period that follows a subscription's running one.
    /// - Parameter startsAnew: whether the cycle begins at `start`, after a time without payment.
    func nextCommitment(
        of subscription: Subscription,
        product: Product,
        offer: Offer?,
        from start: Int64,
        startsAnew: Bool
    ) -> Commitment? {
        guard var running = subscription.commitment, !running.isLast,
            product.id == subscription.productID
        else { return commitment(of: product, offer: offer, from: start) }
        running.number += 1
        if startsAnew {
            running.expires = end(
                of: product.period ?? .month,
                times: running.total - running.number + 1,
                from: start
            )
        }
        return running
    }
}
