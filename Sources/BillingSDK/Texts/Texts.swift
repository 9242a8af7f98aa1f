import Foundation

/// The words of the SDK's views, in the language of the view they are in.
struct Texts: Sendable {
    /// The languages that there are words in; the first is used for all others.
    static let languages = ["en", "ja", "de", "fr", "es", "ko", "zh-Hans"]

    /// The table in which an app keeps its own words for the SDK's views.
    static let appTable = "BillingSDK"

    private let bundle: Bundle
    /// The app's own words, which come first; nil where it has none for the language.
    private let own: Bundle?

    /// The words for `locale`: the app's, then those of the SDK's own resources.
    init(_ locale: Locale) { self.init(locale, resources: Self.resources, app: .main) }

    /// The SDK's own resources.
    static var resources: Bundle { .module }

    init(_ locale: Locale, resources: Bundle, app: Bundle? = nil) {
        let known = Self.language(of: locale.identifier)
        own = app.flatMap { app in
            Self.folders(for: locale.identifier).lazy
                .compactMap { app.path(forResource: $0, ofType: "lproj") }
                .compactMap { Bundle(path: $0) }
                .first { $0.path(forResource: Self.appTable, ofType: "strings") != nil }
        }
        // Xcode keeps the folder's name, the package manager's own build writes it in lower case.
        let folder =
            resources.path(forResource: known, ofType: "lproj")
            ?? resources.path(forResource: known.lowercased(), ofType: "lproj")
        bundle = folder.flatMap { Bundle(path: $0) } ?? resources
    }

    /// The language among ours for a locale such as `de_AT`, `zh-Hans_CN` or `zh_TW`.
    ///
    /// There are no words in traditional characters, so who reads these gets the first language: simplified
    /// ones are for those who name them, and for China and Singapore.
    static func language(of identifier: String) -> String {
        let parts = identifier.split { $0 == "_" || $0 == "-" }.map { $0.lowercased() }
        guard let first = parts.first else { return languages[0] }
        if first == "zh" {
            let isSimplified =
                parts.contains("hans")
                || (!parts.contains("hant")
                    && (parts.count == 1 || parts.contains("cn") || parts.contains("sg")))
            return isSimplified ? "zh-Hans" : languages[0]
        }
        return languages.contains(first) ? first : languages[0]
    }

    /// The names that an app's folder for a locale may have: for `pt_BR` `pt-BR`, then `pt`, then that of
    /// the language that the SDK speaks instead, `en`.
    static func folders(for identifier: String) -> [String] {
        var parts = identifier.split { $0 == "@" }.first?.split { $0 == "_" || $0 == "-" } ?? []
        var folders: [String] = []
        while !parts.isEmpty {
            folders.append(parts.joined(separator: "-"))
            parts.removeLast()
        }
        guard let language = folders.last else { return [] }
        let known = self.language(of: identifier)
        // Chinese is named by its script, also where the locale names only the country.
        let script = language != "zh" ? nil : known == "zh-Hans" ? known : "zh-Hant"
        for name in [script, known].compactMap(\.self) where !folders.contains(name) {
            folders.append(name)
        }
        return folders
    }

    /// The words under `key`.
    subscript(key: Key) -> String {
        if let text = own?.localizedString(forKey: key.rawValue, value: "", table: Self.appTable),
            !text.isEmpty, text != key.rawValue
        {
            return text
        }
        return bundle.localizedString(forKey: key.rawValue, value: nil, table: nil)
    }

    /// The words under `key` with its placeholders filled.
    func callAsFunction(_ key: Key, _ arguments: String...) -> String {
        arguments.enumerated().reduce(self[key]) { text, argument in
            text.replacingOccurrences(of: "%\(argument.offset + 1)$@", with: argument.element)
        }
    }

    /// Everything that is said.
    enum Key: String, CaseIterable {
        case buyButtonBuy = "buy_button.buy"
        case buyButtonFailed = "buy_button.failed"
        case buyButtonLabel = "buy_button.label"
        case buyButtonLoadFailed = "buy_button.load_failed"
        case buyButtonLoading = "buy_button.loading"
        case buyButtonNotAllowed = "buy_button.not_allowed"
        case buyButtonTryAgain = "buy_button.try_again"
        case buyButtonUnavailable = "buy_button.unavailable"
        case buyButtonWorking = "buy_button.working"
        case durationDay = "duration.day"
        case durationDays = "duration.days"
        case durationMonth = "duration.month"
        case durationMonths = "duration.months"
        case durationWeek = "duration.week"
        case durationWeeks = "duration.weeks"
        case durationYear = "duration.year"
        case durationYears = "duration.years"
        case gateChecking = "gate.checking"
        case gateFailed = "gate.failed"
        case offeringAlreadyActive = "offering.already_active"
        case offeringAwaitingServer = "offering.awaiting_server"
        case offeringFailed = "offering.failed"
        case offeringFree = "offering.free"
        case offeringNothingToRestore = "offering.nothing_to_restore"
        case offeringPending = "offering.pending"
        case offeringPrivacy = "offering.privacy"
        case offeringProduct = "offering.product"
        case offeringPurchased = "offering.purchased"
        case offeringReduced = "offering.reduced"
        case offeringRefused = "offering.refused"
        case offeringRenews = "offering.renews"
        case offeringRestore = "offering.restore"
        case offeringRestoreFailed = "offering.restore_failed"
        case offeringRestored = "offering.restored"
        case offeringTerms = "offering.terms"
        case offeringWorking = "offering.working"
        case portalClose = "portal.close"
        case portalFailed = "portal.failed"
        case portalLoading = "portal.loading"
        case portalSignIn = "portal.sign_in"
        case priceDay = "price.day"
        case priceDays = "price.days"
        case priceMonth = "price.month"
        case priceMonths = "price.months"
        case priceWeek = "price.week"
        case priceWeeks = "price.weeks"
        case priceYear = "price.year"
        case priceYears = "price.years"
        case problemExplanation = "problem.explanation"
        case problemMend = "problem.mend"
        case problemTitle = "problem.title"
        case purchaseConsent = "purchase.consent"
        case purchaseEnded = "purchase.ended"
        case purchaseEnds = "purchase.ends"
        case purchaseForever = "purchase.forever"
        case purchaseLoadFailed = "purchase.load_failed"
        case purchaseLoading = "purchase.loading"
        case purchaseManage = "purchase.manage"
        case purchaseNone = "purchase.none"
        case purchasePaused = "purchase.paused"
        case purchasePaymentFailed = "purchase.payment_failed"
        case purchaseProcessing = "purchase.processing"
        case purchaseRenews = "purchase.renews"
        case purchaseRenewsFor = "purchase.renews_for"
        case purchaseStartsLater = "purchase.starts_later"
        case purchaseTrial = "purchase.trial"
    }
}
