extension Schema {
    /// The saved views of members of staff.
    static let staffViews = Migration(
        15,
        "saved views of staff",
        [
            // Operational. `page` is an address of the dashboard without its query.
            """
            CREATE TABLE staff_view (
                staff TEXT NOT NULL,
                page TEXT NOT NULL,
                name TEXT NOT NULL,
                query TEXT NOT NULL,
                PRIMARY KEY (staff, page, name)
            ) {keyed_table}
            """
        ]
    )
}
