import Foundation
import Testing

@testable import BillingSDK

@Suite struct TextTests {
    private static let resources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/BillingSDK/Resources")

    private func strings(_ language: String) throws -> [String: String] {
        let file = Self.resources.appendingPathComponent(language + ".lproj")
            .appendingPathComponent("Localizable.strings")
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: file),
            format: nil
        )
        return try #require(list as? [String: String])
    }

    @Test(arguments: Texts.languages)
    func everyLanguageHasExactlyTheKeysThatAreUsed(_ language: String) throws {
        #expect(try Set(strings(language).keys) == Set(Texts.Key.allCases.map(\.rawValue)))
    }

    @Test(arguments: Texts.languages)
    func everyLanguageHasThePlaceholdersOfTheFirst(_ language: String) throws {
        let first = try strings(Texts.languages[0])
        for (key, text) in try strings(language) {
            #expect(!text.isEmpty)
            for placeholder in ["%1$@", "%2$@", "%3$@"] {
                #expect(
                    text.contains(placeholder) == first[key]?.contains(placeholder),
                    "\(key) \(placeholder)"
                )
            }
        }
    }

    // MARK: - The String Catalog for apps

    private struct StringCatalog: Decodable {
        struct Entry: Decodable {
            struct Localization: Decodable {
                struct Unit: Decodable { var state, value: String }
                var stringUnit: Unit
            }
            var localizations: [String: Localization]
        }
        var sourceLanguage: String
        var strings: [String: Entry]
    }

    @Test func theStringCatalogHasEverySentenceInEveryLanguage() throws {
        let file = Self.resources.appendingPathComponent(
            "../../../Examples/Localization/BillingSDK.xcstrings"
        ).standardizedFileURL
        let catalog = try JSONDecoder().decode(StringCatalog.self, from: Data(contentsOf: file))
        #expect(catalog.sourceLanguage == Texts.languages[0])
        #expect(Set(catalog.strings.keys) == Set(Texts.Key.allCases.map(\.rawValue)))
        for language in Texts.languages {
            let used = try strings(language)
            for (key, entry) in catalog.strings {
                #expect(entry.localizations[language]?.stringUnit.value == used[key], "\(key)")
            }
        }
        for (key, entry) in catalog.strings {
            #expect(Set(entry.localizations.keys) == Set(Texts.languages), "\(key)")
        }
    }

    @Test func theAppsOwnWordsComeFirst() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("texts-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (language, word) in ["it": "Riprova", "de": "Noch einmal", "zh-Hans": "再试"] {
            let one = folder.appendingPathComponent(language + ".lproj")
            try FileManager.default.createDirectory(at: one, withIntermediateDirectories: true)
            try Data(#""buy_button.try_again" = "\#(word)";"#.utf8)
                .write(to: one.appendingPathComponent("BillingSDK.strings"))
        }
        let app = try #require(Bundle(path: folder.path))
        func said(_ key: Texts.Key, _ locale: String) -> String {
            Texts(Locale(identifier: locale), resources: Texts.resources, app: app)[key]
        }
        #expect(said(.buyButtonTryAgain, "it_IT") == "Riprova")
        #expect(said(.buyButtonTryAgain, "de_AT") == "Noch einmal")
        #expect(said(.buyButtonTryAgain, "zh_CN") == "再试")
        // What the app does not say, and languages that it lacks, are the SDK's.
        #expect(said(.portalClose, "it_IT") == "Close")
        #expect(said(.buyButtonTryAgain, "fr_FR") == "Réessayer")
        #expect(said(.buyButtonTryAgain, "zh_TW") == "Try again")
    }

    @Test(arguments: [
        ("pt_BR", ["pt-BR", "pt", "en"]), ("zh_CN", ["zh-CN", "zh", "zh-Hans"]),
        ("zh-Hant_TW", ["zh-Hant-TW", "zh-Hant", "zh", "en"]),
        ("zh_TW", ["zh-TW", "zh", "zh-Hant", "en"]), ("de_DE@currency=eur", ["de-DE", "de"]),
        ("", []),
    ])
    func anAppsFolderIsFoundByItsLocale(_ locale: String, _ folders: [String]) {
        #expect(Texts.folders(for: locale) == folders)
    }

    @Test func everyFolderOfLanguageIsKnown() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.resources.path)
            .filter { $0.hasSuffix(".lproj") }
        #expect(Set(folders) == Set(Texts.languages.map { $0 + ".lproj" }))
    }

    @Test(arguments: [
        ("en", "Try again"), ("en_GB", "Try again"), ("ja", "もう一度試す"), ("ja_JP", "もう一度試す"),
        ("ja-JP", "もう一度試す"), ("fr_CA", "Réessayer"), ("de_AT", "Erneut versuchen"),
        ("es_MX", "Volver a intentarlo"),
        ("ko_KR", "다시 시도"), ("zh-Hans_CN", "重试"), ("zh_CN", "重试"), ("zh_TW", "Try again"),
        ("zh-Hant_HK", "Try again"), ("", "Try again"), ("ar", "Try again"),
    ])
    func theLocaleDecides(_ locale: String, _ text: String) {
        #expect(Texts(Locale(identifier: locale))[.buyButtonTryAgain] == text)
    }

    @Test(arguments: [
        ("en_US", nil, "¥1,500 a month"), ("en_US", 3, "¥1,500 every 3 months"),
        ("de_DE", 1, "1.500\u{a0}¥ im Monat"), ("ja_JP", nil, "月額¥1,500"),
    ])
    func thePriceIsSaidWithItsPeriod(_ locale: String, _ count: Int?, _ text: String) {
        let button = BuyButton(
            id: "b",
            active: true,
            callToAction: nil,
            checkoutUrl: "",
            lineItemGroup: .init(amountTotal: "1500", currency: "jpy"),
            product: .init(
                id: "p",
                name: "P",
                appStoreProductID: nil,
                interval: "month",
                intervalCount: count
            ),
            client: TestApp().billing.client
        )
        let said = button.formattedPriceAndPeriod(locale: Locale(identifier: locale))
        // Japan's own locale writes the yen sign in full width.
        #expect(said?.replacingOccurrences(of: "\u{ffe5}", with: "¥") == text)
    }

    @Test func placeholdersAreFilled() {
        let texts = Texts(Locale(identifier: "en"))
        #expect(texts(.buyButtonLabel, "Buy", "100 coins", "¥1") == "Buy, 100 coins, ¥1")
    }
}
