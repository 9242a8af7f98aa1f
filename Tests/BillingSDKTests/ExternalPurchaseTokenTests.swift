import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct ExternalPurchaseTokenTests {
    private func token(_ json: String) -> ExternalPurchaseToken {
        ExternalPurchaseToken(value: Base64URL.encode(Data(json.utf8)))
    }

    @Test func theTokenSaysWhatIsToBeReported() {
        let token = token(
            """
            {"appAppleId":1234567890,"bundleId":"com.example","tokenCreationDate":1706169600000,
            "externalPurchaseId":"SANDBOX_1","tokenType":"SERVICES","tokenExpirationDate":1737705600000}
            """
        )
        #expect(token.externalPurchaseID == "SANDBOX_1" && token.kind == .services)
        #expect(token.createdAt == Date(timeIntervalSince1970: 1_706_169_600))
        #expect(token.expiresAt == Date(timeIntervalSince1970: 1_737_705_600))
    }

    /// The token in Apple's page on `ExternalPurchaseLink.open(url:)`.
    @Test func theTokenOfALinkHasNoKindAndNoEnd() {
        let token = ExternalPurchaseToken(
            value:
                "ewoJImFwcEFwcGxlSWQiOjEyMzQ1Njc4OTAsCgkiYnVuZGxlSWQiOiJjb20uZXhhbXBsZSIsCgkidG9r"
                + "ZW5DcmVhdGlvbkRhdGUiOjE3MDYxNjk2MDAwMDAsCgkiZXh0ZXJuYWxQdXJjaGFzZUlkIjoiMDAwMDAwMDAt"
                + "MDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAwIgp9"
        )
        #expect(token.externalPurchaseID == "00000000-0000-0000-0000-000000000000")
        #expect(token.kind == nil && token.expiresAt == nil)
        #expect(token.createdAt == Date(timeIntervalSince1970: 1_706_169_600))
    }

    @Test(arguments: ["", "not a token", "e30", "bm8", "e30="])
    func whatCannotBeReadIsHandedOverAsItIs(_ value: String) {
        let token = ExternalPurchaseToken(value: value)
        #expect(token.value == value && token.externalPurchaseID == nil && token.kind == nil)
    }

    @Test func logsDoNotShowTheToken() {
        let token = token(#"{"externalPurchaseId":"00000000-1","tokenType":"ACQUISITION"}"#)
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(text.contains("ACQUISITION"))
            #expect(!text.contains(token.value) && !text.contains("00000000-1"))
        }
    }
}
