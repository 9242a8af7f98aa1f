internal import Foundation
public import Storage
internal import Stores
internal import TollgateAPI

/// The filters of pages that members of staff keep under names of their own.
public struct SavedViews: Sendable {
    /// The most that one person may keep.
    public static let limit: Int64 = 100
    /// The most characters of a name.
    public static let longestName = 60
    /// The most bytes of an address.
    static let longestAddress = 2000

    let records: StaffStore

    /// What somebody keeps of a page, by name.
    public func of(_ member: StaffMember, page: String) async throws -> [StoredView] {
        try await records.views(of: member.name, page: page)
    }

    /// Keeps a view, in place of one of the same page and name.
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 409 `too_many_views`.
    public func keep(_ view: StoredView, of member: StaffMember) async throws {
        let name = view.name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...Self.longestName).contains(name.count) else {
            throw Refusal.invalid(
                "name",
                "A view needs a name of 1 to \(Self.longestName) characters."
            )
        }
        guard view.page.utf8.count + view.query.utf8.count <= Self.longestAddress else {
            throw Refusal.invalid("query", "The filters of this page are too long to be kept.")
        }
        let view = StoredView(page: view.page, name: name, query: view.query)
        guard try await records.keep(view, of: member.name, limit: Self.limit) else {
            throw Refusal.conflict(
                "too_many_views",
                "You keep \(Self.limit) views already. Remove one first."
            )
        }
    }

    /// Drops a view; one that is not there is gone already.
    public func remove(_ name: String, page: String, of member: StaffMember) async throws {
        try await records.removeView(name, page: page, of: member.name)
    }
}
