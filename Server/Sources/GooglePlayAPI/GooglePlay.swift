/// Google Play's contract in Google's words: the objects of the Play Developer API v3, real-time
/// developer notifications, and the calls that a server makes.
///
/// Names are those of the discovery document `androidpublisher` v3. Times are UNIX milliseconds.
public enum GooglePlay {
    /// The scope of the Play Developer API.
    public static let publisherScope = "https://www.googleapis.com/auth/androidpublisher"
    /// The scope in which Pub/Sub subscriptions are read.
    public static let pubSubScope = "https://www.googleapis.com/auth/pubsub"
    /// The scope in which the bucket of reports is read.
    public static let storageScope = "https://www.googleapis.com/auth/devstorage.read_only"

    /// A word from one of Google's lists, which grow.
    ///
    /// An unknown word is kept as it came.
    public protocol OpenEnum: RawRepresentable, Hashable, Sendable, CustomStringConvertible
    where RawValue == String {
        init(rawValue: String)
    }

    /// An object's field that is missing or has the wrong type.
    public struct DecodingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The object: `SubscriptionPurchaseV2.lineItems`.
        public var object: String
        /// The field; empty where the object itself is meant.
        public var field: String
        /// The form that was expected: `a string`.
        public var expected: String

        public var description: String {
            field.isEmpty
                ? "\(object) is not \(expected)" : "\(object): \(field) is not \(expected)"
        }
    }
}

extension GooglePlay.OpenEnum {
    public var description: String { rawValue }
}
