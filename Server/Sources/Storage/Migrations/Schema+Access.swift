extension Schema {
    /// Whom a second opinion disagrees about.
    static let accessFindings = Migration(
        10,
        "access findings",
        [
            // Operational: found again by the next check. `key` hashes what is found of whom;
            // `customer` is the customer's name without an environment, so that erasing finds it;
            // `first_seen` and `seen` are real time.
            """
            CREATE TABLE access_finding (
                key {blob} PRIMARY KEY NOT NULL,
                customer {blob} NOT NULL,
                kind TEXT NOT NULL,
                first_seen {integer} NOT NULL,
                seen {integer} NOT NULL,
                body {blob} NOT NULL
            ) {table}
            """,
            "CREATE INDEX access_finding_customer ON access_finding (customer)",
        ]
    )
}
