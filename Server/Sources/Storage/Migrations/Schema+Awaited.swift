extension Schema {
    /// Which purchases a store should have said something of, so that asking need not look at all;
    /// and what a change of the engine must not turn back.
    static let awaited = Migration(
        8,
        "awaited words of stores, sequences over engines",
        [
            // Operational. `scope` hashes store, environment and application; `since` and `until`
            // are instants of the stores' time.
            """
            CREATE TABLE awaited (
                purchase {blob} PRIMARY KEY NOT NULL,
                scope {blob} NOT NULL,
                since {integer} NOT NULL,
                until {integer} NOT NULL
            ) {table}
            """,
            "CREATE INDEX awaited_since ON awaited (scope, since, purchase)",
            // Evidence: by how much a customer's sequence is ahead of what this engine counts, because
            // an earlier one had counted further.
            """
            CREATE TABLE resequenced (
                customer {blob} PRIMARY KEY NOT NULL,
                added {integer} NOT NULL
            ) {keyed_table}
            """,
            // Erasing a customer must not look at everybody's receipts.
            "CREATE INDEX receipt_customer ON receipt (customer)",
        ]
    )
}
