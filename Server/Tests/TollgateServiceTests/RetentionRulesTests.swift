import AppStoreConnector
import Foundation
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService

@Suite("The table of retention messages")
struct RetentionRulesTests {
    private static let message = "0b6c93f2-4f5e-4a53-9d60-8c7a3ad0f1aa"

    private static func catalog() throws -> TollgateCore.Catalog {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../..")
        return try CatalogReader.read(
            bytes: Data(contentsOf: root.appendingPathComponent("catalog.yaml"))
        )
    }

    private static func read(_ text: String) throws -> [RetentionRule] {
        try RetentionRules.read(
            bytes: Array(text.utf8),
            file: "retention.yaml",
            catalog: try catalog()
        )
    }

    @Test("Rules are read in their order, products by either of their ids")
    func rules() throws {
        let rules = try Self.read(
            """
            retention_messages:
              - environment: sandbox
                product: pro_monthly
                locale: en-US
                message: \(Self.message)
                switch_to: com.example.app.pro.yearly
              - product: pro_monthly
                message: \(Self.message)
                offer: come_back
              - message: \(Self.message)
            """
        )
        let message = try #require(UUID(uuidString: Self.message))
        #expect(
            rules == [
                RetentionRule(
                    environment: .sandbox,
                    product: "com.example.app.pro.monthly",
                    locale: "en-US",
                    message: message,
                    choice: .alternateProduct("com.example.app.pro.yearly")
                ),
                RetentionRule(
                    product: "com.example.app.pro.monthly",
                    message: message,
                    choice: .promotionalOffer("come_back", product: nil)
                ), RetentionRule(message: message),
            ]
        )
    }

    @Test(
        "What makes no sense is told with its place",
        arguments: [
            ("  - locale: en-US", "has no ‘message’"),
            ("  - message: hello", "is not a UUID"),
            ("  - message: \(message)\n    product: pro_montly", "did you mean ‘pro_monthly’"),
            ("  - message: \(message)\n    ofer: come_back", "has no key ‘ofer’"),
            ("  - message: \(message)\n    offer: unheard_of", "no offer ‘unheard_of’"),
            ("  - message: \(message)\n    offer_product: pro_monthly", "needs an ‘offer’"),
            (
                "  - message: \(message)\n    offer: come_back\n    switch_to: pro_yearly",
                "keep one"
            ), ("  - message: \(message)\n    environment: xcode", "is no ‘environment’"),
        ]
    )
    func mistakes(_ lines: String, _ words: String) throws {
        let errors = #expect(throws: CatalogErrors.self) {
            try Self.read("retention_messages:\n" + lines)
        }
        let text = errors?.description ?? ""
        #expect(text.contains(words) && text.hasPrefix("retention.yaml:"), "\(text)")
    }
}
