import AppStoreAPI
import Testing

/// Notifications of version 1: what they name, and what version 2 calls it.
@Suite struct VersionOneTests {
    @Test func itNamesWhomToAskAbout() throws {
        let body = """
            {"notification_type":"DID_RENEW","password":"00ff","environment":"PROD",
            "bid":"com.example.app","original_transaction_id":1000000000000001,
            "unified_receipt":{"latest_receipt_info":[{"transaction_id":"7"},{"transaction_id":8},
            {"transaction_id":"../x"},{}]}}
            """
        let notification = try #require(AppStore.VersionOneNotification(Array(body.utf8)))
        #expect(notification.password == "00ff")
        #expect(notification.environment == .production)
        #expect(notification.bundleID == "com.example.app")
        #expect(notification.originalTransactionID == "1000000000000001")
        #expect(notification.transactionIDs == ["7", "8"])
        #expect(notification.anyTransactionID == "1000000000000001")
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"notification_type\":1}",
        "{\"notification_type\":\"REFUND\",\"signedPayload\":\"a.b.c\"}",
        "{\"notification_type\":\"REFUND\",\"notification_type\":\"CANCEL\"}",
    ])
    func whatIsNoneIsNone(_ body: String) {
        #expect(AppStore.VersionOneNotification(Array(body.utf8)) == nil)
    }

    @Test(
        arguments: [
            ("INITIAL_BUY", ["SUBSCRIBED"]),
            (
                "INTERACTIVE_RENEWAL",
                ["SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "OFFER_REDEEMED"]
            ),
            ("DID_RENEW", ["DID_RENEW"]), ("DID_RECOVER", ["DID_RENEW"]),
            ("RENEWAL", ["DID_RENEW"]), ("DID_FAIL_TO_RENEW", ["DID_FAIL_TO_RENEW"]),
            ("DID_CHANGE_RENEWAL_PREF", ["DID_CHANGE_RENEWAL_PREF"]),
            ("DID_CHANGE_RENEWAL_STATUS", ["DID_CHANGE_RENEWAL_STATUS", "EXPIRED"]),
            ("PRICE_INCREASE_CONSENT", ["PRICE_INCREASE"]), ("CANCEL", ["REFUND"]),
            ("REFUND", ["REFUND"]), ("REVOKE", ["REVOKE"]),
            ("CONSUMPTION_REQUEST", ["CONSUMPTION_REQUEST"]), ("SOMETHING_NEW", []),
        ]
    )
    func itsTypesHaveNamesInVersionTwo(old: String, new: [String]) throws {
        let body = "{\"notification_type\":\"\(old)\"}"
        let notification = try #require(AppStore.VersionOneNotification(Array(body.utf8)))
        #expect(notification.versionTwoTypes.map(\.rawValue) == new)
    }
}
