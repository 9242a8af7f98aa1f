internal import Foundation
internal import Stores
internal import TollgateCore
internal import TollgateService

/// The texts of customers' pages and emails in one language.
struct PortalText: Sendable {
    let language: CustomerLanguage
    let words: Words

    init(_ language: CustomerLanguage) {
        self.language = language
        words = Words.of(language)
    }

    /// `1 December 2026`, `1. Dezember 2026`, `2026年12月1日`, in UTC.
    func day(_ instant: Instant) -> String {
        let text = String(instant.description.prefix(10))
        let parts = text.split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), (1...12).contains(month),
            let day = Int(parts[2])
        else { return text }
        let year = parts[0]
        return switch language {
        case .english: "\(day) \(Self.english[month - 1]) \(year)"
        case .german: "\(day). \(Self.german[month - 1]) \(year)"
        case .spanish: "\(day) de \(Self.spanish[month - 1]) de \(year)"
        case .french: "\(day == 1 ? "1er" : "\(day)") \(Self.french[month - 1]) \(year)"
        case .japanese, .chinese: "\(year)年\(month)月\(day)日"
        case .korean: "\(year)년 \(month)월 \(day)일"
        }
    }

    /// `14:03 UTC`.
    func time(_ instant: Instant) -> String {
        instant.description.drop { $0 != "T" }.dropFirst().prefix(5) + " UTC"
    }

    private static let english = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]
    private static let german = [
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
        "Oktober", "November", "Dezember",
    ]
    private static let spanish = [
        "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
        "octubre", "noviembre", "diciembre",
    ]
    private static let french = [
        "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",
        "octobre", "novembre", "décembre",
    ]

    /// `$9.99`, `9,99 $`.
    func money(_ price: Catalog.Product.Price) -> String {
        let style: NumberStyle =
            switch language {
            case .english: .english
            case .german, .spanish: NumberStyle(group: ".", point: ",", isCurrencyLast: true)
            case .french: NumberStyle(group: "\u{202F}", point: ",", isCurrencyLast: true)
            case .japanese: .japanese
            case .korean: .english.with("KRW", "₩")
            // The sign of the yen is that of the yuan, too.
            case .chinese: .english.with("CNY", "¥").with("JPY", nil)
            }
        return style.money(price.amount, price.currency)
    }

    /// Several names in a sentence: `the App Store and Google Play`.
    func list(_ names: [String]) -> String {
        let separator =
            switch language {
            case .english: " and "
            case .german: " und "
            case .spanish: " y "
            case .french: " et "
            case .korean: ", "
            case .japanese: "・"
            case .chinese: "、"
            }
        return names.joined(separator: separator)
    }

    /// A store in a sentence: English has it with its preposition, `in the App Store`.
    func place(_ purchase: PortalView.Purchase) -> String {
        (language == .english ? purchase.inShop : purchase.shop) ?? ""
    }

    /// `$9.99 a month`, `$9.99/月`.
    func price(_ price: Catalog.Product.Price, every interval: String?) -> String {
        let amount = money(price)
        guard let interval else { return amount }
        return words.table["portal_every_\(interval)"].map { _ in
            words("portal_every_\(interval)", ["price": amount])
        } ?? amount
    }

    /// What happened to something bought, in one line.
    func sentence(_ state: PurchaseStanding.State) -> String {
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
        switch purchase.standing.state {
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
        guard let next = purchase.standing.nextCharge else {
            switch purchase.standing.state {
            case .endsAt, .ended: return words["portal_no_charge"]
            default: return nil
            }
        }
        let price = next.price.map { money($0) }
        let key =
            (next.awaitsConsent ? "portal_consent" : "portal_next")
            + (price == nil ? "_date" : "")
        return words(
            key,
            ["date": day(next.at), "price": price ?? "", "place": place(purchase)]
        )
    }

    /// For the query of an address.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
