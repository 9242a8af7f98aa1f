internal import Stores
internal import Storage
public import TollgateAPI
internal import TollgateCore

/// Finds customers by id or `app_user_id`.
public struct CustomerDirectory: Sendable {
    let records: RecordStore

    /// The customer with this id or `app_user_id`.
    ///
    /// - Throws: a refusal `resource_missing`.
    public func customer(_ id: String, param: String = "id") async throws -> API.Customer {
        try await profile(id, param: param).customer
    }

    func profile(_ id: String, param: String = "id") async throws -> Profile {
        guard let stored = try await stored(id) else {
            throw Refusal.missing("customer", id, param: param)
        }
        return try Profile(stored)
    }

    /// The customer with this id or `app_user_id`, as kept.
    func stored(_ id: String) async throws -> StoredProfile? {
        // PostgreSQL has no text with NUL, so nobody is called that.
        guard !id.utf8.contains(0) else { return nil }
        if let known = try await records.profile(Customer.ID(id)) { return known }
        return try await stored(appUserID: id)
    }

    /// The customer with this `app_user_id`, as kept.
    func stored(appUserID id: String) async throws -> StoredProfile? {
        if let known = try await records.profile(alias: Holder(appUserID: id)) { return known }
        // Before there were two kinds, this was also the name of who had claimed a checkout.
        guard Holder.isClaimReference(id),
            let known = try await records.profile(alias: .reference(id)), !known.body.isEmpty,
            try Profile(known).customer.appUserID == id
        else { return nil }
        return known
    }
}
