public import Storage
public import TollgateAPI
internal import TollgateCore

/// Finds customers by id or `app_user_id`.
public struct CustomerDirectory: Sendable {
    let records: RecordStore

    public init(records: RecordStore) {
        self.records = records
    }

    /// The customer with this id or `app_user_id`.
    ///
    /// - Throws: a refusal `resource_missing`.
    public func customer(_ id: String, param: String = "id") async throws -> API.Customer {
        try await profile(id, param: param).customer
    }

    /// The same with the names that stores know them by.
    public func profile(_ id: String, param: String = "id") async throws -> Profile {
        guard let stored = try await stored(id) else {
            throw Refusal.missing("customer", id, param: param)
        }
        return try Profile(stored)
    }

    /// The customer with this id or `app_user_id`, as kept.
    public func stored(_ name: String) async throws -> StoredProfile? {
        guard Self.mayBeName(name) else { return nil }
        let id = Customer.ID(name)
        if let known = try await records.profile(id, orAlias: Holder(appUserID: name)) {
            return known
        }
        return try await stored(claimReference: name)
    }

    /// The same without suspension; `nil` also where the database cannot do that, or where it takes
    /// further reads to find out.
    public func storedAtOnce(_ name: String) throws -> StoredProfile? {
        guard Self.mayBeName(name) else { return nil }
        return try records.profileAtOnce(Customer.ID(name), orAlias: Holder(appUserID: name))
    }

    /// The customer with this `app_user_id`, as kept.
    public func stored(appUserID id: String) async throws -> StoredProfile? {
        if let known = try await records.profile(alias: Holder(appUserID: id)) { return known }
        return try await stored(claimReference: id)
    }

    /// Before there were two kinds, an `app_user_id` of this form was also the name of who had claimed
    /// a checkout.
    private func stored(claimReference id: String) async throws -> StoredProfile? {
        guard Holder.isClaimReference(id),
            let known = try await records.profile(alias: .reference(id)), !known.body.isEmpty,
            try Profile(known).customer.appUserID == id
        else { return nil }
        return known
    }

    /// PostgreSQL has no text with NUL, so nobody is called that.
    private static func mayBeName(_ text: String) -> Bool { !text.utf8.contains(0) }
}

extension StoreContext {
    public var directory: CustomerDirectory { CustomerDirectory(records: records) }
}
