extension Schema {
    /// Reports of stores, and messages to those who follow a customer's answer.
    static let reportsAndMessages = Migration(
        4,
        "reports, messages",
        [
            // Evidence: a store's report as it came. `key` hashes what it is a report of.
            """
            CREATE TABLE report (
                key {blob} PRIMARY KEY NOT NULL,
                kind TEXT NOT NULL,
                period TEXT NOT NULL,
                fetched {integer} NOT NULL,
                digest {blob} NOT NULL,
                body {blob} NOT NULL
            ) {table}
            """,
            // Derived from `report`: its lines, by the day that they are about (YYYY-MM-DD).
            """
            CREATE TABLE report_row (
                report {blob} NOT NULL,
                line {integer} NOT NULL,
                kind TEXT NOT NULL,
                day TEXT NOT NULL,
                body {blob} NOT NULL,
                PRIMARY KEY (report, line)
            ) {keyed_table}
            """,
            "CREATE INDEX report_row_day ON report_row (kind, day)",
            // Evidence: what was said of a customer's answer. `number` is the place in the feed,
            // given after commit; `customer` is a customer's row in one environment.
            """
            CREATE TABLE message (
                id {serial} PRIMARY KEY,
                customer {blob} NOT NULL,
                environment {integer} NOT NULL,
                sequence {integer} NOT NULL,
                kind TEXT NOT NULL,
                created {integer} NOT NULL,
                body {blob} NOT NULL,
                number {integer}
            ) {table}
            """,
            "CREATE UNIQUE INDEX message_number ON message (number)",
            "CREATE INDEX message_waiting ON message (id) WHERE number IS NULL",
            // Operational: as of when, and for which state of the customer's row, the last change
            // by time alone was looked at; and when the next one is due.
            """
            CREATE TABLE sweep (
                customer {blob} PRIMARY KEY NOT NULL,
                sequence {integer} NOT NULL,
                seen {integer} NOT NULL,
                due {integer}
            ) {keyed_table}
            """,
            "CREATE INDEX sweep_due ON sweep (due) WHERE due IS NOT NULL",
        ]
    )
}
