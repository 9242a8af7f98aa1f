// SPDX-License-Identifier: Apache-2.0
import GooglePlayAPI
import Stores
import StrictJSON
import Testing
import TollgateCore

@testable import GooglePlayConnector

/// The price of the next renewal: https://developer.android.com/google/play/billing/price-changes.
@Suite("New prices of Google Play's plans")
struct PlayPriceTests {
    /// The item of a read in which the plan has this and renews on 1 July for 9.99 dollars.
    private static func item(_ plan: String) throws -> GooglePlaySubscription.Item {
        let read = """
            {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"2026-06-01T00:00:00Z",
             "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
             "lineItems":[{"productId":"pro","expiryTime":"2026-07-01T00:00:00Z","autoRenewingPlan":
               {"autoRenewEnabled":true,"recurringPrice":
                 {"currencyCode":"USD","units":"9","nanos":990000000},\(plan)}}]}
            """
        let meaning = GooglePlayTranslator.message(
            reading: try GooglePlay.SubscriptionPurchase(JSON(Array(read.utf8))),
            token: "token",
            of: "com.example.app",
            at: Instant(milliseconds: 1_781_000_000_000)
        )
        guard case .facts(let facts, _) = meaning,
            case .googlePlaySubscription(let subscription)? = facts.first?.statement
        else { throw Unread() }
        return try #require(subscription.items.first)
    }

    private struct Unread: Error {}

    private static let price = #""newPrice":{"currencyCode":"USD","units":"14"}"#

    @Test(
        "A change counts from its first charge on, an increase waits for its consent",
        arguments: [
            ("PRICE_INCREASE", "OUTSTANDING", "07-01", 14_000_000, true),
            ("PRICE_INCREASE", "CONFIRMED", "07-01", 14_000_000, false),
            ("PRICE_INCREASE", "OUTSTANDING", "08-01", 9_990_000, false),
            ("OPT_OUT_PRICE_INCREASE", "CONFIRMED", "07-01", 14_000_000, false),
            ("PRICE_INCREASE", "CANCELED", "07-01", 9_990_000, false),
        ] as [(String, String, String, Int64, Bool)]
    )
    func change(
        _ mode: String,
        _ state: String,
        _ charged: String,
        _ micros: Int64,
        _ awaits: Bool
    ) throws {
        let item = try Self.item(
            """
            "priceChangeDetails":{\(Self.price),"priceChangeMode":"\(mode)",
              "priceChangeState":"\(state)","expectedNewPriceChargeTime":"2026-\(charged)T00:00:00Z"}
            """
        )
        #expect(item.price?.micros == micros)
        #expect((item.awaitsConsent ?? false) == awaits)
    }

    @Test(
        "A step-up concerns the renewal by which the buyer has to agree",
        arguments: [
            ("PENDING", "07-01", 14_000_000, true), ("CONFIRMED", "07-01", 14_000_000, false),
            ("PENDING", "08-01", 9_990_000, false), ("COMPLETED", "06-20", 9_990_000, false),
        ] as [(String, String, Int64, Bool)]
    )
    func stepUp(_ state: String, _ deadline: String, _ micros: Int64, _ awaits: Bool) throws {
        let item = try Self.item(
            """
            "priceStepUpConsentDetails":{\(Self.price),"state":"\(state)",
              "consentDeadlineTime":"2026-\(deadline)T00:00:00Z"}
            """
        )
        #expect(item.price?.micros == micros)
        #expect((item.awaitsConsent ?? false) == awaits)
    }
}
