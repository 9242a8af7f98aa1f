import Foundation

/// The words of the SDK's views, in the language of the view they are in.
struct Texts: Sendable {
    /// The languages that there are words in; the first is used for all others.
    static let languages = ["en", "ja"]

    private let bundle: Bundle

    /// The words for `locale`, from the SDK's own resources.
    init(_ locale: Locale) { self.init(locale, resources: Self.resources) }

    /// The SDK's own resources.
    static var resources: Bundle { .module }

    init(_ locale: Locale, resources: Bundle) {
        let language = locale.identifier.prefix { $0 != "_" && $0 != "-" }.lowercased()
        let known = Self.languages.contains(language) ? language : Self.languages[0]
        bundle =
            resources.path(forResource: known, ofType: "lproj").flatMap { Bundle(path: $0) }
            ?? resources
    }

    /// The words under `key`.
    subscript(key: Key) -> String {
        bundle.localizedString(forKey: key.rawValue, value: nil, table: nil)
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
        case gateChecking = "gate.checking"
        case gateFailed = "gate.failed"
        case portalClose = "portal.close"
        case portalFailed = "portal.failed"
        case portalLoading = "portal.loading"
        case portalSignIn = "portal.sign_in"
        case problemExplanation = "problem.explanation"
        case problemMend = "problem.mend"
        case problemTitle = "problem.title"
    }
}
