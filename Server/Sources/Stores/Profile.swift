internal import Foundation
public import Storage
public import TollgateAPI
public import TollgateCore

/// A customer as kept: what the app's backend said, and the names that stores know them by.
public struct Profile: Codable, Sendable {
    public var customer: API.Customer
    public var stripeCustomer: String?

    public init(customer: API.Customer, stripeCustomer: String? = nil) {
        self.customer = customer
        self.stripeCustomer = stripeCustomer
    }

    /// - Throws: a refusal 410 `customer_erased`.
    public init(_ stored: StoredProfile) throws {
        guard !stored.body.isEmpty else { throw Refusal.erased("id") }
        self = try APIJSON.decode(Profile.self, from: Data(stored.body))
    }
}

extension House {
    /// - Throws: refusals 404 `resource_missing`, 410 `customer_erased`.
    public func profile(of customer: Customer.ID) async throws -> Profile {
        guard let stored = try await records.profile(customer) else {
            throw Refusal.missing("customer", customer.rawValue)
        }
        return try Profile(stored)
    }
}

extension Refusal {
    /// 410: there was such a customer.
    public static func erased(_ param: String) -> Refusal {
        Refusal(
            410,
            .invalidRequestError,
            .customerErased,
            "This customer was erased.",
            param: param
        )
    }
}
