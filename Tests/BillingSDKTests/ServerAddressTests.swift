import Foundation
import Testing

@testable import BillingSDK

@Suite struct ServerAddressTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var key = "pk_test_1"
        var url: String?
        var infoPlist: String?
        var environment: String?
        /// Nil: refused.
        var expected: String?
    }

    static let cases = [
        Case(
            testDescription: "the argument wins",
            url: "https://a.example/",
            infoPlist: "https://b.example",
            environment: "https://c.example",
            expected: "https://a.example"
        ),
        Case(
            testDescription: "then Info.plist",
            infoPlist: "https://b.example/base",
            environment: "https://c.example",
            expected: "https://b.example/base"
        ),
        Case(
            testDescription: "then the environment",
            environment: "https://c.example",
            expected: "https://c.example"
        ),
        Case(
            testDescription: "then this machine, with a test key",
            expected: "http://127.0.0.1:8080"
        ),
        Case(testDescription: "a live key has no default", key: "pk_live_1"),
        Case(
            testDescription: "a secret key is refused",
            key: "sk_test_1",
            url: "https://a.example"
        ),
        Case(testDescription: "an empty key is refused", key: "", url: "https://a.example"),
        Case(
            testDescription: "a live key in the clear is refused",
            key: "pk_live_1",
            url: "http://a.example"
        ),
        Case(
            testDescription: "a live key in the clear on this machine",
            key: "pk_live_1",
            url: "http://127.0.0.1:9000",
            expected: "http://127.0.0.1:9000"
        ),
        Case(testDescription: "no web address", url: "ftp://a.example"),
        Case(testDescription: "an address with a query", url: "https://a.example/?x=1"),
    ]

    @Test(arguments: cases)
    func theAddressIsFoundInTheDocumentedOrder(_ sample: Case) {
        let configuration = BillingSDK.Configuration(
            publishableKey: sample.key,
            maximumStaleEntitlementsDuration: 300,
            serverURL: sample.url.flatMap(URL.init(string:))
        )
        let found = try? ServerAddress.resolve(
            configuration,
            infoPlist: sample.infoPlist,
            environment: sample.environment
        )
        #expect(found?.base == sample.expected)
    }

    @Test func aMistakeIsThrownByTheFirstCallThatNeedsTheServer() async throws {
        let billing = BillingSDK(
            configuration: .init(
                publishableKey: "sk_test_oops",
                maximumStaleEntitlementsDuration: 300
            )
        )
        #expect(try await billing.getActiveEntitlements() == [])
        let error = await billingError { try await billing.getBuyButton(id: "b") }
        #expect(error?.name == "invalidConfiguration")
    }
}
