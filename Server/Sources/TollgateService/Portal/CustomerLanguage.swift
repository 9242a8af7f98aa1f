/// A language of the pages and emails for customers: those of BillingSDK.
package enum CustomerLanguage: String, CaseIterable, Sendable {
    case english = "en"
    case german = "de"
    case spanish = "es"
    case french = "fr"
    case japanese = "ja"
    case korean = "ko"
    case chinese = "zh-Hans"

    /// The language's name in itself.
    package var name: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        case .spanish: "Español"
        case .french: "Français"
        case .japanese: "日本語"
        case .korean: "한국어"
        case .chinese: "简体中文"
        }
    }

    /// The language of a tag, such as `de-AT`; `nil` where no text is in it.
    package init?(tag: String) {
        let parts = tag.lowercased().split { $0 == "-" || $0 == "_" }
        guard let code = parts.first,
            let language = Self.allCases.first(where: { $0.rawValue.prefix(2) == code })
        else { return nil }
        // Texts in simplified characters are not for readers of traditional ones.
        let traditional: Set<Substring> = ["hant", "tw", "hk", "mo"]
        if language == .chinese, !traditional.isDisjoint(with: parts) { return nil }
        self = language
    }
}
