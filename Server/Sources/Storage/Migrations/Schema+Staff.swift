extension Schema {
    /// People who work here, what they did, and what pages need to find their rows by an index.
    static let staffAndAudit = Migration(
        6,
        "staff, audit log, email index",
        [
            // Evidence: who may sign in to the dashboard. `password` is a slow hash, null until the
            // person has chosen one.
            """
            CREATE TABLE staff (
                name TEXT PRIMARY KEY NOT NULL,
                role TEXT NOT NULL,
                password {blob},
                created {integer} NOT NULL
            ) {table}
            """,
            // Operational: signed-in browsers, and links that work once. `kind` is `session`, `link`
            // or `invitation`; `expires` is real time in milliseconds.
            """
            CREATE TABLE staff_session (
                token_hash {blob} PRIMARY KEY NOT NULL,
                staff TEXT NOT NULL,
                kind TEXT NOT NULL,
                created {integer} NOT NULL,
                expires {integer} NOT NULL
            ) {table}
            """,
            "CREATE INDEX staff_session_staff ON staff_session (staff)",
            "CREATE INDEX staff_session_expires ON staff_session (expires)",
            // Operational: failed attempts to sign in, by name and by address (hashed).
            """
            CREATE TABLE staff_attempt (
                key {blob} PRIMARY KEY NOT NULL,
                failures {integer} NOT NULL,
                last {integer} NOT NULL
            ) {table}
            """,
            // Evidence, append only but for its outcome: what people did. `at` is real time.
            """
            CREATE TABLE audit (
                id {serial} PRIMARY KEY,
                at {integer} NOT NULL,
                actor TEXT NOT NULL,
                role TEXT NOT NULL,
                action TEXT NOT NULL,
                subject TEXT NOT NULL,
                detail TEXT NOT NULL,
                before TEXT,
                after TEXT,
                outcome TEXT NOT NULL,
                request TEXT NOT NULL
            ) {table}
            """,
            "CREATE INDEX audit_subject ON audit (subject, id)",
            "CREATE INDEX audit_actor ON audit (actor, id)",
            // Derived from `profile`: customers by a hash of their email in lower case.
            """
            CREATE TABLE profile_email (
                email {blob} NOT NULL,
                customer {blob} NOT NULL,
                PRIMARY KEY (email, customer)
            ) {keyed_table}
            """,
            "CREATE INDEX profile_email_customer ON profile_email (customer)",
            "CREATE INDEX session_customer ON session (customer, expires)",
        ]
    )
}
