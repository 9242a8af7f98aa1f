extension Schema {
    /// Secret keys with scopes, and the second factors of staff.
    static let keysAndFactors = Migration(
        12,
        "secret keys with scopes, second factors of staff",
        [
            // Evidence. Only a hash of the key is kept. `scopes` are words separated by commas;
            // `created`, `last_used` and `revoked` are real time.
            """
            CREATE TABLE secret_key (
                id TEXT PRIMARY KEY NOT NULL,
                hash {blob} NOT NULL UNIQUE,
                name TEXT NOT NULL,
                scopes TEXT NOT NULL,
                creator TEXT NOT NULL,
                created {integer} NOT NULL,
                last_used {integer},
                revoked {integer}
            ) {table}
            """,
            // Evidence. `secret` is sealed; `confirmed` is 1 once a code was shown; `step` is that of
            // the newest code that was accepted.
            """
            CREATE TABLE staff_totp (
                staff TEXT PRIMARY KEY NOT NULL,
                secret {blob} NOT NULL,
                confirmed {integer} NOT NULL,
                step {integer} NOT NULL
            ) {table}
            """,
            // Evidence. Recovery codes that were not used yet, hashed.
            """
            CREATE TABLE staff_recovery (
                staff TEXT NOT NULL,
                code {blob} NOT NULL,
                PRIMARY KEY (staff, code)
            ) {keyed_table}
            """,
        ]
    )
}
