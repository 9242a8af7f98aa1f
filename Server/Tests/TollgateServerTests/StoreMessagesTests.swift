import AppStoreConnector
import HTTPTypes
import Stores
import StripeConnector
import Testing

@testable import TollgateServer

@Suite("What stores report is taken in where it is read")
struct StoreMessagesTests {
    private static func told(
        _ path: String,
        _ fields: HTTPFields = [.contentLength: "19000"],
        _ method: HTTPRequest.Method = .post
    ) -> StoreWebhook? {
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "x",
            path: path,
            headerFields: fields
        )
        return [AppStoreConnector.webhook, StripeConnector.webhook].first {
            StoreMessages.isUsual(head, to: $0)
        }
    }

    @Test("The usual message of each store is")
    func usual() {
        #expect(Self.told("/webhooks/app_store") == AppStoreConnector.webhook)
        #expect(Self.told("/webhooks/stripe") == StripeConnector.webhook)
        for value in ["keep-alive", "Keep-Alive"] {
            let fields: HTTPFields = [.contentLength: "1", .connection: value]
            #expect(Self.told("/webhooks/stripe", fields) == StripeConnector.webhook)
        }
    }

    @Test(
        "Other addresses are left to the route",
        arguments: [
            "/webhooks/app_store?", "/webhooks/app_store?a=1", "/webhooks/app_store/",
            "/webhooks/app%5Fstore", "/webhooks//app_store", "/webhooks", "", "*",
            "/Webhooks/stripe", "/v1/customers",
        ]
    )
    func otherAddresses(_ path: String) {
        #expect(Self.told(path) == nil)
    }

    @Test("So are other methods")
    func otherMethods() {
        for method in [HTTPRequest.Method.get, .put, .head, .options, .delete] {
            #expect(Self.told("/webhooks/stripe", [.contentLength: "1"], method) == nil)
        }
    }

    @Test(
        "So is a body that is too large, or of which it is not said plainly where it ends",
        arguments: [
            [:], [.contentLength: ""], [.contentLength: "a"], [.contentLength: "-1"],
            [.contentLength: "131073"], [.contentLength: "99999999999999999999"],
            [.contentLength: "5, 5"], [.contentLength: "5", .transferEncoding: "chunked"],
            [.contentLength: "5", .contentEncoding: "gzip"],
            [.contentLength: "5", .expect: "100-continue"],
            [.contentLength: "5", .connection: "close"],
            [.contentLength: "5", .connection: "keep-alive, close"],
        ] as [HTTPFields]
    )
    func otherBodies(_ fields: HTTPFields) {
        #expect(Self.told("/webhooks/app_store", fields) == nil)
    }

    @Test("Apple's may have 128 KB, Stripe's 1 MB")
    func limits() {
        #expect(
            Self.told("/webhooks/app_store", [.contentLength: "131072"])
                == AppStoreConnector.webhook
        )
        #expect(
            Self.told("/webhooks/stripe", [.contentLength: "1048576"]) == StripeConnector.webhook
        )
        #expect(Self.told("/webhooks/stripe", [.contentLength: "1048577"]) == nil)
    }
}
