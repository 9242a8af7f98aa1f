extension Schema {
    /// Emails to customers, and the addresses that want none.
    static let letters = Migration(
        16,
        "letters to customers",
        [
            // `key` hashes the cause, so that one cause has one letter. `customer` is the customer's name
            // without an environment: the address is read from the profile when the letter is sent.
            // `caused` and `due` are by the stores' time, `queued`, `retry`, `tried` and `first_tried` by
            // real time. `status`: 0 waits, 1 sent, 2 failed, 3 dropped, 4 refused by the mailbox.
            """
            CREATE TABLE letter (
                key {blob} PRIMARY KEY NOT NULL,
                customer {blob} NOT NULL,
                kind TEXT NOT NULL,
                purchase TEXT NOT NULL,
                reference TEXT NOT NULL,
                caused {integer} NOT NULL,
                due {integer} NOT NULL,
                queued {integer} NOT NULL,
                status {integer} NOT NULL,
                attempts {integer} NOT NULL,
                retry {integer} NOT NULL,
                tried {integer},
                first_tried {integer},
                outcome TEXT
            ) {table}
            """,
            "CREATE INDEX letter_customer ON letter (customer)",
            "CREATE INDEX letter_queued ON letter (queued, key)",
            "CREATE INDEX letter_waiting ON letter (due) WHERE status = 0",
            "CREATE INDEX letter_status ON letter (status, tried)",
            // Outlives an erasure: `address` is a keyed hash of an address that has unsubscribed.
            """
            CREATE TABLE letter_refusal (
                address {blob} PRIMARY KEY NOT NULL,
                refused {integer} NOT NULL
            ) {keyed_table}
            """,
        ]
    )
}
