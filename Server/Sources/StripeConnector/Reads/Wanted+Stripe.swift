public import TollgateCore

extension Wanted.Kind {
    /// A paid Stripe invoice of which a message showed only a part.
    public static let invoice = Self(rawValue: "invoice")
    /// What Stripe thinks a customer of its own may use.
    public static let entitlements = Self(rawValue: "entitlements")
}
