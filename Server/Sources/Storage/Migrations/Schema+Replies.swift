extension Schema {
    /// Whose the kept replies are, and when they end.
    ///
    /// Replies of before are dropped: they were sealed with a key that follows from the
    /// `Idempotency-Key` alone, and would have lived for two days at most.
    static let repliesOfCustomers = Migration(
        11,
        "replies of customers",
        [
            "DROP TABLE idempotency",
            // Operational. `customer` is null where a reply is about nobody; `is_session` is 1 where a
            // session of theirs asked, 0 where the app's backend did.
            """
            CREATE TABLE idempotency (
                key {blob} PRIMARY KEY NOT NULL,
                body_hash {blob} NOT NULL,
                customer {blob},
                is_session {integer} NOT NULL,
                status {integer} NOT NULL,
                reply {blob} NOT NULL,
                created {integer} NOT NULL
            ) {table}
            """,
            """
            CREATE INDEX idempotency_customer ON idempotency (customer)
                WHERE customer IS NOT NULL
            """,
            "CREATE INDEX idempotency_created ON idempotency (created)",
            "CREATE INDEX session_expires ON session (expires)",
        ]
    )
}
