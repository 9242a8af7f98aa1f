import Foundation

/// One purchase of a customer: each plan, running or ended, and each other purchase that
/// gives access, from all stores.
public struct CustomerPurchase: Hashable, Sendable, Identifiable {
    /// The key of the purchase.
    public let id: String
    /// The store of the purchase; `nil` if nothing was bought.
    public let store: PurchaseStore?
    /// The product's id in the catalog; `nil` where the catalog does not know it, and for grants.
    public let productID: String?
    /// The name that people read.
    public let name: String
    /// Whether it is a plan, something bought once, or a gift.
    public let kind: Kind
    /// The state.
    public let status: Status
    /// The lookup keys of what it opens now; empty: it gives no access.
    public let lookupKeys: [String]
    /// The first instant without access, as far as is known now; `nil` for ever, and where it opens
    /// nothing.
    public let until: Date?
    /// `true` if it will be paid again by itself.
    public let willRenew: Bool
    /// The offer of the present period, while it gives access; `nil` at the full price.
    public let offer: OfferKind?
    /// `true` if the last payment failed and can still be mended: lead the customer to ``managementURL``, or
    /// to the customer portal.
    public let hasPaymentProblem: Bool
    /// The store's page where the plan and its payment are managed; `nil`: the customer portal
    /// (``BillingSDK/BillingSDK/getCustomerPortal()``).
    public let managementURL: URL?
    /// The next charge; `nil` where none follows, or none is known of.
    public let nextCharge: NextCharge?
    /// `month`, `year` and so on between payments; nil if it is paid once.
    public let interval: String?
    /// The number of intervals between payments: 3 with `month` is a quarter; `nil` is 1.
    public let intervalCount: Int?

    /// A purchase from its parts, for previews and tests.
    public init(
        id: String,
        store: PurchaseStore?,
        productID: String?,
        name: String,
        kind: Kind,
        status: Status = .active,
        lookupKeys: [String] = [],
        until: Date? = nil,
        willRenew: Bool = false,
        offer: OfferKind? = nil,
        hasPaymentProblem: Bool = false,
        managementURL: URL? = nil,
        nextCharge: NextCharge? = nil,
        interval: String? = nil,
        intervalCount: Int? = nil
    ) {
        self.id = id
        self.store = store
        self.productID = productID
        self.name = name
        self.kind = kind
        self.status = status
        self.lookupKeys = lookupKeys
        self.until = until
        self.willRenew = willRenew
        self.offer = offer
        self.hasPaymentProblem = hasPaymentProblem
        self.managementURL = managementURL
        self.nextCharge = nextCharge
        self.interval = interval
        self.intervalCount = intervalCount
    }

    /// `true` if it gives access now.
    public var isActive: Bool { !lookupKeys.isEmpty }
}

extension CustomerPurchase {
    /// The kind of a purchase; new kinds may come.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The server's word.
        public let rawValue: String
        /// A kind by the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A plan that is paid again and again.
        public static let plan = Self(rawValue: "plan")
        /// Bought once.
        public static let once = Self(rawValue: "once")
        /// Your staff gave it.
        public static let grant = Self(rawValue: "grant")
    }

    /// The state of a purchase; new states may come.
    public struct Status: RawRepresentable, Hashable, Sendable {
        /// The server's word.
        public let rawValue: String
        /// A status by the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It gives access, and nothing is wrong.
        public static let active = Self(rawValue: "active")
        /// The last payment failed; it may still give access.
        public static let paymentFailed = Self(rawValue: "payment_failed")
        /// Paused in the store.
        public static let paused = Self(rawValue: "paused")
        /// The payment is under way.
        public static let processing = Self(rawValue: "processing")
        /// Paid, and it begins later.
        public static let startsLater = Self(rawValue: "starts_later")
        /// Over.
        public static let ended = Self(rawValue: "ended")
    }

    /// The offer of a period; new ones may come.
    public struct OfferKind: RawRepresentable, Codable, Hashable, Sendable {
        /// The server's word.
        public let rawValue: String
        /// An offer by the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A time for nothing.
        public static let trial = Self(rawValue: "trial")
        /// A reduced price for new subscribers.
        public static let introductory = Self(rawValue: "introductory")
        /// For current and former subscribers, by your signature.
        public static let promotional = Self(rawValue: "promotional")
        /// By an offer code.
        public static let offerCode = Self(rawValue: "offer_code")
        /// For those who had left.
        public static let winBack = Self(rawValue: "win_back")
    }

    /// The next charge of a plan.
    public struct NextCharge: Hashable, Sendable {
        /// The time of the charge, by the server's clock.
        public let date: Date
        /// The price; `nil` if only the store knows it.
        public let price: Money?
        /// `true` if the plan ends unless the customer agrees to a new price in the store.
        public let awaitsConsent: Bool

        /// A charge from its parts, for previews and tests.
        public init(date: Date, price: Money?, awaitsConsent: Bool = false) {
            self.date = date
            self.price = price
            self.awaitsConsent = awaitsConsent
        }
    }
}

extension BillingSDK {
    /// The purchases of the customer, from all stores, always from the server.
    ///
    /// Those that give access come first. For access ask ``hasEntitlement(lookupKey:forceRefresh:)``.
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in;
    ///   ``BillingSDKError/notPermitted(code:message:)`` where the session was made without entitlements.
    public func getPurchases() async throws -> [CustomerPurchase] { try await client.purchases() }
}

/// Another name for ``CustomerPurchase``, for apps that have a type of that name.
public typealias UBCustomerPurchase = CustomerPurchase
