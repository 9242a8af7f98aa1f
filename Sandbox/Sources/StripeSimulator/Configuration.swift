import Foundation
public import Logging

extension StripeSimulator {
    /// How a simulator is set up, and what its account holds from the start.
    public struct Configuration: Sendable {
        /// The key that API requests must carry.
        public var secretKey = "sk_test_sandbox"
        /// From which all ids are drawn.
        public var seed: UInt64 = 1
        /// The account's version, for requests and webhook endpoints that name none.
        public var apiVersion = "2026-09-30.endive"
        public var webhookEndpoints: [WebhookEndpoint] = []
        public var products: [Product] = []
        /// Whether the customer portal's settings have been saved; without, portal sessions are
        /// refused.
        ///
        /// Saved settings let customers cancel and switch between a product's prices.
        public var hasPortalConfiguration = false
        /// Behaviour where the documentation is silent.
        public var policy = Policy()
        /// The file that keeps the state; `nil` keeps it in memory only.
        public var statePath: String?
        /// What links start with if not with the address that is listened on.
        public var publicURL: String?
        /// How long Checkout holds a payer back while endpoints have not taken
        /// `checkout.session.completed`.
        public var redirectWait: Duration = .seconds(10)
        /// How long an endpoint may take to answer.
        public var deliveryTimeout: Duration = .seconds(10)
        /// Carries a signed event to an endpoint and says whether it was taken; `nil`: over HTTP.
        public var deliver: Deliver?
        /// Waits for some real time.
        public var pause: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
        /// Real time that never steps back, to measure how long something took.
        public var instant: @Sendable () -> ContinuousClock.Instant = { .now }
        /// Real time in UNIX seconds, for signatures.
        public var wall: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
        /// Told the whole story so far after each thing that is done.
        public var onDeed: (@Sendable (Story) -> Void)?
        public var logger = Logger(label: "stripe-simulator") { _ in SwiftLogNoOpLogHandler() }

        /// The body, the endpoint's address, the header `Stripe-Signature`.
        public typealias Deliver =
            @Sendable (_ body: String, _ url: String, _ signature: String) async -> Bool

        public init() {}
    }

    /// An endpoint that exists from the start.
    public struct WebhookEndpoint: Hashable, Sendable {
        public var url: String
        /// The whole signing secret, `whsec_` included.
        public var secret: String
        /// Types of events, or "*".
        public var enabledEvents: [String]
        /// The version its events have; `nil` for the account's.
        public var apiVersion: String?

        public init(
            url: String,
            secret: String,
            enabledEvents: [String] = ["*"],
            apiVersion: String? = nil
        ) {
            self.url = url
            self.secret = secret
            self.enabledEvents = enabledEvents
            self.apiVersion = apiVersion
        }
    }

    /// A product that exists from the start.
    public struct Product: Hashable, Sendable {
        public var id: String
        public var name: String
        public var description: String?
        /// Lookup keys of the features it carries.
        public var features: [String]
        public var prices: [Price]

        public init(
            id: String,
            name: String,
            description: String? = nil,
            features: [String] = [],
            prices: [Price]
        ) {
            self.id = id
            self.name = name
            self.description = description
            self.features = features
            self.prices = prices
        }
    }

    /// A price that exists from the start.
    public struct Price: Hashable, Sendable {
        public var id: String
        /// Minor units.
        public var unitAmount: Int
        /// Three letters, lower case.
        public var currency: String
        /// `day`, `week`, `month` or `year`; `nil` for a one-time price.
        public var interval: String?
        public var intervalCount: Int
        public var lookupKey: String?

        public init(
            id: String,
            unitAmount: Int,
            currency: String = "usd",
            interval: String? = nil,
            intervalCount: Int = 1,
            lookupKey: String? = nil
        ) {
            self.id = id
            self.unitAmount = unitAmount
            self.currency = currency
            self.interval = interval
            self.intervalCount = intervalCount
            self.lookupKey = lookupKey
        }
    }
}
