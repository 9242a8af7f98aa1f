internal import TextFormats

/// The first line of RevenueCat's export of transactions, which names its columns.
///
/// The columns are those of
/// https://www.revenuecat.com/docs/integrations/scheduled-data-exports/data-export-version-5, of
/// versions 6 and 7 likewise, and of the selectable columns of
/// https://www.revenuecat.com/docs/integrations/scheduled-data-exports/transactions. They are found by
/// name; others are passed over.
struct RevenueCatHeading: Sendable {
    enum Column: String, CaseIterable, Sendable {
        case originalUser = "rc_original_app_user_id"
        case lastSeenUser = "rc_last_seen_app_user_id_alias"
        case store
        case transaction = "store_transaction_id"
        case original = "original_store_transaction_id"
        case product = "product_identifier"
        case start = "start_time"
        case end = "end_time"
        case effectiveEnd = "effective_end_time"
        case refunded = "refunded_at"
        case isSandbox = "is_sandbox"
        case entitlements = "entitlement_identifiers"

        /// Whether nothing can be done without it.
        var isNeeded: Bool {
            switch self {
            case .originalUser, .lastSeenUser, .end, .entitlements: false
            case .store, .transaction, .original, .product, .start, .effectiveEnd, .refunded,
                .isSandbox:
                true
            }
        }
    }

    /// Columns of JSON, whose quotes version 5 does not write as CSV does: a row may fall apart
    /// behind them
    /// (https://www.revenuecat.com/docs/integrations/scheduled-data-exports/data-export-version-6).
    private static let looselyQuoted: Set<String> = [
        "reserved_subscriber_attributes", "custom_subscriber_attributes",
    ]

    private var places: [Column: Int] = [:]
    /// The places of the columns that name the user, in the order in which they are believed.
    private var users: [Int] = []
    private var count: Int
    /// The number of columns before the first that may fall apart.
    private var sound: Int

    /// Reads the first line.
    ///
    /// - Parameter userColumn: the only column that names the user; `nil`: the last seen alias, and
    ///   where that is anonymous the original id.
    /// - Throws: a sentence of what is wrong, and what to do.
    init(_ bytes: [UInt8], userColumn: String?) throws(RevenueCatRow.Problem) {
        var line = SeparatedValues(bytes)
        let names = (line.next() ?? []).map(Self.name)
        count = names.count
        sound = names.firstIndex { Self.looselyQuoted.contains($0) } ?? names.count
        for column in Column.allCases {
            places[column] = names.firstIndex(of: column.rawValue)
        }
        guard line.next() == nil else { throw Self.lineEnds }
        guard places[.store] != nil || places[.transaction] != nil else {
            let isSemicolons = names.first?.contains(";") ?? false
            throw RevenueCatRow.Problem(
                isSemicolons
                    ? "its columns are separated by semicolons; export version 5, 6 or 7, which has commas"
                    : "its first line names no columns of RevenueCat's transactions; export version 5, 6 or 7 as CSV"
            )
        }
        let missing = Column.allCases.filter { $0.isNeeded && places[$0] == nil }
        guard missing.isEmpty else {
            let list = missing.map(\.rawValue).joined(separator: ", ")
            throw RevenueCatRow.Problem(
                "it lacks the columns \(list); export version 5, 6 or 7, or select them in RevenueCat"
            )
        }
        if let userColumn {
            guard let place = names.firstIndex(of: Self.name(userColumn)) else {
                throw RevenueCatRow.Problem(
                    "it has no column ‘\(userColumn)’; name one of its columns with --user-column"
                )
            }
            users = [place]
        } else {
            users = [Column.lastSeenUser, .originalUser].compactMap { places[$0] }
        }
        guard !users.isEmpty else {
            throw RevenueCatRow.Problem(
                "it has neither rc_last_seen_app_user_id_alias nor rc_original_app_user_id; select one, or name another with --user-column"
            )
        }
    }

    private static let lineEnds = RevenueCatRow.Problem(
        "it has a line end within (CR); save the file with line ends LF or CRLF"
    )

    /// How a line ends.
    enum Quote {
        case none
        /// Within a value in quotes, which goes on in the next line.
        case open
        /// Within or behind a column whose quotes are not those of CSV.
        case loose
    }

    /// The quote that is not closed at the end of a line, or of several.
    func openQuote(in bytes: [UInt8]) -> Quote {
        let quotes = bytes.reduce(0) { $1 == UInt8(ascii: "\"") ? $0 + 1 : $0 }
        guard !quotes.isMultiple(of: 2) else { return .none }
        var line = SeparatedValues(bytes)
        let fields = line.next() ?? []
        return fields.count <= sound ? .open : .loose
    }

    private static func name(_ text: String) -> String {
        var text = text[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text.drop { $0.isWhitespace }).lowercased()
    }

    /// Reads a row.
    ///
    /// - Returns: `nil` for an empty line.
    func row(_ bytes: [UInt8], line number: Int) throws(RevenueCatRow.Problem) -> RevenueCatRow? {
        guard bytes.contains(where: { $0 > 0x20 }) else { return nil }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw RevenueCatRow.Problem("this is no UTF-8; save the file as UTF-8")
        }
        let fields = try fields(of: bytes)
        func text(_ place: Int) -> String? {
            let text = fields[place]
            return text.isEmpty || text == "null" || text == "NULL" ? nil : text
        }
        return try RevenueCatRow(line: number, of: users.compactMap(text)) { column in
            places[column].flatMap(text)
        }
    }

    /// The fields of a row, as far as columns that are read go.
    private func fields(of bytes: [UInt8]) throws(RevenueCatRow.Problem) -> [String] {
        var line = SeparatedValues(bytes)
        let fields = line.next() ?? []
        let isUnclosed = line.isUnclosed
        guard line.next() == nil else { throw Self.lineEnds }
        if fields.count == count, !isUnclosed { return fields }
        let last = (Array(places.values) + users).max() ?? 0
        // A row of several lines is one only if all of it is CSV.
        let isOneLine = !bytes.contains(UInt8(ascii: "\n"))
        guard isOneLine, last < sound, last < fields.count else {
            throw RevenueCatRow.Problem(
                isUnclosed
                    ? "a quote is opened and not closed; export version 6 or 7"
                    : "it has \(fields.count) fields and the first line \(count); export version 6 or 7"
            )
        }
        return fields
    }
}
