public import TollgateCore

/// A story about customers and stores: what they do at which time, and what access must hold then.
///
/// Written as a file (docs/scenarios.md), played on the simulated stores, and asked of any backend.
public struct Scenario: Sendable {
    /// The file as it was named to the reader.
    public var file: String
    /// One sentence.
    public var title: String
    /// The documented cases that it is an example of, such as `REFUND_REVERSED`.
    public var covers: [String]
    /// The path of the catalog, as written: relative to the file.
    public var catalog: String
    public var customers: [Person]
    public var appStore: AppStoreSettings
    public var stripe: StripeSettings
    public var googlePlay = GooglePlaySettings()
    public var steps: [Step]

    /// Somebody who buys.
    public struct Person: Hashable, Sendable {
        public var name: String
        /// Accounts of one family share what can be shared.
        public var family: String?
        /// Whether the app passes an `appAccountToken` when this person buys.
        public var passesToken = true
        /// ISO 3166-1 alpha-3.
        public var storefront = "USA"
        /// The country of the Google account, ISO 3166-1 alpha-2.
        public var region = "US"
        /// Whether the Google account is a licence tester's.
        public var isTester = false
    }

    /// Something that happens, or is checked, at an instant.
    public struct Step: Sendable {
        /// In the file, from 1.
        public var line: Int
        /// UNIX milliseconds.
        public var at: Int64
        /// Whether the time is meant to the second or finer, so that only a backend with a clock
        /// of ours can be asked about it.
        public var isExact: Bool
        public var customer: String
        public var deed: Deed
    }

    /// What a step is about.
    public enum Deed: Sendable {
        case appStore(AppStoreAct)
        case stripe(StripeAct)
        case googlePlay(GooglePlayAct)
        case check(Expectation)
        case spend(Spending)
    }

    /// Coins that the app's backend spends for a customer.
    public struct Spending: Hashable, Sendable {
        public var amount: Int64
        /// Whether there are too few, so that nothing is spent.
        public var isRefused: Bool
    }

    /// What must hold for a customer.
    public struct Expectation: Hashable, Sendable {
        /// The lookup keys of exactly the entitlements that are active; `nil`: not asked.
        public var has: Set<String>?
        /// The balance of coins; `nil`: not asked.
        public var coins: Int64?
        /// The only environment that is asked; `nil`: all in which the story's stores sell.
        public var environment: StoreEnvironment?
        /// An earlier instant that is asked about; `nil`: the time of the step.
        public var past: Int64?
    }

    /// Whether a step speaks of the App Store.
    public var usesAppStore: Bool {
        steps.contains { if case .appStore = $0.deed { true } else { false } }
    }

    /// Whether a step speaks of Stripe.
    public var usesStripe: Bool {
        steps.contains { if case .stripe = $0.deed { true } else { false } }
    }

    /// Whether a step speaks of Google Play.
    public var usesGooglePlay: Bool {
        steps.contains { if case .googlePlay = $0.deed { true } else { false } }
    }

    /// Whether what a person buys is of production: Google Play sells licence testers alone for
    /// nothing.
    func isProduction(_ person: Person) -> Bool {
        usesAppStore || !usesGooglePlay ? appStore.isProduction : !person.isTester
    }

    /// Whether one store sells in the sandbox and another in production.
    var sellsInBothEnvironments: Bool {
        usesGooglePlay && (usesStripe || usesAppStore && !appStore.isProduction)
    }

    /// How many checks there are.
    public var checkCount: Int {
        steps.count { if case .check = $0.deed { true } else { false } }
    }

    /// Whether a device of the customer's speaks to the backend itself: an interface that each
    /// backend has of its own, so that only Tollgate can be asked.
    public var needsDevice: Bool {
        steps.contains { step in
            switch step.deed {
            case .appStore(.post), .appStore(.restore), .appStore(.postReceipt): true
            case .googlePlay(let act): ["post", "post_unknown", "push"].contains(act.name)
            default: false
            }
        }
    }
}
