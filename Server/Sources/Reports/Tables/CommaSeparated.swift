/// A value in a file of comma-separated values (RFC 4180) that spreadsheets open.
enum CommaSeparated {
    /// The value, quoted where it must be.
    ///
    /// It goes by scalars: a quote or an equals sign with an accent upon it is one `Character` with
    /// it, and still ends a field, or begins a formula.
    static func field(_ value: String) -> String {
        let text = Formula.defused(value)
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
}

/// A value in a file of tab-separated values, as Apple writes its reports.
enum TabSeparated {
    /// The value, with a space for each tab and each end of a line.
    ///
    /// It goes by scalars: a tab with an accent upon it still ends a field.
    static func field(_ value: String) -> String {
        var plain = "".unicodeScalars
        for scalar in Formula.defused(value).unicodeScalars {
            switch scalar {
            case "\t"..."\r", "\u{85}", "\u{2028}", "\u{2029}": plain.append(" ")
            default: plain.append(scalar)
            }
        }
        return String(plain)
    }
}

/// A value that a spreadsheet would take for a formula, Japanese ones also in full width.
///
/// https://owasp.org/www-community/attacks/CSV_Injection
enum Formula {
    /// The value behind an apostrophe where it begins like a formula; a number is a number.
    static func defused(_ value: String) -> String {
        guard let first = value.unicodeScalars.first,
            "=+-@\t\r\n＝＋－＠".unicodeScalars.contains(first), !isNumber(value)
        else { return value }
        return "'" + value
    }

    private static func isNumber(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(text.utf8.first == UInt8(ascii: "-") ? 1 : 0)
        return !digits.isEmpty
            && digits.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
