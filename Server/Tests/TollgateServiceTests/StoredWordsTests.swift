import AppStoreConnector
import Foundation
import Stores
import Testing
import TollgateAPI
import TollgateCore

@Suite("Words that stand in databases stay as they are")
struct StoredWordsTests {
    private static let customer = """
        {"app_account_token":"7e3fb20b-4cdb-47cc-936d-99d65f608138","app_user_id":"reader",\
        "consumption_consent":false,"created":1767225600000,"email":null,"id":"cus_1","metadata":{}}
        """

    @Test(
        "A customer's id at Stripe is kept under stripeCustomer, and left out where there is none"
    )
    func profile() throws {
        let stored: [(String, [Store: String])] = [
            (
                "{\"customer\":\(Self.customer),\"stripeCustomer\":\"cus_9\"}",
                [.stripe: "cus_9"]
            ),
            ("{\"customer\":\(Self.customer)}", [:]),
        ]
        for (text, ids) in stored {
            let profile = try APIJSON.decode(Profile.self, from: Data(text.utf8))
            #expect(profile.customer.appUserID == "reader")
            #expect(profile.storeCustomers == ids)
            #expect(String(decoding: try APIJSON.encode(profile), as: UTF8.self) == text)
        }
    }

    @Test("A question's kind is coded as its word alone, whichever room defines it")
    func question() throws {
        let questions = [
            Wanted(kind: .appAccountToken, object: "1"), Wanted(kind: .payment, object: "2"),
        ]
        let text =
            #"[{"kind":"app_account_token","object":"1"},{"kind":"payment","object":"2"}]"#
        #expect(String(decoding: try APIJSON.encode(questions), as: UTF8.self) == text)
        #expect(try APIJSON.decode([Wanted].self, from: Data(text.utf8)) == questions)
    }
}
