public import StripeSimulator

/// Somebody who is told what the stores tell and asked what customers may use: Tollgate, or any
/// other backend by its webhook.
public protocol ScenarioBackend: Sendable {
    /// Makes a customer known before the story begins.
    func begin(_ customer: ScenarioCustomer) async throws
    /// The customer's id at Stripe, if the backend makes its Stripe customers itself.
    func stripeCustomer(
        of customer: ScenarioCustomer,
        at stripe: StripeSimulator
    ) async throws -> String?
    /// A notification of the App Store's; says whether it was taken.
    func take(signedPayload: String) async -> Bool
    /// A webhook event of Stripe's; says whether it was taken.
    func take(event body: String, signature: String) async -> Bool
    /// The customer's device posts a transaction that StoreKit signed.
    func post(_ signedTransaction: String, by customer: ScenarioCustomer, mode: String) async throws
    /// The customer's device posts its legacy receipt, of which `verifyReceipt` says `answer`.
    func post(
        receipt: String,
        answered answer: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws
    /// Spends coins of the customer's; says whether there were enough, `nil`: nobody knows.
    func spend(_ amount: Int64, of customer: ScenarioCustomer, key: String) async throws -> Bool?
    /// Lets the backend ask the stores what their messages left open.
    func settle() async
    /// What the customer may use now, of `lookupKeys`.
    func answer(_ customer: ScenarioCustomer, lookupKeys: [String]) async throws -> ScenarioAnswer
}

extension ScenarioBackend {
    /// Does nothing: how an app speaks to its own backend is that backend's matter.
    public func post(
        receipt _: String,
        answered _: String,
        by _: ScenarioCustomer,
        mode _: String
    ) async throws {}

    /// Does nothing: so is what an app sells for coins.
    public func spend(_: Int64, of _: ScenarioCustomer, key _: String) async throws -> Bool? { nil }
}

/// A customer of a story as backends know them.
public struct ScenarioCustomer: Hashable, Sendable {
    /// As in the story.
    public var name: String
    /// A lower-case UUID: the `appAccountToken`, the `client_reference_id` at Stripe, and the
    /// `customer` of the question whether they are entitled.
    public var id: String
    /// Whether the App Store of the story is that of production.
    public var isProduction: Bool
}

/// What a backend says of a customer.
public struct ScenarioAnswer: Hashable, Sendable {
    public var has: Set<String>
    /// `nil`: the backend is not asked about coins.
    public var coins: Int64?
    /// What a second opinion from the stores' own words objects to.
    public var objections: [String] = []

    public init(has: Set<String>, coins: Int64?) {
        (self.has, self.coins) = (has, coins)
    }
}

/// A backend that takes everything and knows nothing, for recording what the stores say.
struct SilentBackend: ScenarioBackend {
    func begin(_: ScenarioCustomer) {}
    func stripeCustomer(of _: ScenarioCustomer, at _: StripeSimulator) -> String? { nil }
    func take(signedPayload _: String) -> Bool { true }
    func take(event _: String, signature _: String) -> Bool { true }
    func post(_: String, by _: ScenarioCustomer, mode _: String) {}
    func settle() {}
    func answer(_: ScenarioCustomer, lookupKeys: [String]) async throws -> ScenarioAnswer {
        ScenarioAnswer(has: [], coins: nil)
    }
}
