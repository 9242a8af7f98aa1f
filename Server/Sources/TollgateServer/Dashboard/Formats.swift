internal import Foundation
internal import Reports
internal import TollgateCore

/// How a language writes numbers, money and dates.
///
/// Times are those of the stores, in UTC; the browser's clock plays no part.
struct Formats: Sendable {
    let language: Language

    /// A whole number: `1,234,567`.
    func number(_ value: Int64) -> String {
        (value < 0 ? "−" : "") + style.grouped(value.magnitude)
    }

    /// A difference: `+10`, `−3`.
    func change(_ value: Int64) -> String {
        value > 0 ? "+\(number(value))" : number(value)
    }

    /// Money in the minor units of its currency: `$9.99`, `￥1,200`.
    func money(_ minor: Int64, _ currency: String) -> String {
        style.money(minor, currency)
    }

    /// Money of a store's books: `$1,234.50`; of a price for each unit maybe `$2.997`.
    func money(_ money: Finance.Money) -> String {
        let sign = money.millionths < 0 ? "−" : ""
        let digits = money.decimal.drop { $0 == "-" }
        let whole = digits.prefix { $0 != "." }
        let grouped = UInt64(whole).map { style.grouped($0) } ?? String(whole)
        let amount = grouped + digits.dropFirst(whole.count)
        return symbol(of: money.currency).map { "\(sign)\($0)\(amount)" }
            ?? "\(sign)\(amount) \(money.currency)"
    }

    /// Money as programs read it: `-9.99`.
    func plain(_ minor: Int64, _ currency: String) -> String {
        let decimals = decimals(of: currency)
        let divisor = (0..<decimals).reduce(UInt64(1)) { value, _ in value * 10 }
        let sign = minor < 0 ? "-" : ""
        let whole = "\(sign)\(minor.magnitude / divisor)"
        guard decimals > 0 else { return whole }
        let rest = String(minor.magnitude % divisor)
        return whole + "." + String(repeating: "0", count: decimals - rest.count) + rest
    }

    /// `$`; `nil` where people write the code.
    func symbol(of currency: String) -> String? {
        style.signs[currency.uppercased()]
    }

    /// How many decimals people write.
    func decimals(of currency: String) -> Int {
        Reports.Currency.decimals(of: currency.uppercased())
    }

    private var style: NumberStyle {
        switch language {
        case .english: .english
        case .japanese: .japanese
        }
    }

    /// A day: `1 Dec 2026`, `2026年12月1日`.
    func day(_ instant: Instant) -> String {
        let parts = instant.description.prefix { $0 != "T" }.split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), (1...12).contains(month),
            let day = Int(parts[2])
        else { return instant.description }
        switch language {
        case .english: return "\(day) \(Self.months[month - 1]) \(parts[0])"
        case .japanese: return "\(parts[0])年\(month)月\(day)日"
        }
    }

    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A minute of a day: `1 Dec 2026, 14:03`.
    func moment(_ instant: Instant) -> String {
        let time = instant.description.drop { $0 != "T" }.dropFirst().prefix(5)
        switch language {
        case .english: return "\(day(instant)), \(time)"
        case .japanese: return "\(day(instant)) \(time)"
        }
    }

    /// A text that programs wrote, with a day or an instant as people write it.
    func readable(_ text: String) -> String {
        guard text.count == 10 || text.count == 20,
            let date = try? Date(
                text.count == 10 ? "\(text)T00:00:00Z" : text,
                strategy: .iso8601
            )
        else { return text }
        let instant = Instant(milliseconds: Int64(date.timeIntervalSince1970) * 1000)
        return text.count == 10 ? day(instant) : moment(instant)
    }

    /// A time as templates take it: for people and for machines.
    func time(_ instant: Instant) -> Model {
        ["text": moment(instant), "iso": instant.description]
    }
}
