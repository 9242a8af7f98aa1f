/// A signed-in customer's device presented this purchase.
public struct Claim: Hashable, Codable, Sendable {
    /// What the device says of the purchase.
    ///
    /// Only the first two claim it from nobody's hands or by policy; `observed` claims only what
    /// nobody owns (RULES §8).
    public enum Mode: String, Codable, Hashable, Sendable {
        case purchased, restored, observed
    }

    public var customer: Customer.ID
    public var mode: Mode

    public init(customer: Customer.ID, mode: Mode) {
        self.customer = customer
        self.mode = mode
    }
}

/// Staff decided whose purchase this is.
public struct Assignment: Hashable, Codable, Sendable {
    public var customer: Customer.ID

    public init(customer: Customer.ID) {
        self.customer = customer
    }
}

/// Staff or the app's backend granted an entitlement without a purchase.
public struct StaffGrant: Hashable, Codable, Sendable {
    public var customer: Customer.ID
    public var lookupKey: String
    public var since: Instant
    /// `nil`: for ever.
    public var until: Instant?

    public init(customer: Customer.ID, lookupKey: String, since: Instant, until: Instant?) {
        self.customer = customer
        self.lookupKey = lookupKey
        self.since = since
        self.until = until
    }
}

/// The app reported that a customer took a free subscription, or removed it.
///
/// A free subscription has no price and no expiry: it ends only when the app says so, and whoever
/// comes back has it again. The statement's clock is when it was reported.
public struct FreeSubscription: Hashable, Codable, Sendable {
    public var customer: Customer.ID
    /// The id of the catalog's product.
    public var product: String
    /// Whether the customer has it from now on.
    public var isOn: Bool

    public init(customer: Customer.ID, product: String, isOn: Bool) {
        self.customer = customer
        self.product = product
        self.isOn = isOn
    }
}

/// Staff corrected a customer's coins: gave some, or took some away.
///
/// A lot like any other, so it is posted once, and its reason is kept with it (RULES §6). A
/// correction may lead into debt; a spend never does.
public struct StaffCoins: Hashable, Codable, Sendable {
    public var customer: Customer.ID
    /// More than zero gives, less takes.
    public var amount: Int64

    public init(customer: Customer.ID, amount: Int64) {
        self.customer = customer
        self.amount = amount
    }

    /// The most that one correction may give or take.
    public static let largest: Int64 = 1_000_000_000
}
