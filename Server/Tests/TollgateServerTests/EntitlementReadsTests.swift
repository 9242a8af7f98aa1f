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
        ).map(String.init)
    }

    @Test("The plain question for a customer's entitlements is")
    func plain() {
        #expect(Self.asked("/v1/customers/cus_1Ab-2/entitlements") == "cus_1Ab-2")
    }

    @Test(
        "Whatever is out of the ordinary is left to the route",
        arguments: [
            "/v1/customers/cus_1/entitlements?at=1", "/v1/customers/cus_1/entitlements?",
            "/v1/customers/cus_1/entitlements/", "/v1/customers//entitlements",
            "/v1/customers/a%2Fb/entitlements", "/v1/customers/a/b/entitlements",
            "/v1/customers/cus_1/coins", "/v1/customers/entitlements", "/v1/customers/", "", "*",
            "/v1/customers/../entitlements", "/V1/customers/cus_1/entitlements",
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
        #expect(Self.asked(path, .get, [.connection: "close"]) == nil)
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
