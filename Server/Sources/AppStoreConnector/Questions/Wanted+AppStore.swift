public import TollgateCore

extension Wanted.Kind {
    /// A CONSUMPTION_REQUEST to be answered: not what we lack but what the store does.
    public static let consumption = Self(rawValue: "consumption")
    /// The token of the customer who restored a purchase is to be set with the App Store: the object
    /// is the original transaction's id and a hash of the token, apart by a space (RULES §8).
    public static let appAccountToken = Self(rawValue: "app_account_token")
}
