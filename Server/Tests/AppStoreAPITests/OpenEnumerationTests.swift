import AppStoreAPI
import Foundation
import Testing

/// A name stands for one of Apple's words, and a value that has no name is kept as it came.
@Suite struct OpenEnumerationTests {
    /// One enumeration: its names with their values, and a value without a name.
    private func check<Value>(
        _ documented: [(Value, Value.RawValue)],
        tomorrow: Value.RawValue,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws
    where
        Value: RawRepresentable & Codable & Hashable,
        Value.RawValue: Codable & Hashable
    {
        for (value, raw) in documented {
            #expect(Value(rawValue: raw) == value, sourceLocation: sourceLocation)
            #expect(value.rawValue == raw, sourceLocation: sourceLocation)
        }
        #expect(Set(documented.map(\.0)).count == documented.count, sourceLocation: sourceLocation)
        let all = documented.map(\.1) + [tomorrow]
        let wire = try JSONEncoder().encode(all)
        let read = try JSONDecoder().decode([Value].self, from: wire)
        #expect(read.dropLast() == documented.map(\.0)[...], sourceLocation: sourceLocation)
        #expect(read.last?.rawValue == tomorrow, sourceLocation: sourceLocation)
        let again = try JSONDecoder().decode(
            [Value.RawValue].self,
            from: JSONEncoder().encode(read)
        )
        #expect(again == all, sourceLocation: sourceLocation)
    }

    @Test func ofNotifications() throws {
        try check(
            [
                (AppStore.NotificationType.subscribed, "SUBSCRIBED"), (.didRenew, "DID_RENEW"),
                (.didChangeRenewalPref, "DID_CHANGE_RENEWAL_PREF"),
                (.didChangeRenewalStatus, "DID_CHANGE_RENEWAL_STATUS"),
                (.offerRedeemed, "OFFER_REDEEMED"), (.didFailToRenew, "DID_FAIL_TO_RENEW"),
                (.gracePeriodExpired, "GRACE_PERIOD_EXPIRED"), (.expired, "EXPIRED"),
                (.priceIncrease, "PRICE_INCREASE"), (.refund, "REFUND"),
                (.refundReversed, "REFUND_REVERSED"), (.refundDeclined, "REFUND_DECLINED"),
                (.consumptionRequest, "CONSUMPTION_REQUEST"), (.revoke, "REVOKE"),
                (.renewalExtended, "RENEWAL_EXTENDED"), (.renewalExtension, "RENEWAL_EXTENSION"),
                (.oneTimeCharge, "ONE_TIME_CHARGE"), (.test, "TEST"),
                (.externalPurchaseToken, "EXTERNAL_PURCHASE_TOKEN"),
                (.rescindConsent, "RESCIND_CONSENT"), (.metadataUpdate, "METADATA_UPDATE"),
                (.migration, "MIGRATION"), (.priceChange, "PRICE_CHANGE"),
                (.unclaimSeats, "UNCLAIM_SEATS"),
            ],
            tomorrow: "NOT_YET_INVENTED"
        )
        #expect(AppStore.NotificationType.known.count == 24)
        try check(
            [
                (AppStore.Subtype.unreported, "UNREPORTED"),
                (.activeTokenReminder, "ACTIVE_TOKEN_REMINDER"),
            ],
            tomorrow: "NOT_YET_INVENTED"
        )
        try check([(AppStore.SendAttemptResult.success, "SUCCESS")], tomorrow: "SSL_ISSUE")
    }

    @Test func ofTransactions() throws {
        try check(
            [
                (AppStore.Environment.production, "Production"), (.sandbox, "Sandbox"),
                (.xcode, "Xcode"), (.localTesting, "LocalTesting"),
            ],
            tomorrow: "Moon"
        )
        try check(
            [
                (
                    AppStore.ProductType.autoRenewableSubscription,
                    "Auto-Renewable Subscription"
                ),
                (.nonConsumable, "Non-Consumable"), (.consumable, "Consumable"),
                (.nonRenewingSubscription, "Non-Renewing Subscription"),
            ],
            tomorrow: "Rental"
        )
        try check(
            [
                (AppStore.InAppOwnershipType.purchased, "PURCHASED"),
                (.familyShared, "FAMILY_SHARED"), (.assigned, "ASSIGNED"),
            ],
            tomorrow: "LENT"
        )
        try check(
            [(AppStore.RevocationReason.other, 0), (.issueInApp, 1)],
            tomorrow: 2
        )
        try check([(AppStore.AutoRenewStatus.on, 1)], tomorrow: 2)
        try check([(AppStore.PriceIncreaseStatus.notResponded, 0)], tomorrow: 2)
    }

    @Test func ofAnswers() throws {
        try check(
            [
                (AppStore.ReceiptStatus.valid, 0), (.notPost, 21_000), (.noLongerSent, 21_001),
                (.malformed, 21_002), (.notAuthenticated, 21_003), (.wrongSharedSecret, 21_004),
                (.serverUnavailable, 21_005), (.expired, 21_006),
                (.sandboxReceiptInProduction, 21_007), (.productionReceiptInSandbox, 21_008),
                (.internalAccess, 21_009), (.accountNotFound, 21_010),
            ],
            tomorrow: 21_199
        )
        let codes: [(AppStore.ErrorCode, Int64)] = [
            (.startDateTooFarInPast, 4_000_012),
            (.invalidPaginationToken, 4_000_014), (.paginationTokenExpired, 4_000_017),
            (.accountNotFoundRetryable, 4_040_002), (.appNotFoundRetryable, 4_040_004),
            (.originalTransactionIDNotFound, 4_040_005),
            (.originalTransactionIDNotFoundRetryable, 4_040_006),
            (.testNotificationNotFound, 4_040_008), (.transactionIDNotFound, 4_040_010),
            (.rateLimitExceeded, 4_290_000), (.generalInternalRetryable, 5_000_001),
        ]
        try check(codes, tomorrow: 4_000_999)
    }
}
