extension Schema {
    /// Whom messages without facts are about.
    static let personsOfMessages = Migration(
        13,
        "persons of messages",
        [
            // A name that a store gave them, or their payment, hashed: by it an erasure finds the body.
            "ALTER TABLE journal ADD COLUMN person {blob}",
            "CREATE INDEX journal_person ON journal (person) WHERE person IS NOT NULL",
        ]
    )
}
