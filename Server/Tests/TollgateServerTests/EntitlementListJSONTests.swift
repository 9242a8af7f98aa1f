import Foundation
import NIOCore
import Testing
import TollgateAPI

@testable import TollgateServer

@Suite("The answer that most requests ask for")
struct EntitlementListJSONTests {
    @Test(
        "It is written as every other answer is",
        arguments: ["pro", "say \"pro\"", "back\\slash", "two\nlines\r\t\u{1}", "日本語 é", ""]
    )
    func same(_ name: String) throws {
        let list = API.EntitlementList(
            data: [
                API.Entitlement(
                    id: "ent_pro",
                    lookupKey: name,
                    feature: name,
                    since: -1,
                    until: nil,
                    ground: .payment,
                    purchase: nil
                ),
                API.Entitlement(
                    id: "ent_archive",
                    lookupKey: "archive",
                    feature: "Back issues",
                    since: 5,
                    until: 7,
                    ground: .renewal,
                    purchase: "app_store/sandbox/com.example.app/1"
                ),
            ],
            environment: .sandbox,
            at: 6,
            signedAnswer: name.isEmpty ? nil : "a.b.c"
        )
        let written = try APIJSON.decode(
            API.EntitlementList.self,
            from: Data(list.json.readableBytesView)
        )
        #expect(written == list)
        #expect(try APIJSON.encode(written) == APIJSON.encode(list))
    }
}
