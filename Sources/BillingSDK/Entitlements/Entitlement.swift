import Foundation

/// Something that the customer may use.
///
/// Two values are equal if they are the same entitlement; what is known about it beside that (``until``,
/// ``ground``, ``willRenew`` and so on) may differ.
public struct Entitlement: Codable, Hashable, Identifiable, Sendable {
    /// The id of this entitlement of this customer.
    public let id: String
    /// The feature's id in the catalog.
    public let feature: String
    /// The key that the app asks with.
    public let lookupKey: String
    /// The first instant without access, as far as is known now, by the server's clock; `nil` for ever, or
    /// where ``ground`` is `nil`.
    ///
    /// Of a plan that renews it moves with each renewal. Days of grace and the time that a late notice of
    /// a renewal is waited for are in it.
    public let until: Date?
    /// The reason for the access; `nil` if only the name is known.
    public let ground: EntitlementGround?
    /// The store of the purchase; `nil` if nothing was bought.
    public let store: PurchaseStore?
    /// The ``CustomerPurchase/id`` of the purchase behind it, which says the price and the date of the
    /// next charge; `nil` where it is not known, as of what the device evaluates itself.
    public let purchaseID: String?
    /// Whether it will be paid again by itself before access ends.
    ///
    /// `nil` where nothing ends, for what your staff gave, while a failed payment decides
    /// (``hasPaymentProblem``), and where it is not known: just after a purchase, or of an older server.
    public let willRenew: Bool?
    /// The offer by which the present period was bought, such as a free trial; `nil` at the full price.
    public let offer: CustomerPurchase.OfferKind?

    /// An entitlement from its parts, for previews and tests.
    public init(
        id: String,
        feature: String,
        lookupKey: String,
        until: Date?,
        ground: EntitlementGround?,
        store: PurchaseStore?,
        purchaseID: String?,
        willRenew: Bool? = nil,
        offer: CustomerPurchase.OfferKind? = nil
    ) {
        self.id = id
        self.feature = feature
        self.lookupKey = lookupKey
        self.until = until
        self.ground = ground
        self.store = store
        self.purchaseID = purchaseID
        self.willRenew = willRenew
        self.offer = offer
    }

    /// An entitlement whose purchase is not known.
    public init(
        id: String,
        feature: String,
        lookupKey: String,
        until: Date?,
        ground: EntitlementGround?,
        store: PurchaseStore?
    ) {
        self.init(
            id: id,
            feature: feature,
            lookupKey: lookupKey,
            until: until,
            ground: ground,
            store: store,
            purchaseID: nil
        )
    }

    /// An entitlement of which nothing but the names is known.
    public init(id: String, feature: String, lookupKey: String) {
        self.init(
            id: id,
            feature: feature,
            lookupKey: lookupKey,
            until: nil,
            ground: nil,
            store: nil
        )
    }

    /// `true` if a payment has failed and access goes on only for days of grace: tell the customer, and
    /// lead them to ``PurchaseStore/managementURL`` or the customer portal.
    public var hasPaymentProblem: Bool { ground == .grace }

    /// Returns `true` if both are the same entitlement.
    public static func == (one: Entitlement, other: Entitlement) -> Bool {
        one.id == other.id && one.feature == other.feature && one.lookupKey == other.lookupKey
    }

    /// Hashes what makes it the same entitlement.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(feature)
        hasher.combine(lookupKey)
    }
}

/// The reason for access; new grounds may come.
public struct EntitlementGround: RawRepresentable, Codable, Hashable, Sendable {
    /// The server's word.
    public let rawValue: String
    /// A ground by the server's word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A paid period covers the instant, a free trial too.
    public static let payment = Self(rawValue: "payment")
    /// The period is over and a renewal is due, whose notice is on its way.
    public static let renewal = Self(rawValue: "renewal")
    /// The store says that it is active beyond the periods that are known.
    public static let status = Self(rawValue: "status")
    /// A payment failed; the store still grants access.
    public static let grace = Self(rawValue: "grace")
    /// A family member bought it.
    public static let family = Self(rawValue: "family")
    /// Your staff gave it.
    public static let grant = Self(rawValue: "grant")
}

/// The store of a purchase; new stores may come.
public struct PurchaseStore: RawRepresentable, Codable, Hashable, Sendable {
    /// The server's word.
    public let rawValue: String
    /// A store by the server's word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// By the first word of a purchase's key; `nil` for what was not bought.
    init?(word: some StringProtocol) {
        guard word != "tollgate" else { return nil }
        self.init(rawValue: String(word))
    }

    /// The App Store.
    public static let appStore = Self(rawValue: "app_store")
    /// Google Play.
    public static let googlePlay = Self(rawValue: "google_play")
    /// Your own checkout pages.
    public static let stripe = Self(rawValue: "stripe")

    /// The store's own page where the customer mends a payment or ends a plan; `nil` where that is the
    /// customer portal (``BillingSDK/BillingSDK/getCustomerPortal()``).
    ///
    /// <https://developer.apple.com/documentation/storekit/handling-subscriptions-billing>,
    /// <https://developer.android.com/google/play/billing/subscriptions>
    public var managementURL: URL? { Self.managementPages[self].flatMap(URL.init(string:)) }

    private static let managementPages: [Self: String] = [
        .appStore: "https://apps.apple.com/account/subscriptions",
        .googlePlay: "https://play.google.com/store/account/subscriptions",
    ]
}
