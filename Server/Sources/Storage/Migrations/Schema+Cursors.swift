extension Schema {
    /// How far long work has come, what could not be used, and receipts.
    static let cursorsAndParked = Migration(
        2,
        "cursors, parked messages, receipts",
        [
            // Operational: the place where long work goes on after a break.
            """
            CREATE TABLE cursor (
                name TEXT PRIMARY KEY NOT NULL,
                body {blob} NOT NULL,
                updated {integer} NOT NULL
            ) {table}
            """,
            // Evidence: genuine messages that could not be used so far. `key` is the dedupe key
            // that the message would have in the journal.
            """
            CREATE TABLE parked (
                key {blob} PRIMARY KEY NOT NULL,
                store TEXT NOT NULL,
                source TEXT NOT NULL,
                reason TEXT NOT NULL,
                body {blob} NOT NULL,
                received {integer} NOT NULL
            ) {table}
            """,
            "CREATE INDEX parked_received ON parked (received, key)",
            // Operational: for whom the App Store is asked by receipt, the newest of each; `due` is
            // when to ask again, by the stores' time.
            """
            CREATE TABLE receipt (
                key {blob} PRIMARY KEY NOT NULL,
                customer TEXT NOT NULL,
                body {blob} NOT NULL,
                due {integer} NOT NULL
            ) {table}
            """,
            "CREATE INDEX receipt_due ON receipt (due, key)",
        ]
    )
}
