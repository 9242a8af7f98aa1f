extension Schema {
    /// What stores had reported before they reported it otherwise.
    static let reportEditions = Migration(
        9,
        "older editions of reports",
        [
            // Evidence: an edition of a report whose place a newer one has taken. `fetched` is when it
            // came, `replaced` when the newer one did, both in real time.
            """
            CREATE TABLE report_edition (
                report {blob} NOT NULL,
                replaced {integer} NOT NULL,
                fetched {integer} NOT NULL,
                digest {blob} NOT NULL,
                body {blob} NOT NULL,
                PRIMARY KEY (report, replaced, digest)
            ) {keyed_table}
            """
        ]
    )
}
