extension Catalog {
    /// One thing that can be bought, under its ids in all stores.
    public struct Product: Codable, Hashable, Sendable {
        /// Our own id; never changes.
        public var id: String
        /// What people read.
        public var name: String
        /// What buying it means.
        public var kind: Kind
        /// The id in App Store Connect, in every app; nil if it is not sold there, or if apps have
        /// ids of their own for it.
        public var appStoreProductID: String?
        /// The ids in App Store Connect by our own id of the app, where apps have different ones.
        ///
        /// `nil`, not empty: catalogs of one app keep their bytes.
        public var appStoreProductIDs: [String: String]?
        /// The prices in Stripe under which it is sold; several, because a price is never changed
        /// but replaced, and the old one keeps its subscribers.
        public var stripePriceIDs: [String]
        /// The id in Google Play; nil if it is not sold there.
        public var googlePlayProductID: String?
        /// The base plan of a subscription under which it is sold, the purchase option of anything
        /// else; nil: under any that no other product names.
        public var googlePlayBasePlanID: String?
        /// The lookup keys of the entitlements that it grants.
        public var entitlements: [String]
        /// The coins that one unit of it credits: per purchase, or per paid period of a plan.
        public var coins: Int64
        /// How long one purchase lasts where the store does not say (non-renewing products).
        ///
        /// For the other kinds it is what buttons and the sandbox show; the store's dates decide.
        public var duration: CalendarDuration?
        /// The subscription group: of its products a customer has at most one at a time.
        public var subscriptionGroup: String?
        /// The rank within its group, 1 being the highest, as in App Store Connect.
        public var level: Int?
        /// What it costs, for buttons and the sandbox.
        ///
        /// The stores' own prices decide.
        public var price: Price?
        /// What a checkout does when the customer already has it.
        public var whileActive: WhileActive
        /// Identifiers of the promotional offers of App Store Connect for which this server signs.
        public var promotionalOffers: [String]
        /// What the App Store is told when a customer asks it for a refund; nil says only what the
        /// ledger knows.
        public var consumption: Consumption?
        /// Whether it is no longer sold.
        ///
        /// A product with purchases is retired, never removed.
        public var isRetired: Bool

        public init(
            id: String,
            name: String,
            kind: Kind,
            appStoreProductID: String? = nil,
            appStoreProductIDs: [String: String]? = nil,
            stripePriceIDs: [String] = [],
            googlePlayProductID: String? = nil,
            googlePlayBasePlanID: String? = nil,
            entitlements: [String] = [],
            coins: Int64 = 0,
            duration: CalendarDuration? = nil,
            subscriptionGroup: String? = nil,
            level: Int? = nil,
            price: Price? = nil,
            whileActive: WhileActive = .refuse,
            promotionalOffers: [String] = [],
            consumption: Consumption? = nil,
            isRetired: Bool = false
        ) {
            self.id = id
            self.name = name
            self.kind = kind
            self.appStoreProductID = appStoreProductID
            self.appStoreProductIDs = appStoreProductIDs
            self.stripePriceIDs = stripePriceIDs
            self.googlePlayProductID = googlePlayProductID
            self.googlePlayBasePlanID = googlePlayBasePlanID
            self.entitlements = entitlements
            self.coins = coins
            self.duration = duration
            self.subscriptionGroup = subscriptionGroup
            self.level = level
            self.price = price
            self.whileActive = whileActive
            self.promotionalOffers = promotionalOffers
            self.consumption = consumption
            self.isRetired = isRetired
        }

        enum CodingKeys: String, CodingKey {
            case id, name, kind, entitlements, coins, duration, level, price, consumption
            case appStoreProductID = "app_store_product_id"
            case appStoreProductIDs = "app_store_product_ids"
            case stripePriceIDs = "stripe_price_ids"
            case googlePlayProductID = "google_play_product_id"
            case googlePlayBasePlanID = "google_play_base_plan_id"
            case subscriptionGroup = "subscription_group"
            case whileActive = "while_active"
            case promotionalOffers = "promotional_offers"
            case isRetired = "retired"
        }

        /// Reads a product; what is missing has its default.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                id: try values.decode(String.self, forKey: .id),
                name: try values.decode(String.self, forKey: .name),
                kind: try values.decode(Kind.self, forKey: .kind),
                appStoreProductID: try values.decodeIfPresent(forKey: .appStoreProductID),
                appStoreProductIDs: try values.decodeIfPresent(forKey: .appStoreProductIDs),
                stripePriceIDs: try values.decodeIfPresent(forKey: .stripePriceIDs) ?? [],
                googlePlayProductID: try values.decodeIfPresent(forKey: .googlePlayProductID),
                googlePlayBasePlanID: try values.decodeIfPresent(forKey: .googlePlayBasePlanID),
                entitlements: try values.decodeIfPresent(forKey: .entitlements) ?? [],
                coins: try values.decodeIfPresent(forKey: .coins) ?? 0,
                duration: try values.decodeIfPresent(forKey: .duration),
                subscriptionGroup: try values.decodeIfPresent(forKey: .subscriptionGroup),
                level: try values.decodeIfPresent(forKey: .level),
                price: try values.decodeIfPresent(forKey: .price),
                whileActive: try values.decodeIfPresent(forKey: .whileActive) ?? .refuse,
                promotionalOffers: try values.decodeIfPresent(forKey: .promotionalOffers) ?? [],
                consumption: try values.decodeIfPresent(forKey: .consumption),
                isRetired: try values.decodeIfPresent(forKey: .isRetired) ?? false
            )
        }
    }
}

extension Catalog.Product {
    /// What buying a product means: App Store Connect's types.
    public enum Kind: String, Codable, CaseIterable, Hashable, Sendable {
        /// Used up and bought again: packs of coins.
        case consumable
        /// Bought once, for ever.
        case nonConsumable = "non_consumable"
        /// A plan that renews until it is cancelled.
        case autoRenewable = "auto_renewable"
        /// Lasts for its `duration`, and is bought again by hand.
        case nonRenewing = "non_renewing"
        /// A plan without a price.
        case freeSubscription = "free_subscription"
    }

    /// What a checkout does when the customer already has the product.
    public enum WhileActive: String, Codable, CaseIterable, Hashable, Sendable {
        /// It is refused, so that nobody pays twice by accident.
        case refuse
        /// The new purchase starts when the present one ends.
        case extend
    }

    /// What we say to the App Store's CONSUMPTION_REQUEST beside what the ledger knows.
    public struct Consumption: Codable, Hashable, Sendable {
        /// What the team would prefer; the App Store decides.
        public enum RefundPreference: String, Codable, CaseIterable, Hashable, Sendable {
            case decline
            case grantFull = "grant_full"
            case grantProrated = "grant_prorated"
        }

        /// Nil states no preference.
        public var refundPreference: RefundPreference?
        /// Whether customers could try it before they bought it.
        public var sampleContentProvided: Bool

        public init(
            refundPreference: RefundPreference? = nil,
            sampleContentProvided: Bool = false
        ) {
            self.refundPreference = refundPreference
            self.sampleContentProvided = sampleContentProvided
        }

        enum CodingKeys: String, CodingKey {
            case refundPreference = "refund_preference"
            case sampleContentProvided = "sample_content_provided"
        }
    }

    /// An amount of money.
    public struct Price: Codable, Hashable, Sendable {
        /// In the currency's minor unit: 999 is 9.99 in `usd`, and 999 yen in `jpy`.
        public var amount: Int64
        /// ISO 4217 in lower case, as Stripe writes it.
        public var currency: String

        public init(amount: Int64, currency: String) {
            self.amount = amount
            self.currency = currency
        }
    }
}

extension Catalog {
    /// A button of the app that leads to Stripe Checkout for one product.
    public struct BuyButton: Codable, Hashable, Sendable {
        /// What the app passes to `getBuyButton(id:)`.
        public var id: String
        /// The id of the product that it sells.
        public var product: String
        /// What is written on it; nil leaves the words to the SDK.
        public var callToAction: String?
        /// How many units one press buys.
        public var quantity: Int

        public init(id: String, product: String, callToAction: String? = nil, quantity: Int = 1) {
            self.id = id
            self.product = product
            self.callToAction = callToAction
            self.quantity = quantity
        }

        enum CodingKeys: String, CodingKey {
            case id, product, quantity
            case callToAction = "call_to_action"
        }

        /// Reads a button; what is missing has its default.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                id: try values.decode(String.self, forKey: .id),
                product: try values.decode(String.self, forKey: .product),
                callToAction: try values.decodeIfPresent(forKey: .callToAction),
                quantity: try values.decodeIfPresent(forKey: .quantity) ?? 1
            )
        }
    }
}

extension Catalog {
    /// The product with our own id, if there is one.
    public func product(id: String) -> Product? {
        products.first { $0.id == id }
    }

    /// The product that is sold under this price of Stripe.
    public func product(stripePriceID: String) -> Product? {
        products.first { $0.stripePriceIDs.contains(stripePriceID) }
    }

    /// The buy button with this id.
    public func buyButton(id: String) -> BuyButton? {
        buyButtons.first { $0.id == id }
    }

    /// The entitlement with this lookup key.
    public func entitlement(lookupKey: String) -> Entitlement? {
        entitlements.first { $0.lookupKey == lookupKey }
    }
}
