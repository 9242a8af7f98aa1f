/// The tables (RULES.md §10).
///
/// Keys are 16 bytes unless they say otherwise, instants are milliseconds.
public enum Schema {
    /// All steps so far, the oldest first.
    public static let migrations = [
        firstTables, cursorsAndParked, opinions, reportsAndMessages, figures, staffAndAudit,
        webhooks, awaited, reportEditions, accessFindings, repliesOfCustomers, keysAndFactors,
        personsOfMessages, appsOfFigures, staffViews, letters,
    ]

    static let versionTable = """
        CREATE TABLE IF NOT EXISTS schema_version (
            number {integer} PRIMARY KEY,
            name TEXT NOT NULL,
            digest {blob} NOT NULL
        ) {table}
        """

    private static let firstTables = Migration(
        1,
        "journal, record, ledger, sessions",
        [
            // MARK: Evidence, never rebuilt
            // One row for each thing that was stated to us. `id` is drawn by the INSERT.
            // `subject` is a purchase's or a customer's key. `body` is null once erased.
            """
            CREATE TABLE journal (
                id {serial} PRIMARY KEY,
                dedupe_key {blob} NOT NULL UNIQUE,
                subject {blob} NOT NULL,
                kind {integer} NOT NULL,
                stated {integer} NOT NULL,
                digest {blob} NOT NULL,
                facts {blob} NOT NULL,
                body {blob}
            ) {table}
            """,
            "CREATE INDEX journal_subject ON journal (subject, id)",
            // Parts of bodies that many share (certificate chains), by hash.
            "CREATE TABLE segment (id {blob} PRIMARY KEY NOT NULL, bytes {blob} NOT NULL) {table}",
            """
            CREATE TABLE catalog_version (
                id {blob} PRIMARY KEY NOT NULL,
                adopted {integer} NOT NULL,
                body {blob} NOT NULL
            ) {table}
            """,

            // MARK: Derived, rebuilt and compared
            // `version` is the engine's.
            """
            CREATE TABLE purchase (
                key {blob} PRIMARY KEY NOT NULL,
                version {integer} NOT NULL,
                record {blob} NOT NULL,
                posted {blob}
            ) {table}
            """,
            """
            CREATE TABLE holding (
                holder {blob} NOT NULL,
                purchase {blob} NOT NULL,
                PRIMARY KEY (holder, purchase)
            ) {keyed_table}
            """,
            "CREATE INDEX holding_purchase ON holding (purchase)",
            """
            CREATE TABLE customer (
                key {blob} PRIMARY KEY NOT NULL,
                environment {integer} NOT NULL,
                sequence {integer} NOT NULL,
                balance {integer} NOT NULL,
                next_change {integer},
                answer {blob} NOT NULL
            ) {table}
            """,
            """
            CREATE INDEX customer_next_change ON customer (next_change)
                WHERE next_change IS NOT NULL
            """,
            """
            CREATE TABLE transfer (
                id {blob} PRIMARY KEY NOT NULL,
                lot {blob} NOT NULL,
                customer {blob} NOT NULL,
                amount {integer} NOT NULL,
                journal {integer} NOT NULL
            ) {keyed_table}
            """,
            "CREATE INDEX transfer_customer ON transfer (customer)",

            // MARK: People and their names
            """
            CREATE TABLE profile (
                customer {blob} PRIMARY KEY NOT NULL,
                id TEXT NOT NULL UNIQUE,
                body {blob} NOT NULL
            ) {table}
            """,
            """
            CREATE TABLE alias (
                key {blob} PRIMARY KEY NOT NULL,
                customer {blob} NOT NULL
            ) {keyed_table}
            """,
            "CREATE INDEX alias_customer ON alias (customer)",

            // MARK: Operational, may be dropped
            """
            CREATE TABLE session (
                token_hash {blob} PRIMARY KEY NOT NULL,
                customer {blob} NOT NULL,
                body {blob} NOT NULL,
                expires {integer} NOT NULL
            ) {table}
            """,
            """
            CREATE TABLE idempotency (
                key {blob} PRIMARY KEY NOT NULL,
                body_hash {blob} NOT NULL,
                status {integer} NOT NULL,
                reply {blob} NOT NULL,
                created {integer} NOT NULL
            ) {table}
            """,
            """
            CREATE TABLE wanted (
                key {blob} PRIMARY KEY NOT NULL,
                kind TEXT NOT NULL,
                object TEXT NOT NULL,
                body {blob} NOT NULL,
                created {integer} NOT NULL
            ) {table}
            """,
            """
            CREATE TABLE lease (
                name TEXT PRIMARY KEY NOT NULL,
                holder TEXT NOT NULL,
                until {integer} NOT NULL
            ) {table}
            """,
            "CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value {blob} NOT NULL) {table}",
        ]
    )
}
