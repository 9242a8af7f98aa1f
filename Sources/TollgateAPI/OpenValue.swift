import Foundation

/// A word of the API whose set may grow: an unknown one is kept as it came, never a decoding error.
public protocol OpenValue: RawRepresentable, Hashable, Codable, Sendable,
    ExpressibleByStringLiteral, CustomStringConvertible
where RawValue == String {
    init(rawValue: String)
}

extension OpenValue {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
    public var description: String { rawValue }
}

extension API {
    /// The store's world that a record belongs to; the two never mix.
    public struct Environment: OpenValue {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let production = Self(rawValue: "production")
        public static let sandbox = Self(rawValue: "sandbox")
    }

    /// Who took the money.
    public struct Store: OpenValue {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let appStore = Self(rawValue: "app_store")
        public static let stripe = Self(rawValue: "stripe")
        public static let googlePlay = Self(rawValue: "google_play")
        /// Tollgate's own statements: grants, spends, assignments by staff.
        public static let tollgate = Self(rawValue: "tollgate")
    }

    /// Why an entitlement is active.
    public struct Ground: OpenValue {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A paid period covers the instant.
        public static let payment = Self(rawValue: "payment")
        /// The period is over, a renewal is announced, its notice is not here yet.
        public static let renewal = Self(rawValue: "renewal")
        /// The store's status says active beyond the periods that we know.
        public static let status = Self(rawValue: "status")
        /// Payment failed; the store still grants access.
        public static let grace = Self(rawValue: "grace")
        /// Shared by a family member's purchase.
        public static let family = Self(rawValue: "family")
        /// Given by staff, not bought.
        public static let grant = Self(rawValue: "grant")
    }
}
