internal import Foundation
public import Storage
public import TollgateAPI
public import TollgateCore

/// A customer as kept: what the app's backend said, and the names that stores know them by.
public struct Profile: Codable, Sendable {
    public var customer: API.Customer
    /// The stores' own ids of the customer, where a store has one.
    public var storeCustomers: [Store: String] = [:]

    public init(customer: API.Customer) {
        self.customer = customer
    }

    /// - Throws: a refusal 410 `customer_erased`.
    public init(_ stored: StoredProfile) throws {
        guard !stored.body.isEmpty else { throw Refusal.erased("id") }
        self = try APIJSON.decode(Profile.self, from: Data(stored.body))
    }

    /// Whether a text may be somebody's address: a line break would begin another header of a message.
    public static func isEmail(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
    }
}

extension Profile {
    /// The field of the id at a store: `stripeCustomer`.
    private static func key(_ store: Store) -> NameKey { NameKey("\(store.rawValue)Customer") }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: NameKey.self)
        self.init(customer: try values.decode(API.Customer.self, forKey: NameKey("customer")))
        for store in Store.allCases {
            storeCustomers[store] = try values.decodeIfPresent(String.self, forKey: Self.key(store))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: NameKey.self)
        try values.encode(customer, forKey: NameKey("customer"))
        for (store, id) in storeCustomers { try values.encode(id, forKey: Self.key(store)) }
    }
}

extension RecordStore {
    /// Registers a profile under all its names.
    ///
    /// - Parameters:
    ///   - more: names that the profile itself does not hold.
    ///   - now: when it is stated.
    @discardableResult
    public func register(
        _ profile: Profile,
        also more: [Holder] = [],
        dedupeKey: RowKey,
        at now: Instant
    ) async throws -> JournalOutcome {
        let id = Customer.ID(profile.customer.id)
        var aliases: [Holder] = [
            Holder(appUserID: profile.customer.appUserID), .reference(profile.customer.id),
            .token(profile.customer.appAccountToken),
        ]
        aliases += Store.allCases.compactMap { store in
            profile.storeCustomers[store].flatMap { Holder.storeCustomer($0, of: store) }
        }
        aliases += more
        let registration = Registration(
            customer: id,
            aliases: aliases,
            profile: Array(try APIJSON.encode(profile)),
            email: profile.customer.email
        )
        return try await submit(
            JournalItem(
                dedupeKey: dedupeKey,
                subject: RecordStore.subject(of: id),
                kind: .command,
                stated: now,
                content: .register(registration)
            )
        )
    }
}

extension StoreContext {
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
        Refusal(410, .customerErased, "This customer was erased.", param: param)
    }
}
