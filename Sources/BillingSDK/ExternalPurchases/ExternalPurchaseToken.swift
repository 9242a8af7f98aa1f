import Foundation
internal import TollgateAPI

/// A token that Apple gives for purchases outside the App Store.
///
/// Report each one to Apple from your server, also one without a sale, by its ``externalPurchaseID``:
/// <https://developer.apple.com/documentation/externalpurchaseserverapi>. Tollgate's server does not do so
/// yet.
public struct ExternalPurchaseToken: Hashable, Sendable {
    /// StoreKit's text: JSON in Base64URL.
    public let value: String
    /// The id to report; `nil` where the text cannot be read.
    ///
    /// In Apple's sandbox it begins with `SANDBOX`.
    public let externalPurchaseID: String?
    /// The kind of purchase that it is for; `nil` where Apple names none.
    public let kind: Kind?
    /// The time at which Apple made it.
    public let createdAt: Date?
    /// The end; `nil` if Apple names none.
    public let expiresAt: Date?

    /// A token as StoreKit gave it.
    ///
    /// The parts are documented in
    /// <https://developer.apple.com/documentation/storekit/receiving-and-decoding-external-purchase-tokens>.
    public init(value: String) {
        self.value = value
        let parts = Base64URL.decode(value.prefix { $0 != "=" }).flatMap {
            try? JSONDecoder().decode(Parts.self, from: $0)
        }
        externalPurchaseID = parts?.externalPurchaseId
        kind = parts?.tokenType.map { Kind(rawValue: $0) }
        createdAt = parts?.tokenCreationDate.map { Date(milliseconds: $0) }
        expiresAt = parts?.tokenExpirationDate.map { Date(milliseconds: $0) }
    }

    /// A kind of purchase that tokens are for.
    ///
    /// Apple may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// Apple's word.
        public let rawValue: String
        /// A kind by Apple's word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// European Union: a customer who is new to the app.
        public static let acquisition = Self(rawValue: "ACQUISITION")
        /// European Union: a customer who has installed or updated the app.
        public static let services = Self(rawValue: "SERVICES")
        /// Japan, from iOS 26.4 on: paid within the app.
        public static let inApp = Self(rawValue: "IN_APP")
        /// Japan, from iOS 26.4 on: paid on your website.
        public static let linkOut = Self(rawValue: "LINK_OUT")
    }

    /// Apple's own names.
    private struct Parts: Decodable {
        var externalPurchaseId: String?
        var tokenType: String?
        var tokenCreationDate: Int64?
        var tokenExpirationDate: Int64?
    }
}

extension ExternalPurchaseToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the token itself, which would otherwise reach logs.
    public var description: String {
        "ExternalPurchaseToken(kind: \(kind?.rawValue ?? "none"))"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
}

extension ExternalPurchaseToken: CustomReflectable {
    /// Without the token itself, since `dump` and crash reporters use it.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind?.rawValue as Any]) }
}

/// The outcome of leading a customer to a checkout.
public enum ExternalCheckout: Hashable, Sendable {
    /// Apple's notice was shown, the customer went on, and the page is open.
    case opened(URL)
    /// The customer turned back at Apple's notice.
    case cancelled
    /// Apple does not allow it here and now; sell in the App Store.
    case notEligible
}
