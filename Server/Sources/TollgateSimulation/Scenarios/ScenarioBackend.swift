public import GooglePlaySimulator
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
    /// From now on Google Play's API answers for `play`.
    ///
    /// - Parameter read: told each purchase that was read there, once the answer is known.
    func connect(
        _ play: SimulatedGooglePlay,
        read: @escaping @Sendable (GooglePlayReading) async -> Void
    ) async
    /// The body of a push of Google Play's; says whether it was taken.
    func take(hint body: [UInt8]) async -> Bool
    /// The body of a push with the header that proves whose it is; says whether it was taken, `nil`:
    /// nobody knows.
    func take(push body: [UInt8], authorization: String) async -> Bool?
    /// The customer's device posts a purchase token.
    func post(_ purchase: GooglePlayPosting, by customer: ScenarioCustomer) async throws
    /// Spends coins of the customer's; says whether there were enough, `nil`: nobody knows.
    func spend(_ amount: Int64, of customer: ScenarioCustomer, key: String) async throws -> Bool?
    /// Lets the backend ask the stores what their messages left open.
    func settle() async
    /// What the customer may use now, of `lookupKeys`.
    func answer(_ customer: ScenarioCustomer, lookupKeys: [String]) async throws -> ScenarioAnswer
    /// What the customer could use at an earlier instant, of `lookupKeys`; `nil`: nobody knows.
    func answer(
        _ customer: ScenarioCustomer,
        about instant: Int64,
        lookupKeys: [String]
    ) async throws -> ScenarioAnswer?
}

extension ScenarioBackend {
    /// Does nothing: how an app speaks to its own backend is that backend's matter.
    public func post(
        receipt _: String,
        answered _: String,
        by _: ScenarioCustomer,
        mode _: String
    ) async throws {}

    /// Does nothing: whoever is told nothing of Google Play's reads nothing there.
    public func connect(
        _: SimulatedGooglePlay,
        read _: @escaping @Sendable (GooglePlayReading) async -> Void
    ) async {}

    /// Takes it.
    public func take(hint _: [UInt8]) async -> Bool { true }

    /// Does not judge it.
    public func take(push _: [UInt8], authorization _: String) async -> Bool? { nil }

    /// Does nothing: how an app speaks to its own backend is that backend's matter.
    public func post(_: GooglePlayPosting, by _: ScenarioCustomer) async throws {}

    /// Does not answer: a backend is asked about the present.
    public func answer(
        _: ScenarioCustomer,
        about _: Int64,
        lookupKeys _: [String]
    ) async throws -> ScenarioAnswer? { nil }

    /// Does nothing: so is what an app sells for coins.
    public func spend(_: Int64, of _: ScenarioCustomer, key _: String) async throws -> Bool? { nil }
}

/// What a backend has read from Google Play's API.
public struct GooglePlayReading: Hashable, Sendable {
    /// Whether it is a subscription's; `nil`: it is an order or a page of voided purchases.
    public var isSubscription: Bool?
    /// The purchase token, or the order's id; empty for a page.
    public var token: String
    /// The status and the body of the answer.
    public var answer: String
}

/// What an app posts to its own backend about a purchase in Google Play.
public struct GooglePlayPosting: Hashable, Sendable {
    public var token: String
    public var isSubscription: Bool
    /// `purchased`, `restored`, `observed`.
    public var mode: String
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
    /// Whether stores of the story sell in the other environment too: Stripe's is the sandbox, Google
    /// Play's is production.
    var isInBothEnvironments = false
}

/// What a backend says of a customer.
public struct ScenarioAnswer: Hashable, Sendable {
    public var has: Set<String>
    /// `nil`: the backend is not asked about coins.
    public var coins: Int64?
    /// What a second opinion from the stores' own words objects to.
    public var objections: [String] = []
    /// How many entitlements it says a yes or a no of, and of how many it leaves it open: of those
    /// that something which was bought is about.
    public var verdicts = Verdicts()

    /// Counts of verdicts.
    public struct Verdicts: Hashable, Sendable {
        public var yes = 0
        public var no = 0
        public var open = 0

        static func += (left: inout Self, right: Self) {
            left.yes += right.yes
            left.no += right.no
            left.open += right.open
        }
    }

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
