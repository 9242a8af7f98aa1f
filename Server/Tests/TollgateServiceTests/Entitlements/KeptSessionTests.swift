import Foundation
import Testing
import TollgateAPI
import TollgateCore

@testable import TollgateService

@Suite("Customer sessions as they are kept")
struct KeptSessionTests {
    @Test("What is written is read again, whichever components and app a session has")
    func same() throws {
        for bits in 0..<8 {
            for app in [nil, "reader", "say \"é\""] as [String?] {
                let session = CustomerSession(
                    customer: Customer.ID("cus_tg_\(bits)"),
                    environment: bits.isMultiple(of: 2) ? .sandbox : .production,
                    components: API.SessionComponents(
                        buyButton: .init(enabled: bits & 1 > 0),
                        activeEntitlements: .init(enabled: bits & 2 > 0),
                        customerPortal: .init(enabled: bits & 4 > 0)
                    ),
                    app: app,
                    created: Int64(bits),
                    expiresAt: .max
                )
                let kept = try APIJSON.encode(session)
                #expect(try CustomerSession(kept: Array(kept)) == session)
                #expect(try APIJSON.decode(CustomerSession.self, from: kept) == session)
            }
        }
    }

    @Test(
        "Components that are missing or null are disabled, as a decoder has it",
        arguments: ["{}", #"{"buy_button":null}"#, #"{"customer_portal":{"enabled":true}}"#]
    )
    func missing(_ components: String) throws {
        let text = Self.text.replacing("COMPONENTS", with: components)
        let decoded = try APIJSON.decode(CustomerSession.self, from: Data(text.utf8))
        #expect(try CustomerSession(kept: Array(text.utf8)) == decoded)
    }

    @Test(
        "What a decoder refuses is refused",
        arguments: [
            ("\"cus_tg_1\"", "1"), ("\"cus_tg_1\"", "null"), ("\"sandbox\"", "\"xcode\""),
            ("COMPONENTS", "[]"), ("COMPONENTS", "null"), ("COMPONENTS", #"{"buy_button":true}"#),
            ("COMPONENTS", #"{"buy_button":{}}"#), ("COMPONENTS", #"{"buy_button":{"enabled":1}}"#),
            ("\"created\":1", "\"created\":\"1\""), ("\"created\":1", "\"created\":1.5"),
            ("\"created\":1,", ""), ("\"expiresAt\":2", "\"expires\":2"),
            ("\"expiresAt\":2", "\"expiresAt\":99999999999999999999"),
            ("\"app\":\"reader\"", "\"app\":1"), ("}", ""), ("{", ""),
        ]
    )
    func refused(_ part: String, _ other: String) throws {
        var text = Self.text
        let range = try #require(text.range(of: part))
        text.replaceSubrange(range, with: other)
        text.replace("COMPONENTS", with: "{}")
        #expect(throws: (any Error).self) {
            try APIJSON.decode(CustomerSession.self, from: Data(text.utf8))
        }
        #expect(throws: (any Error).self) { try CustomerSession(kept: Array(text.utf8)) }
    }

    private static let text =
        #"{"app":"reader","components":COMPONENTS,"created":1,"customer":"cus_tg_1","#
        + #""environment":"sandbox","expiresAt":2}"#
}
