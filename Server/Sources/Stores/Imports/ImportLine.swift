internal import Foundation
internal import StrictJSON
internal import TextFormats

/// A column of a file to import, and a member where its lines are JSON.
package protocol ImportColumn: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// Returns `true` for columns that name a purchase: a first line of them is a heading.
    static func areHeading(_ columns: [Self]) -> Bool

    /// The columns of a line of so many fields in a file without a heading.
    static func usual(_ count: Int) -> [Self]
}

/// The reason for which a line of a file names nothing, with what to do.
package struct ImportProblem: Error, Hashable {
    package var reason: String
    package var appUserID: String?

    package init(_ reason: String, _ appUserID: String? = nil) {
        (self.reason, self.appUserID) = (reason, appUserID)
    }
}

/// The values of one line of a file to import.
package struct ImportLine<Column: ImportColumn>: Sendable {
    private var values: [Column: String] = [:]

    package init(_ value: (Column) -> String?) {
        for column in Column.allCases {
            let text = value(column)?.trimmingCharacters(in: .whitespaces)
            if let text, !text.isEmpty { values[column] = text }
        }
    }

    /// The value of a column; `nil` where there is none, or an empty one.
    package subscript(_ column: Column) -> String? { values[column] }

    /// The columns that a first line names; `nil` where it is no heading.
    package static func columns(ofHeading bytes: [UInt8]) -> [Column]? {
        guard let fields = try? fields(of: bytes) else { return nil }
        let columns = fields.compactMap { field in
            Column(rawValue: field.trimmingCharacters(in: .whitespaces).lowercased())
        }
        return columns.count == fields.count && Column.areHeading(columns) ? columns : nil
    }

    /// Reads a line: an object of JSON, or comma-separated values.
    ///
    /// - Parameters:
    ///   - columns: those that the heading names; `nil` where there is none.
    /// - Returns: `nil` for an empty line.
    package init?(_ bytes: [UInt8], under columns: [Column]?) throws(ImportProblem) {
        guard bytes.contains(where: { $0 > 0x20 }) else { return nil }
        if bytes.first == UInt8(ascii: "{") {
            guard let json = try? JSON(bytes) else {
                throw ImportProblem("this is no JSON; write one object a line")
            }
            self.init { json[named: $0.rawValue]?.string }
            return
        }
        let fields = try Self.fields(of: bytes)
        let columns = columns ?? Column.usual(fields.count)
        guard fields.count == columns.count else {
            throw ImportProblem(
                "it has \(fields.count) fields and not \(columns.count); write "
                    + columns.map(\.rawValue).joined(separator: ",")
            )
        }
        self.init { column in columns.firstIndex(of: column).map { fields[$0] } }
    }

    /// The fields of a line of CSV (RFC 4180).
    private static func fields(of bytes: [UInt8]) throws(ImportProblem) -> [String] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ImportProblem("this is no UTF-8; save the file as UTF-8")
        }
        var line = SeparatedValues(bytes)
        let fields = line.next() ?? []
        guard !line.isUnclosed else { throw ImportProblem("a quote is opened and not closed") }
        guard line.next() == nil else {
            throw ImportProblem(
                "it has a line end within (CR); save the file with line ends LF or CRLF"
            )
        }
        return fields
    }
}
