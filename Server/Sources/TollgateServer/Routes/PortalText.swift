internal import Foundation
internal import Reports
internal import TollgateCore
internal import TollgateService

/// The portal's words in the language of whoever looks at it.
struct PortalText: Sendable {
    let words: Words
    private let formats: Formats

    init(_ language: Language) {
        words = Words.of(language)
        formats = Formats(language: language)
    }

    /// `1 December 2026`, `2026年12月1日`, in UTC.
    func day(_ instant: Instant) -> String {
        guard words.language == .english else { return formats.day(instant) }
        let parts = instant.description.prefix(10).split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), (1...12).contains(month),
            let day = Int(parts[2])
        else { return String(instant.description.prefix(10)) }
        return "\(day) \(Self.months[month - 1]) \(parts[0])"
    }

    /// `14:03 UTC`.
    func time(_ instant: Instant) -> String {
        instant.description.drop { $0 != "T" }.dropFirst().prefix(5) + " UTC"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// `$9.99 a month`, `$9.99/月`.
    func price(_ price: Catalog.Product.Price, every interval: String?) -> String {
        let amount = formats.money(price.amount, price.currency)
        guard let interval else { return amount }
        return words.table["portal_every_\(interval)"].map { _ in
            words("portal_every_\(interval)", ["price": amount])
        } ?? amount
    }

    /// What happened to something bought, in one line.
    func sentence(_ state: PortalState) -> String {
        func dated(_ key: String, _ instant: Instant) -> String {
            words(key, ["date": day(instant)])
        }
        return switch state {
        case .renews(let instant): dated("portal_renews", instant)
        case .endsAt(let instant): dated("portal_ends", instant)
        case .ended(let instant): dated("portal_ended", instant)
        case .trial(let until): dated("portal_trial", until)
        case .paymentFailed(let until?): dated("portal_failed_until", until)
        case .paymentFailed(nil): words["portal_failed"]
        case .paused: words["portal_paused"]
        case .forever: words["portal_forever"]
        case .startsLater: words["portal_later"]
        case .bought(let instant): dated("portal_bought", instant)
        case .refunded(let day, nil): dated("portal_refunded", day)
        case .refunded(let day, let next?):
            words(
                "portal_refunded_renews",
                ["date": self.day(day), "next": self.day(next)]
            )
        case .processing: words["portal_processing"]
        case .notPaid: words["portal_not_paid"]
        case .inactive: words["portal_inactive"]
        }
    }

    /// How it stands, in a word or two.
    func badge(_ purchase: PortalView.Purchase) -> String {
        switch purchase.state {
        case .refunded: words["portal_badge_refunded"]
        case .paymentFailed: words["portal_badge_failed"]
        case .notPaid: words["portal_badge_not_paid"]
        case .processing: words["portal_badge_processing"]
        case .paused: words["portal_badge_paused"]
        default: words[purchase.isActive ? "portal_badge_active" : "portal_badge_inactive"]
        }
    }

    /// The next charge of a plan, with its amount where it is known; `nil` of what is no plan.
    func nextCharge(_ purchase: PortalView.Purchase) -> String? {
        guard purchase.kind == .plan else { return nil }
        guard let next = purchase.nextCharge else {
            switch purchase.state {
            case .endsAt, .ended: return words["portal_no_charge"]
            default: return nil
            }
        }
        let price = next.price.map { formats.money($0.amount, $0.currency) }
        let place = (words.language == .english ? purchase.inShop : purchase.shop) ?? ""
        let key =
            (next.awaitsConsent ? "portal_consent" : "portal_next")
            + (price == nil ? "_date" : "")
        return words(key, ["date": day(next.at), "price": price ?? "", "place": place])
    }

    /// For the query of an address.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
