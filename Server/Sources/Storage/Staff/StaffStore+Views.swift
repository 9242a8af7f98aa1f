/// The filters of a page that somebody keeps under a name.
public struct StoredView: Hashable, Sendable {
    /// The path of a page of the dashboard.
    public var page: String
    public var name: String
    /// The query of its address, without `?`.
    public var query: String

    public init(page: String, name: String, query: String) {
        self.page = page
        self.name = name
        self.query = query
    }
}

extension StaffStore {
    /// The views that somebody keeps of a page, by name.
    public func views(of staff: String, page: String) async throws -> [StoredView] {
        try await driver.readNow(
            "SELECT name, query FROM staff_view WHERE staff = $1 AND page = $2",
            [.text(staff), .text(page)]
        ).map { StoredView(page: page, name: try $0.text(0), query: try $0.text(1)) }
            // Databases order text differently.
            .sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
    }

    /// Keeps a view, in place of one of the same page and name.
    ///
    /// - Returns: whether it was kept: nobody has more than `limit`.
    public func keep(_ view: StoredView, of staff: String, limit: Int64) async throws -> Bool {
        try await driver.write { connection in
            try connection.execute(
                "DELETE FROM staff_view WHERE staff = $1 AND page = $2 AND name = $3",
                [.text(staff), .text(view.page), .text(view.name)]
            )
            let count = try connection.query(
                "SELECT count(*) FROM staff_view WHERE staff = $1",
                [.text(staff)]
            ).first?.int64(0)
            guard count ?? 0 < limit else { return false }
            return try connection.execute(
                """
                INSERT INTO staff_view (staff, page, name, query) VALUES ($1, $2, $3, $4)
                """,
                [.text(staff), .text(view.page), .text(view.name), .text(view.query)]
            ) > 0
        }
    }

    /// Drops a view.
    public func removeView(_ name: String, page: String, of staff: String) async throws {
        try await driver.execute(
            "DELETE FROM staff_view WHERE staff = $1 AND page = $2 AND name = $3",
            [.text(staff), .text(page), .text(name)]
        )
    }
}
