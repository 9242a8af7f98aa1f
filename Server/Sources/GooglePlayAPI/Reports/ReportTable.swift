internal import TextFormats

extension GooglePlay {
    /// A report as a table of comma-separated values (RFC 4180).
    ///
    /// Columns are found by their names, whatever their order; names that are not asked for are passed
    /// over.
    struct ReportTable {
        /// The names by which a column was known over the years, today's first.
        struct Column: Hashable {
            var names: [String]

            init(_ names: String...) { self.names = names }
        }

        /// One line of it.
        struct Row {
            /// Its number in the file; the names of the columns are in line 1.
            var line: Int
            fileprivate var values: [String]
        }

        let file: String
        let rows: [Row]
        private let places: [Column: Int]

        /// Reads a file.
        ///
        /// - Parameters:
        ///   - needed: the columns that it has to have.
        ///   - optional: those that older files lack.
        init(
            _ bytes: [UInt8],
            named file: String,
            needed: [Column],
            optional: [Column] = []
        ) throws(ReportProblem) {
            self.file = file
            guard let text = ReportText.text(bytes) else {
                throw ReportProblem(
                    file: file,
                    "the file is neither UTF-8 nor UTF-16; take it from the Play Console as it is, without opening it in another program."
                )
            }
            var reader = SeparatedValues(text.utf8)
            guard let names = reader.next()?.map(Self.trimmed) else {
                throw ReportProblem(file: file, "the file is empty; download it again.")
            }
            let columns = Dictionary(
                names.map(Self.plain).enumerated().map { ($1, $0) },
                uniquingKeysWith: { first, _ in first }
            )
            var places: [Column: Int] = [:]
            for column in needed + optional {
                for name in column.names where places[column] == nil {
                    places[column] = columns[Self.plain(name)]
                }
            }
            self.places = places
            let missing = needed.filter { places[$0] == nil }.map { "‘\($0.names[0])’" }
            guard missing.isEmpty else {
                throw ReportProblem(
                    file: file,
                    line: 1,
                    "there is no column \(missing.joined(separator: ", ")) among \(names.prefix(40).joined(separator: ", ")). Download the report in English; if Google has renamed the column, this server needs an update."
                )
            }
            var rows: [Row] = []
            while let values = reader.next()?.map(Self.trimmed) {
                guard values.contains(where: { !$0.isEmpty }) else { continue }
                rows.append(Row(line: reader.line, values: values))
            }
            self.rows = rows
        }

        private static func plain(_ name: String) -> String {
            name.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }

        /// Without the spaces and tabs around it.
        private static func trimmed(_ value: String) -> String {
            var value = value.utf8[...]
            while let first = value.first, first == 32 || first == 9 { value.removeFirst() }
            while let last = value.last, last == 32 || last == 9 { value.removeLast() }
            return String(Substring(value))
        }

        // MARK: - Values

        /// The text in a column; empty where the row or the file has none.
        func text(_ row: Row, _ column: Column) -> String {
            guard let place = places[column], place < row.values.count else { return "" }
            return row.values[place]
        }

        func required(_ row: Row, _ column: Column) throws(ReportProblem) -> String {
            let text = text(row, column)
            guard !text.isEmpty else {
                throw problem(row, column, "is empty; download the report again.")
            }
            return text
        }

        /// Millionths of a currency's unit; an empty value is 0.
        func amount(_ row: Row, _ column: Column) throws(ReportProblem) -> Int64 {
            let text = text(row, column)
            guard !text.isEmpty else { return 0 }
            guard let amount = ReportValues.millionths(text) else {
                throw problem(row, column, "is no amount like 1,234.50: ‘\(text)’.")
            }
            return amount
        }

        func date(_ row: Row, _ column: Column) throws(ReportProblem) -> ReportDate {
            let text = try required(row, column)
            guard let date = ReportDate(text) else {
                throw problem(
                    row,
                    column,
                    "is no date like 2026-09-10 or Sep 10, 2026: ‘\(text)’."
                )
            }
            return date
        }

        /// A currency's code in capitals.
        func currency(_ row: Row, _ column: Column) throws(ReportProblem) -> String {
            let text = try required(row, column).uppercased()
            guard text.utf8.count == 3, text.utf8.allSatisfy({ (65...90).contains($0) }) else {
                throw problem(row, column, "is no currency like USD: ‘\(text)’.")
            }
            return text
        }

        func problem(_ row: Row, _ column: Column, _ what: String) -> ReportProblem {
            ReportProblem(file: file, line: row.line, "‘\(column.names[0])’ \(what)")
        }
    }
}

/// A line of a report, which finds its values by the names of their columns.
protocol ReportRow {
    /// The columns that a report has to have.
    static var needed: [GooglePlay.ReportTable.Column] { get }
    /// Those that older files lack.
    static var optional: [GooglePlay.ReportTable.Column] { get }

    init(
        _ row: GooglePlay.ReportTable.Row,
        of table: GooglePlay.ReportTable
    ) throws(GooglePlay.ReportProblem)
}

extension ReportRow {
    /// Reads the files of a report.
    static func rows(_ files: [ZipArchive.File]) throws(GooglePlay.ReportProblem) -> [Self] {
        var rows: [Self] = []
        for file in files {
            let table = try GooglePlay.ReportTable(
                file.contents,
                named: file.name,
                needed: needed,
                optional: optional
            )
            for row in table.rows { rows.append(try Self(row, of: table)) }
        }
        return rows
    }
}
