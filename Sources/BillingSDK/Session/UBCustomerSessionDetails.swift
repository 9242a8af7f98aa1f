import Foundation

/// A customer session, as the app's backend hands it out.
///
/// Decode the backend's answer with `dateDecodingStrategy = .secondsSince1970`.
public struct UBCustomerSessionDetails: Decodable, Hashable, Sendable {
    /// The bearer of calls for this customer, `cuss_secret_…`; never log it.
    public let clientSecret: String
    /// The end of the session.
    public let expiresAt: Date
    /// The customer's id.
    public let customer: String

    /// A session from its parts, for backends that answer in another shape.
    public init(clientSecret: String, expiresAt: Date, customer: String) {
        self.clientSecret = clientSecret
        self.expiresAt = expiresAt
        self.customer = customer
    }
}

extension UBCustomerSessionDetails: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the secret, which would otherwise reach logs.
    public var description: String {
        "UBCustomerSessionDetails(customer: \(customer), expiresAt: \(expiresAt))"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
}

extension UBCustomerSessionDetails: CustomReflectable {
    /// Without the secret, since `dump` and crash reporters use it.
    public var customMirror: Mirror {
        Mirror(self, children: ["customer": customer, "expiresAt": expiresAt])
    }
}
