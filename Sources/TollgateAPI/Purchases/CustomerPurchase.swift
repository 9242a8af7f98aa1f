import Foundation

extension API {
    /// The answer of `GET /v1/customers/{id}/purchases`.
    public struct CustomerPurchaseList: Hashable, Codable, Sendable {
        /// Those that give access first, each group in the order of the names.
        public var data: [CustomerPurchase]
        public var environment: Environment
        /// The instant for which this answer holds.
        public var at: Milliseconds

        public init(data: [CustomerPurchase], environment: Environment, at: Milliseconds) {
            self.data = data
            self.environment = environment
            self.at = at
        }
    }

    /// One purchase of a customer: every plan, whether it runs or has ended, and whatever
    /// else gives access.
    public struct CustomerPurchase: Hashable, Codable, Sendable, Identifiable {
        /// The key of the purchase, as entitlements name it.
        public var id: String
        /// Where it was bought: `app_store`, `google_play`, `stripe`; `tollgate` for what was not bought.
        public var store: String
        /// The product's id in the catalog; nil where the catalog does not know it, and for grants.
        public var product: String?
        public var name: String
        /// `plan`, `once` or `grant`.
        public var kind: String
        /// `active`, `payment_failed`, `paused`, `processing`, `starts_later` or `ended`.
        public var status: String
        /// The lookup keys of what it opens now, sorted.
        public var entitlements: [String]
        /// The first instant without access, as far as is known now; nil for ever, and where it opens
        /// nothing.
        public var until: Milliseconds?
        /// Whether it will be paid again by itself.
        public var willRenew: Bool
        /// The offer that the present period was bought by, while it gives access: `trial`,
        /// `introductory`, `promotional`, `offer_code`, `win_back`; nil at the full price.
        public var offer: String?
        /// Whether the last payment failed and can still be mended.
        public var paymentProblem: Bool
        /// The store's page where the plan and its payment are managed; nil: the customer portal.
        public var managementURL: String?
        /// The next charge; nil where none follows, or none is known of.
        public var nextCharge: NextCharge?
        /// Days, weeks, months or years between payments (`month`, `year`); nil if paid once.
        public var interval: String?
        /// How many intervals lie between payments.
        public var intervalCount: Int?

        public init(
            id: String,
            store: String,
            product: String?,
            name: String,
            kind: String,
            status: String,
            entitlements: [String] = [],
            until: Milliseconds? = nil,
            willRenew: Bool = false,
            offer: String? = nil,
            paymentProblem: Bool = false,
            managementURL: String? = nil,
            nextCharge: NextCharge? = nil,
            interval: String? = nil,
            intervalCount: Int? = nil
        ) {
            self.id = id
            self.store = store
            self.product = product
            self.name = name
            self.kind = kind
            self.status = status
            self.entitlements = entitlements
            self.until = until
            self.willRenew = willRenew
            self.offer = offer
            self.paymentProblem = paymentProblem
            self.managementURL = managementURL
            self.nextCharge = nextCharge
            self.interval = interval
            self.intervalCount = intervalCount
        }

        private enum CodingKeys: String, CodingKey {
            case id, store, product, name, kind, status, entitlements, until, offer, interval
            case willRenew = "will_renew"
            case paymentProblem = "payment_problem"
            case managementURL = "management_url"
            case nextCharge = "next_charge"
            case intervalCount = "interval_count"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(store, forKey: .store)
            try container.encode(product, forKey: .product)
            try container.encode(name, forKey: .name)
            try container.encode(kind, forKey: .kind)
            try container.encode(status, forKey: .status)
            try container.encode(entitlements, forKey: .entitlements)
            try container.encode(until, forKey: .until)
            try container.encode(willRenew, forKey: .willRenew)
            try container.encode(offer, forKey: .offer)
            try container.encode(paymentProblem, forKey: .paymentProblem)
            try container.encode(managementURL, forKey: .managementURL)
            try container.encode(nextCharge, forKey: .nextCharge)
            try container.encode(interval, forKey: .interval)
            try container.encode(intervalCount, forKey: .intervalCount)
        }
    }
}

extension API.CustomerPurchase {
    /// The next charge of a plan.
    public struct NextCharge: Hashable, Codable, Sendable {
        public var at: API.Milliseconds
        /// `nil` where only the store knows the amount.
        public var price: API.Offering.Price?
        /// Whether the plan ends unless the customer agrees to a new price in the store.
        public var awaitsConsent: Bool

        public init(at: API.Milliseconds, price: API.Offering.Price?, awaitsConsent: Bool) {
            self.at = at
            self.price = price
            self.awaitsConsent = awaitsConsent
        }

        private enum CodingKeys: String, CodingKey {
            case at, price
            case awaitsConsent = "awaits_consent"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(at, forKey: .at)
            try container.encode(price, forKey: .price)
            try container.encode(awaitsConsent, forKey: .awaitsConsent)
        }
    }
}
