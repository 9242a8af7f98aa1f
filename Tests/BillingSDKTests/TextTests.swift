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
