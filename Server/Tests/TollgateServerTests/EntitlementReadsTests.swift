import HTTPTypes
import Testing
import TollgateCore

@testable import TollgateServer

@Suite("What is answered where it is read")
struct EntitlementReadsTests {
    private static func asked(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        _ fields: HTTPFields = [:]
    ) -> String? {
        EntitlementReads.customer(
            askedBy: HTTPRequest(
                method: method,
                scheme: "http",
                authority: "x",
                path: path,
                headerFields: fields
            )
        )
    }

    @Test("The plain question for a customer's entitlements is")
    func plain() {
        #expect(Self.asked("/v1/customers/cus_1Ab-2/entitlements") == "cus_1Ab-2")
    }

    @Test(
        "So is one by an `app_user_id` of any form, and one that keeps the connection",
        arguments: [
            ("anna@example.com", "anna@example.com"), ("anna%40example.com", "anna@example.com"),
            ("a.b~c!$&'()*+,;=:@-_", "a.b~c!$&'()*+,;=:@-_"), ("%E2%82%AC%20%3f", "€ ?"),
            ("%zz", "%zz"), ("100%", "100%"), ("%FF", "%FF"), ("%00", "\0"), ("%2541", "%41"),
        ]
    )
    func appUserIDs(_ segment: String, _ id: String) {
        let path = "/v1/customers/\(segment)/entitlements"
        #expect(Self.asked(path) == id)
        for connection in ["keep-alive", "Keep-Alive"] {
            #expect(Self.asked(path, .get, [.connection: connection]) == id)
        }
    }

    @Test(
        "Whatever is out of the ordinary is left to the route",
        arguments: [
            "/v1/customers/cus_1/entitlements?at=1", "/v1/customers/cus_1/entitlements?",
            "/v1/customers/cus_1/entitlements/", "/v1/customers//entitlements",
            "/v1/customers/a%2Fb/entitlements", "/v1/customers/a/b/entitlements",
            "/v1/customers/cus_1/coins", "/v1/customers/entitlements", "/v1/customers/", "", "*",
            "/v1/customers/../entitlements", "/V1/customers/cus_1/entitlements",
            "/v1/customers/./entitlements", "/v1/customers/%2e%2E/entitlements",
            "/v1/customers/a#b/entitlements", "/v1/customers/a%2fb/entitlements",
            "/v1/customers/a b/entitlements", "/v1/customers/é/entitlements",
            "/v1/customers/a\\b/entitlements", "//v1/customers/a/entitlements",
        ]
    )
    func others(_ path: String) {
        #expect(Self.asked(path) == nil)
    }

    @Test("So are other methods, and who wants the connection closed")
    func otherRequests() {
        let path = "/v1/customers/cus_1/entitlements"
        for method in [HTTPRequest.Method.head, .post, .delete, .options] {
            #expect(Self.asked(path, method) == nil)
        }
        for connection in ["close", "keep-alive, close", "upgrade", "keep-alive, TE", ""] {
            #expect(Self.asked(path, .get, [.connection: connection]) == nil)
        }
    }

    @Test("The date of an answer is written as RFC 9110 has it, anew each second")
    func date() {
        var date = HTTPDate()
        let instant = Instant(seconds: 784_111_777)
        #expect(date.text(at: instant) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(date.text(at: instant.advanced(by: 999)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(date.text(at: instant.advanced(by: 1000)) == "Sun, 06 Nov 1994 08:49:38 GMT")
        #expect(
            date.text(at: Instant(seconds: 4_107_542_400)) == "Mon, 01 Mar 2100 00:00:00 GMT"
        )
        #expect(date.text(at: Instant(seconds: 0)) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}
