internal import Reports

/// How people who read a language write numbers and money.
struct NumberStyle: Sendable {
    var group = ","
    var point = "."
    /// True where the currency stands after the amount.
    var isCurrencyLast = false
    /// What people write for a currency instead of its code.
    var signs = ["USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"]

    static let english = NumberStyle()
    static let japanese = english.with("JPY", "￥")

    func with(_ currency: String, _ sign: String?) -> NumberStyle {
        var style = self
        style.signs[currency] = sign
        return style
    }

    /// `1,234,567`.
    func grouped(_ value: UInt64) -> String {
        let digits = String(value)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += group }
            text.append(digit)
        }
        return text
    }

    /// Money in the minor units of its currency: `$9.99`, `9,99 €`.
    func money(_ minor: Int64, _ currency: String) -> String {
        let code = currency.uppercased()
        let decimals = Reports.Currency.decimals(of: code)
        let divisor = (0..<decimals).reduce(UInt64(1)) { value, _ in value * 10 }
        var amount = grouped(minor.magnitude / divisor)
        if decimals > 0 {
            let rest = String(minor.magnitude % divisor)
            amount += point + String(repeating: "0", count: decimals - rest.count) + rest
        }
        let minus = minor < 0 ? "−" : ""
        if isCurrencyLast { return "\(minus)\(amount)\u{A0}\(signs[code] ?? code)" }
        return signs[code].map { "\(minus)\($0)\(amount)" } ?? "\(minus)\(amount) \(code)"
    }
}
