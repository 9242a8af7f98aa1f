/// What a team sells: the products, what they open and credit, and the rules of the house that
/// apply to all of them.
///
/// The values of `catalog.yaml`.
///
/// The answer to "what may this customer use?" is a function of the facts and of this value
/// (`RULES.md` §7 says which version of it).
public struct Catalog: Codable, Hashable, Sendable {
    /// The apps, where there are several; the first is the one that callers mean who do not say which.
    ///
    /// Empty: one app, which the server's settings name.
    public var apps: [App] {
        get { listedApps ?? [] }
        set { listedApps = newValue.isEmpty ? nil : newValue }
    }
    /// `nil`, not empty: catalogs of one app keep their bytes.
    private var listedApps: [App]?
    /// What customers can be entitled to.
    ///
    /// An app asks for these by lookup key, never for products.
    public var entitlements: [Entitlement]
    /// What can be bought, in any store.
    public var products: [Product]
    /// Buttons of the app that lead to Stripe Checkout.
    public var buyButtons: [BuyButton]
    /// Products that an app shows together.
    public var offerings: [Offering] {
        get { listedOfferings ?? [] }
        set { listedOfferings = newValue.isEmpty ? nil : newValue }
    }
    /// `nil`, not empty: catalogs without offerings keep their bytes.
    private var listedOfferings: [Offering]?
    /// Places of the app that show one of several offerings.
    public var placements: [Placement] {
        get { listedPlacements ?? [] }
        set { listedPlacements = newValue.isEmpty ? nil : newValue }
    }
    /// `nil`, not empty: catalogs without placements keep their bytes.
    private var listedPlacements: [Placement]?
    /// How long access continues past the end of a period that should renew.
    public var renewalLeeway: RenewalLeeway
    /// How long access continues in Stripe's `past_due`, from the start of the unpaid period, in
    /// milliseconds.
    ///
    /// Stripe has no grace period of its own; `past_due` is it.
    public var pastDueGrace: Int64
    /// What a whole refund of a plan's present period, or its dispute, does to access in Stripe.
    public var refundedPlan: RefundedPlan
    /// Who holds a purchase that several customers present.
    public var ownership: Ownership
    /// Purchases before this instant credit no coins, since another system has credited them (RULES
    /// §6.8); `nil`: what an earlier version states stays.
    public var coinsSince: Instant?
    /// Where Stripe Checkout leads back to, and where it may be offered.
    public var checkout: Checkout
    /// What a customer must have accepted before a purchase that began outside the app is
    /// completed.
    public var gates: Gates

    /// A catalog; everything left out has the default that `catalog.yaml` has.
    public init(
        entitlements: [Entitlement] = [],
        products: [Product] = [],
        buyButtons: [BuyButton] = [],
        renewalLeeway: RenewalLeeway = RenewalLeeway(),
        pastDueGrace: Int64 = Catalog.defaultPastDueGrace,
        refundedPlan: RefundedPlan = .keep,
        ownership: Ownership = .keep,
        coinsSince: Instant? = nil,
        checkout: Checkout = Checkout(),
        gates: Gates = Gates(),
        apps: [App] = [],
        offerings: [Offering] = [],
        placements: [Placement] = []
    ) {
        self.entitlements = entitlements
        self.products = products
        self.buyButtons = buyButtons
        self.renewalLeeway = renewalLeeway
        self.pastDueGrace = pastDueGrace
        self.refundedPlan = refundedPlan
        self.ownership = ownership
        self.coinsSince = coinsSince
        self.checkout = checkout
        self.gates = gates
        self.apps = apps
        self.offerings = offerings
        self.placements = placements
    }

    /// Three days, in milliseconds.
    public static let defaultPastDueGrace: Int64 = 3 * 24 * 3_600_000

    enum CodingKeys: String, CodingKey {
        case entitlements, products, ownership, checkout, gates
        case listedApps = "apps"
        case listedOfferings = "offerings"
        case listedPlacements = "placements"
        case buyButtons = "buy_buttons"
        case renewalLeeway = "renewal_leeway"
        case pastDueGrace = "past_due_grace"
        case refundedPlan = "refunded_plan"
        case coinsSince = "coins_since"
    }

    /// Reads a catalog that was written by this or an earlier version: what is missing has its
    /// default, since adopted catalogs are kept for ever.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        entitlements = try values.decodeIfPresent(forKey: .entitlements) ?? entitlements
        products = try values.decodeIfPresent(forKey: .products) ?? products
        buyButtons = try values.decodeIfPresent(forKey: .buyButtons) ?? buyButtons
        renewalLeeway = try values.decodeIfPresent(forKey: .renewalLeeway) ?? renewalLeeway
        pastDueGrace = try values.decodeIfPresent(forKey: .pastDueGrace) ?? pastDueGrace
        refundedPlan = try values.decodeIfPresent(forKey: .refundedPlan) ?? refundedPlan
        ownership = try values.decodeIfPresent(forKey: .ownership) ?? ownership
        coinsSince = try values.decodeIfPresent(forKey: .coinsSince)
        checkout = try values.decodeIfPresent(forKey: .checkout) ?? checkout
        gates = try values.decodeIfPresent(forKey: .gates) ?? gates
        apps = try values.decodeIfPresent(forKey: .listedApps) ?? apps
        offerings = try values.decodeIfPresent(forKey: .listedOfferings) ?? offerings
        placements = try values.decodeIfPresent(forKey: .listedPlacements) ?? placements
    }
}

extension Catalog {
    /// Something a customer can be entitled to.
    public struct Entitlement: Codable, Hashable, Sendable {
        /// What the app asks for, at most 80 characters; never changes.
        public var lookupKey: String
        /// What people read.
        public var name: String

        public init(lookupKey: String, name: String) {
            self.lookupKey = lookupKey
            self.name = name
        }

        enum CodingKeys: String, CodingKey {
            case name
            case lookupKey = "lookup_key"
        }
    }

    /// How long access continues past the end of a paid period whose newest terms say that it
    /// renews (`RULES.md` §3), so that a late notice does not lock a payer out.
    ///
    /// In milliseconds.
    public struct RenewalLeeway: Codable, Hashable, Sendable {
        /// For App Store subscriptions; two hours if not said otherwise.
        public var appStore: Int64
        /// For Stripe subscriptions; a day if not said otherwise, since Stripe collects a renewal
        /// about an hour after the period rolled.
        public var stripe: Int64
        /// For subscriptions of Google Play; a day if not said otherwise, for which Google itself keeps
        /// a declined renewal silent.
        public var googlePlay: Int64 {
            get { listedGooglePlay ?? 24 * 3_600_000 }
            set { listedGooglePlay = newValue }
        }
        /// `nil`, not the default: older catalogs keep their bytes.
        private var listedGooglePlay: Int64?

        public init(
            appStore: Int64 = 2 * 3_600_000,
            stripe: Int64 = 24 * 3_600_000,
            googlePlay: Int64? = nil
        ) {
            self.appStore = appStore
            self.stripe = stripe
            listedGooglePlay = googlePlay
        }

        /// Of one store; none of what we grant ourselves, which nobody renews.
        public subscript(store: Store) -> Int64 {
            get {
                switch store {
                case .appStore: appStore
                case .stripe: stripe
                case .googlePlay: googlePlay
                case .tollgate: 0
                }
            }
            set {
                switch store {
                case .appStore: appStore = newValue
                case .stripe: stripe = newValue
                case .googlePlay: googlePlay = newValue
                case .tollgate: break
                }
            }
        }

        enum CodingKeys: String, CodingKey {
            case stripe
            case appStore = "app_store"
            case listedGooglePlay = "google_play"
        }
    }

    /// What becomes of access when the payment of a plan's present period is taken back in whole.
    ///
    /// Stripe itself leaves the subscription as it is.
    public enum RefundedPlan: String, Codable, CaseIterable, Hashable, Sendable {
        /// Access stays until the subscription ends.
        case keep
        /// Access ends with the refund; the next paid period gives it again.
        case end
    }

    /// Who holds a purchase that several customers present (`RULES.md` §8).
    public enum Ownership: String, Codable, CaseIterable, Hashable, Sendable {
        /// The account token of the purchase, else the earliest claim.
        case keep
        /// The latest restore, else the account token.
        case transfer
        /// Everybody who presented it.
        case share
    }

    /// Where Stripe Checkout leads back to, and in which storefronts it may be offered.
    public struct Checkout: Codable, Hashable, Sendable {
        /// The path of the universal link that opens the app after a payment.
        public var successPath: String
        /// The path of the universal link that opens the app when the customer turned back.
        public var cancelPath: String
        /// The App Store storefronts (ISO 3166-1 alpha-3, as StoreKit's `Storefront` gives them)
        /// whose customers may be sent to Checkout.
        public var storefronts: [String]

        public init(
            successPath: String = "/checkout_redirect/success",
            cancelPath: String = "/checkout_redirect/cancel",
            storefronts: [String] = ["USA"]
        ) {
            self.successPath = successPath
            self.cancelPath = cancelPath
            self.storefronts = storefronts
        }

        enum CodingKeys: String, CodingKey {
            case storefronts
            case successPath = "success_path"
            case cancelPath = "cancel_path"
        }
    }

    /// What a customer must have stated before a purchase that began outside the app is completed.
    ///
    /// A gate that is nil stands open.
    public struct Gates: Codable, Hashable, Sendable {
        /// The version of the terms of use that must be accepted.
        public var termsVersion: String?
        /// Where these terms can be read.
        public var termsURL: String?
        /// The version of the subscription terms, which count for subscriptions besides the others.
        public var subscriptionTermsVersion: String?
        /// Where these can be read.
        public var subscriptionTermsURL: String?
        /// The age in years that a customer must state to have reached.
        public var minimumAge: Int?
        /// Further ages in years that the app tells apart, ascending.
        public var ageTiers: [Int]?
        /// The age in years below which a parent or guardian must have agreed.
        public var parentalConsentBelow: Int?

        /// The ages that the age question asks about, ascending.
        ///
        /// Apple's sheet takes up to three, and ranges of two years at least.
        /// <https://developer.apple.com/documentation/declaredagerange/requesting-people-share-their-age-range-with-your-app>
        public var askedAges: [Int] {
            Set([minimumAge, parentalConsentBelow].compactMap(\.self) + (ageTiers ?? [])).sorted()
        }

        public init(
            termsVersion: String? = nil,
            termsURL: String? = nil,
            subscriptionTermsVersion: String? = nil,
            subscriptionTermsURL: String? = nil,
            minimumAge: Int? = nil,
            ageTiers: [Int]? = nil,
            parentalConsentBelow: Int? = nil
        ) {
            self.termsVersion = termsVersion
            self.termsURL = termsURL
            self.subscriptionTermsVersion = subscriptionTermsVersion
            self.subscriptionTermsURL = subscriptionTermsURL
            self.minimumAge = minimumAge
            self.ageTiers = ageTiers
            self.parentalConsentBelow = parentalConsentBelow
        }

        enum CodingKeys: String, CodingKey {
            case termsVersion = "terms_version"
            case termsURL = "terms_url"
            case subscriptionTermsVersion = "subscription_terms_version"
            case subscriptionTermsURL = "subscription_terms_url"
            case minimumAge = "minimum_age"
            case ageTiers = "age_tiers"
            case parentalConsentBelow = "parental_consent_below"
        }
    }
}

extension KeyedDecodingContainer {
    func decodeIfPresent<Value: Decodable>(forKey key: Key) throws -> Value? {
        try decodeIfPresent(Value.self, forKey: key)
    }
}
