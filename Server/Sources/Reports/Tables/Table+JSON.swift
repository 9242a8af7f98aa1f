extension Reports.Table {
    /// The table as JSON with sorted keys.
    ///
    /// Rows are objects by the columns' keys. Money and ratios are exact:
    /// `{"numerator", "denominator", "currency", "text"}`, of money in milliunits; the numbers are
    /// strings where they outgrow 53 bits.
    public var json: String {
        var bytes: [UInt8] = []
        writeJSON { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Gives the same to `take`, piece by piece.
    public func writeJSON(to take: ([UInt8]) throws -> Void) rethrows {
        // Written by hand: with a coder a table of two years takes ten times as long.
        var bytes: [UInt8] = []
        bytes += "{\n  \"columns\": ".utf8
        bytes.appendList(columns) { column, bytes in
            bytes += "{\"key\": ".utf8
            bytes.append(json: column.key)
            bytes += ", \"kind\": ".utf8
            bytes.append(json: column.kind.rawValue)
            bytes += ", \"title\": ".utf8
            bytes.append(json: column.title)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes += ",\n  \"definitions\": ".utf8
        bytes.appendList(definitions) { definition, bytes in
            bytes += "{\"name\": ".utf8
            bytes.append(json: definition.name)
            bytes += ", \"text\": ".utf8
            bytes.append(json: definition.text)
            bytes += ", \"version\": \(definition.version)}".utf8
        }
        bytes += ",\n  \"name\": ".utf8
        bytes.append(json: name)
        bytes += ",\n  \"notes\": ".utf8
        bytes.appendList(notes) { note, bytes in bytes.append(json: note) }
        bytes += ",\n  \"rows\": ".utf8
        let keys = sortedKeys
        var currency = WrittenCurrency()
        try bytes.appendList(rows) { row, bytes in
            Self.write(row, keys, &currency, to: &bytes)
            try bytes.giveAway(to: take)
        }
        bytes += ",\n  \"title\": ".utf8
        bytes.append(json: title)
        bytes += "\n}".utf8
        try take(bytes)
    }

    /// One JSON object a line (https://github.com/ndjson/ndjson-spec), as warehouses load it.
    public var ndjson: String {
        var bytes: [UInt8] = []
        let keys = sortedKeys
        var currency = WrittenCurrency()
        for row in rows {
            Self.write(row, keys, &currency, to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The columns in the order of their keys, each with how its name is written.
    private var sortedKeys: [(column: Int, name: [UInt8])] {
        columns.indices.sorted { columns[$0].key < columns[$1].key }.map { column in
            var name: [UInt8] = []
            name.append(json: columns[column].key)
            name.append(UInt8(ascii: ":"))
            return (column, name)
        }
    }

    private static func write(
        _ row: [Value],
        _ keys: [(column: Int, name: [UInt8])],
        _ currency: inout WrittenCurrency,
        to bytes: inout [UInt8]
    ) {
        bytes.append(UInt8(ascii: "{"))
        for (index, key) in keys.enumerated() where row.indices.contains(key.column) {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += key.name
            row[key.column].writeJSON(&currency, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

/// How the last currency is written: most amounts are of the same one as the amount before.
private struct WrittenCurrency {
    private(set) var code = ""
    private(set) var decimals = Reports.Currency.decimals(of: "")
    /// The beginning of an amount's object.
    private(set) var beginning: [UInt8] = Self.beginning("")

    mutating func turn(to code: String) {
        guard code != self.code else { return }
        self.code = code
        decimals = Reports.Currency.decimals(of: code)
        beginning = Self.beginning(code)
    }

    private static func beginning(_ code: String) -> [UInt8] {
        var bytes = Array("{\"currency\":".utf8)
        bytes.append(json: code)
        bytes.append(UInt8(ascii: ","))
        return bytes
    }
}

extension Reports.Table.Value {
    fileprivate func writeJSON(_ last: inout WrittenCurrency, to bytes: inout [UInt8]) {
        switch self {
        case .day(let day):
            bytes.append(UInt8(ascii: "\""))
            day.write(to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        case .text(let text): bytes.append(json: text)
        case .count(let count): bytes.append(number: count)
        case .none: bytes += "null".utf8
        case .money(let fraction, let currency):
            last.turn(to: currency)
            bytes += last.beginning
            fraction.writeJSON(to: &bytes)
            fraction.write(decimals: last.decimals, per: 3, to: &bytes)
            bytes += "\"}".utf8
        case .ratio(let fraction):
            bytes.append(UInt8(ascii: "{"))
            fraction.writeJSON(to: &bytes)
            // Per cent.
            (fraction * Reports.Fraction(Int128(100))).write(decimals: 2, to: &bytes)
            bytes += "\"}".utf8
        }
    }
}

extension Reports.Fraction {
    /// The exact number, up to where its text begins.
    fileprivate func writeJSON(to bytes: inout [UInt8]) {
        let safe = Int128(1) << 53
        bytes += "\"denominator\":".utf8
        if numerator.magnitude < safe.magnitude, denominator < safe {
            bytes.append(number: Int64(denominator))
            bytes += ",\"numerator\":".utf8
            bytes.append(number: Int64(numerator))
        } else {
            bytes += "\"\(denominator)\",\"numerator\":\"\(numerator)\"".utf8
        }
        bytes += ",\"text\":\"".utf8
    }
}

extension [UInt8] {
    /// Gives what there is to `take` where it has become a piece worth writing: a table of years by
    /// the day has a hundred megabytes.
    mutating func giveAway(to take: ([UInt8]) throws -> Void) rethrows {
        guard count >= 1 << 16 else { return }
        try take(self)
        removeAll(keepingCapacity: true)
    }

    /// A text as JSON has it.
    fileprivate mutating func append(json text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case UInt8(ascii: "\n"): self += "\\n".utf8
            case UInt8(ascii: "\r"): self += "\\r".utf8
            case UInt8(ascii: "\t"): self += "\\t".utf8
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                self += "\\u00".utf8
                append(digits[Int(byte >> 4)])
                append(digits[Int(byte & 15)])
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// A list with one element a line.
    fileprivate mutating func appendList<Item>(
        _ elements: [Item],
        _ write: (Item, inout [UInt8]) throws -> Void
    ) rethrows {
        append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            self += (index > 0 ? ",\n    " : "\n    ").utf8
            try write(element, &self)
        }
        self += (elements.isEmpty ? "]" : "\n  ]").utf8
    }
}
