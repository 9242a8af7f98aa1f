extension Schema {
    /// What stores say of customers beside what they sold them.
    static let opinions = Migration(
        3,
        "opinions of stores",
        [
            // Operational. `customer` is a customer's row in one environment.
            """
            CREATE TABLE opinion (
                customer {blob} PRIMARY KEY NOT NULL,
                body {blob} NOT NULL,
                stated {integer} NOT NULL
            ) {table}
            """
        ]
    )
}
