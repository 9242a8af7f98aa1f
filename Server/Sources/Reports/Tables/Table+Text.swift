extension Reports.Table {
    /// Comma separated values (RFC 4180) with the columns' keys in the first line.
    public var csv: String {
        var bytes: [UInt8] = []
        writeCSV { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Gives the same to `take`, piece by piece.
    public func writeCSV(to take: ([UInt8]) throws -> Void) rethrows {
        let header = columns.map { CommaSeparated.field($0.key) }
        try write(header, separator: ",", end: "\r\n", to: take) { text in
            // Most words are plain and need no second look.
            let isPlain = text.utf8.allSatisfy { Self.isPlain($0) }
            return isPlain ? nil : CommaSeparated.field(text)
        }
    }

    /// Tab separated values with the columns' titles in the first line, as Apple writes its
    /// reports.
    public var tsv: String {
        var bytes: [UInt8] = []
        writeTSV { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Gives the same to `take`, piece by piece.
    public func writeTSV(to take: ([UInt8]) throws -> Void) rethrows {
        let header = columns.map { TabSeparated.field($0.title) }
        try write(header, separator: "\t", end: "\n", to: take) { text in
            let isPlain = text.utf8.allSatisfy { Self.isPlain($0) }
            return isPlain ? nil : TabSeparated.field(text)
        }
    }

    /// - Parameter changed: what is to be written in place of a text; `nil`: the text itself.
    private func write(
        _ header: [String],
        separator: Unicode.Scalar,
        end: String,
        to take: ([UInt8]) throws -> Void,
        changed: (String) -> String?
    ) rethrows {
        let separator = UInt8(ascii: separator)
        var bytes = Array(header.joined(separator: String(Unicode.Scalar(separator))).utf8)
        bytes += end.utf8
        for row in rows {
            for (index, value) in row.enumerated() {
                if index > 0 { bytes.append(separator) }
                if case .text(let text) = value, let other = changed(text) {
                    bytes += other.utf8
                } else {
                    value.writePlain(to: &bytes)
                }
            }
            bytes += end.utf8
            try bytes.giveAway(to: take)
        }
        try take(bytes)
    }

    /// Letters, digits and what neither separates values nor begins a formula.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: " "), UInt8(ascii: ":"):
            true
        default: false
        }
    }

    /// Columns side by side, numbers to the right, with what they mean below.
    public var alignedText: String {
        let cells = [columns.map(\.title)] + rows.map { $0.map(\.text) }
        let widths = columns.indices.map { column in
            cells.map { $0[column].count }.max() ?? 0
        }
        var text = title + "\n\n"
        for (number, row) in cells.enumerated() {
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                let isNumber = columns[column].kind != .day && columns[column].kind != .text
                line += (isNumber ? padding + cell : cell + padding) + "  "
            }
            text += Self.trimmed(line) + "\n"
            if number == 0 {
                text += widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ")
                text += "\n"
            }
        }
        if rows.isEmpty { text += "(nothing)\n" }
        if !definitions.isEmpty { text += "\n" }
        for definition in definitions {
            text += "\(definition.name) (v\(definition.version)): \(definition.text)\n"
        }
        for note in notes { text += "Note: \(note)\n" }
        return text
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }
}
