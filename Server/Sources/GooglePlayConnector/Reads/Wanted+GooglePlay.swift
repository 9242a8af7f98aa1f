public import TollgateCore

extension Wanted.Kind {
    /// An order of Google Play.
    public static let googlePlayOrder = Self(rawValue: "google_play_order")
    /// The list of voided purchases of an app in Google Play; the object is its package name.
    public static let googlePlayVoids = Self(rawValue: "google_play_voids")
    // What has to be done in Google Play by a time; all that an act needs stands in its object.
    /// A purchase to acknowledge.
    public static let googlePlayAcknowledgement = Self(rawValue: "google_play_acknowledgement")
    /// A one-time product to consume, after what it gives was credited.
    public static let googlePlayConsumption = Self(rawValue: "google_play_consumption")
    /// A pending refund about which Google asks: the order, a space and the review's token.
    public static let googlePlayRefundReview = Self(rawValue: "google_play_refund_review")
}
