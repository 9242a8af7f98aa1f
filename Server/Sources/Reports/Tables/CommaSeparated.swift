/// A value in a file of comma-separated values (RFC 4180) that spreadsheets open.
enum CommaSeparated {
    /// The value, quoted where it must be.
    ///
    /// It goes by scalars: a quote or an equals sign with an accent upon it is one `Character` with
    /// it, and still ends a field, or begins a formula.
    static func field(_ value: String) -> String {
        // A cell that begins like a formula would be one in a spreadsheet; a number is a number.
        var text = value
        if let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first),
            !isNumber(text)
        {
            text = "'" + text
        }
        guard text.unicodeScalars.contains(where: isSpecial) else { return text }
        var quoted = "\"".unicodeScalars
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append("\"")
        return String(quoted)
    }

    /// Whether a value with it has to be quoted; whatever anybody takes for the end of a line, too.
    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ",", "\"", "\n"..."\r", "\u{85}", "\u{2028}", "\u{2029}": true
        default: false
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(text.utf8.first == UInt8(ascii: "-") ? 1 : 0)
        return !digits.isEmpty
            && digits.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
