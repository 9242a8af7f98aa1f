extension Schema {
    /// Endpoints of the app's backend that are told what changes, and what each was told.
    static let webhooks = Migration(
        7,
        "webhook endpoints, deliveries",
        [
            // `settings` as the service writes them; `secrets` sealed. `position` is the place in
            // the feed up to which events were taken in for this endpoint.
            """
            CREATE TABLE webhook_endpoint (
                id TEXT PRIMARY KEY NOT NULL,
                settings {blob} NOT NULL,
                secrets {blob} NOT NULL,
                disabled TEXT,
                position {integer} NOT NULL,
                failures {integer} NOT NULL,
                failing_since {integer},
                paused_until {integer} NOT NULL,
                created {integer} NOT NULL
            ) {table}
            """,
            // One event for one endpoint. `status`: 0 waits, 1 delivered, 2 dead.
            """
            CREATE TABLE delivery (
                endpoint TEXT NOT NULL,
                number {integer} NOT NULL,
                customer {blob} NOT NULL,
                status {integer} NOT NULL,
                attempts {integer} NOT NULL,
                queued {integer} NOT NULL,
                due {integer} NOT NULL,
                tried {integer},
                outcome TEXT,
                PRIMARY KEY (endpoint, number)
            ) {keyed_table}
            """,
            "CREATE INDEX delivery_due ON delivery (endpoint, due) WHERE status = 0",
            """
            CREATE INDEX delivery_customer ON delivery (endpoint, customer, number)
                WHERE status = 0
            """,
            "CREATE INDEX delivery_dead ON delivery (endpoint, number) WHERE status = 2",
            "CREATE INDEX delivery_done ON delivery (tried) WHERE status = 1",
            // The message before this one of the same customer that has a place in the feed, so
            // that each can say what is different.
            "ALTER TABLE message ADD COLUMN previous {integer}",
            "CREATE TABLE told (customer {blob} PRIMARY KEY NOT NULL, message {integer} NOT NULL) {keyed_table}",
        ]
    )
}
