internal import Foundation
internal import Reports
internal import TollgateCore
internal import TollgateService

/// Words for people.
enum PortalText {
    /// `1 December 2026`, in UTC.
    static func day(_ instant: Instant) -> String {
        let parts = instant.description.prefix(10).split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), (1...12).contains(month),
            let day = Int(parts[2])
        else { return String(instant.description.prefix(10)) }
        return "\(day) \(months[month - 1]) \(parts[0])"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// `$9.99 a month`.
    static func price(_ price: Catalog.Product.Price, every interval: String?) -> String {
        let sign = price.amount < 0 ? "−" : ""
        let magnitude = price.amount.magnitude
        let amount: String
        switch Reports.Currency.decimals(of: price.currency.uppercased()) {
        case 0: amount = "\(magnitude)"
        case let count:
            let divisor = count == 3 ? UInt64(1000) : 100
            let rest = String(magnitude % divisor)
            amount =
                "\(magnitude / divisor)."
                + String(repeating: "0", count: count - rest.count) + rest
        }
        let text =
            switch price.currency.lowercased() {
            case "usd": "\(sign)$\(amount)"
            case "eur": "\(sign)€\(amount)"
            case "gbp": "\(sign)£\(amount)"
            case "jpy": "\(sign)¥\(amount)"
            default: "\(sign)\(amount) \(price.currency.uppercased())"
            }
        return interval.map { "\(text) a \($0)" } ?? text
    }

    /// For the query of an address.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension PortalState {
    /// One line of the portal.
    var sentence: String {
        switch self {
        case .renews(let instant): "Renews on \(PortalText.day(instant))"
        case .endsAt(let instant): "Ends on \(PortalText.day(instant))"
        case .ended(let instant): "Ended on \(PortalText.day(instant))"
        case .trial(let until): "Free trial until \(PortalText.day(until))"
        case .paymentFailed(let until?):
            "The last payment failed. You keep access until \(PortalText.day(until))."
        case .paymentFailed(nil): "The last payment failed, so it is not active."
        case .paused: "Paused"
        case .forever: "Yours for good"
        case .startsLater: "Starts later"
        case .bought(let instant): "Bought on \(PortalText.day(instant))"
        case .refunded(let day, nil): "Refunded on \(PortalText.day(day))"
        case .refunded(let day, let next?):
            "Refunded on \(PortalText.day(day)). Renews on \(PortalText.day(next))."
        case .processing: "The payment is being processed"
        case .notPaid: "Not bought: the checkout was not finished"
        case .inactive: "Not active"
        }
    }
}
