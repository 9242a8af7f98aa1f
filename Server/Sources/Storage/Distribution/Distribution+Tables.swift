extension Distribution {
    /// The tables that are spread, each by the column that nearly all statements about it name.
    ///
    /// Plain databases keep the keys that the migrations gave them: they are narrower, and SQLite cannot
    /// drop a unique key of a table that is there.
    public static let tables = [
        // By the purchase; the journal's commands and some figures by the customer.
        Table(name: "purchase", column: "key"),
        Table(
            name: "journal",
            column: "subject",
            keys: [
                "ALTER TABLE journal DROP CONSTRAINT journal_pkey",
                "ALTER TABLE journal DROP CONSTRAINT journal_dedupe_key_key",
                "DROP INDEX journal_subject",
                "ALTER TABLE journal ADD PRIMARY KEY (subject, id)",
                "ALTER TABLE journal ADD UNIQUE (subject, dedupe_key)",
                "CREATE INDEX journal_id ON journal (id)",
                "CREATE INDEX journal_dedupe_key ON journal (dedupe_key)",
            ]
        ),
        Table(name: "awaited", column: "purchase"),
        Table(name: "figure", column: "subject"),

        // By the customer, or by a name that may become one.
        Table(name: "customer", column: "key"),
        Table(name: "holding", column: "holder"),
        Table(name: "opinion", column: "customer"),
        Table(name: "sweep", column: "customer"),
        Table(name: "told", column: "customer"),
        Table(name: "resequenced", column: "customer"),
        // The customer is the hash of `id`.
        Table(
            name: "profile",
            column: "customer",
            keys: ["ALTER TABLE profile DROP CONSTRAINT profile_id_key"]
        ),
        Table(name: "profile_email", column: "customer"),
        Table(
            name: "transfer",
            column: "customer",
            keys: [
                "ALTER TABLE transfer DROP CONSTRAINT transfer_pkey",
                "DROP INDEX transfer_customer",
                "ALTER TABLE transfer ADD PRIMARY KEY (customer, id)",
            ]
        ),
        // One publisher at a time gives `number` out, with the row of the last one locked.
        Table(
            name: "message",
            column: "customer",
            keys: [
                "ALTER TABLE message DROP CONSTRAINT message_pkey",
                "ALTER TABLE message ADD PRIMARY KEY (customer, id)",
                "DROP INDEX message_number",
                "CREATE INDEX message_number ON message (number)",
            ]
        ),

        // By their own key, which is all that is known when they are looked for.
        Table(name: "alias", column: "key"),
        Table(name: "session", column: "token_hash"),
        Table(name: "idempotency", column: "key"),
        Table(name: "letter", column: "key"),
        Table(name: "letter_refusal", column: "address"),
        Table(name: "receipt", column: "key"),
    ]
}
