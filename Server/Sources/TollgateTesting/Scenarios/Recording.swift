public import StripeSimulator

/// What the stores of a story said, in the order in which they said it.
public struct Recording: Sendable {
    /// Something that reached the backend.
    public enum Message: Hashable, Sendable {
        /// A notification of the App Store's.
        case notification(String)
        case event(body: String, signature: String)
        case post(String, ScenarioCustomer, mode: String, at: Int64)
    }

    /// A check, and what had been said by then.
    public struct Check: Sendable {
        public var line: Int
        public var at: Int64
        public var isExact: Bool
        public var customer: ScenarioCustomer
        public var expectation: Scenario.Expectation
        /// So many messages had come.
        public var messages: Int
        /// Stripe as it was then, for a backend that reads.
        public var stripe: StripeSimulator?
    }

    public var scenario: LoadedScenario
    public var variant: String
    public var customers: [ScenarioCustomer] = []
    /// The customers that were made at Stripe, as Stripe answered, by their owner.
    public var stripeCustomers: [ScenarioCustomer: String] = [:]
    public var messages: [Message] = []
    public var checks: [Check] = []
}
