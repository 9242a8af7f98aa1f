extension Schema {
    /// What reports are made of.
    static let figures = Migration(
        5,
        "figures",
        [
            // Derived: rows of what was sold, by the purchase, customer or spend that they follow
            // from. What a body says, its kind's owner knows.
            """
            CREATE TABLE figure (
                subject {blob} NOT NULL,
                kind {integer} NOT NULL,
                number {integer} NOT NULL,
                environment {integer} NOT NULL,
                day {integer} NOT NULL,
                customer {blob} NOT NULL,
                body {blob} NOT NULL,
                PRIMARY KEY (subject, kind, number)
            ) {keyed_table}
            """,
            "CREATE INDEX figure_day ON figure (environment, kind, day, subject, number)",
            "CREATE INDEX figure_customer ON figure (customer, kind)",
            // Derived: sums of these rows by day (grain 0, days since 1970) and by month (grain 1,
            // the month's first day).
            """
            CREATE TABLE rollup (
                environment {integer} NOT NULL,
                measure {integer} NOT NULL,
                grain {integer} NOT NULL,
                day {integer} NOT NULL,
                store TEXT NOT NULL,
                product TEXT NOT NULL,
                country TEXT NOT NULL,
                currency TEXT NOT NULL,
                offer TEXT NOT NULL,
                detail {integer} NOT NULL,
                extra {integer} NOT NULL,
                items {integer} NOT NULL,
                units {integer} NOT NULL,
                amount {integer} NOT NULL,
                PRIMARY KEY (
                    environment, measure, grain, day, store, product, country, currency, offer,
                    detail, extra
                )
            ) {keyed_table}
            """,
        ]
    )

    /// Sums keep the apps of several apart; they are derived again.
    static let appsOfFigures = Migration(
        14,
        "apps of figures",
        [
            "DROP TABLE rollup",
            """
            CREATE TABLE rollup (
                environment {integer} NOT NULL,
                measure {integer} NOT NULL,
                grain {integer} NOT NULL,
                day {integer} NOT NULL,
                store TEXT NOT NULL,
                product TEXT NOT NULL,
                country TEXT NOT NULL,
                currency TEXT NOT NULL,
                offer TEXT NOT NULL,
                app TEXT NOT NULL,
                detail {integer} NOT NULL,
                extra {integer} NOT NULL,
                items {integer} NOT NULL,
                units {integer} NOT NULL,
                amount {integer} NOT NULL,
                PRIMARY KEY (
                    environment, measure, grain, day, store, product, country, currency, offer,
                    app, detail, extra
                )
            ) {keyed_table}
            """,
        ]
    )
}
