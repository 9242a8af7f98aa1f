extension StripeSimulator {
    /// How this Stripe behaves where the documentation is silent, so that both can be tried.
    public struct Policy: Hashable, Codable, Sendable {
        /// What becomes of a subscription once no attempt is left, as the Dashboard offers it.
        public enum DunningEnd: String, Codable, Sendable, CaseIterable {
            case canceled, unpaid
            case pastDue = "past_due"
        }

        /// When what is available goes to the bank.
        public enum Payouts: String, Codable, Sendable, CaseIterable {
            /// When somebody says so.
            case manual
            /// Every midnight.
            case daily
            /// On Mondays.
            case weekly
        }

        /// The days after the first failure on which a renewal is tried again.
        public var retryDays = [3, 5, 7]
        public var dunningEnd = DunningEnd.canceled
        /// The statuses of a subscription in which its features can be used.
        public var entitlingStatuses: Set<String> = ["active", "trialing", "past_due"]
        /// Whether a renewal announces entitlements that did not change.
        public var announcesUnchangedEntitlements = false
        /// What a session's `payment_status` is when a trial starts for nothing.
        public var freeTrialPaymentStatus = "no_payment_required"
        /// The HTTP status when a parameter names what does not exist: 400 or 404.
        public var danglingParameterStatus = 400
        /// How many days before a renewal `invoice.upcoming` is sent; 0 for never.
        public var upcomingDays = 7
        public var payouts = Payouts.manual
        /// So many days a bank debit takes; `nil`: the minutes of the test account.
        public var debitDays: Int?

        public init() {}
    }
}
