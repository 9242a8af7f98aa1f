import AppStoreAPI
import Foundation
import Testing

/// Every value that Apple documents has its name, and a value of tomorrow is kept as it came.
@Suite struct OpenEnumerationTests {
    /// One enumeration: its documented values by name, and one that nobody has heard of.
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
                (AppStore.Subtype.initialBuy, "INITIAL_BUY"), (.resubscribe, "RESUBSCRIBE"),
                (.billingRecovery, "BILLING_RECOVERY"), (.upgrade, "UPGRADE"),
                (.downgrade, "DOWNGRADE"), (.autoRenewEnabled, "AUTO_RENEW_ENABLED"),
                (.autoRenewDisabled, "AUTO_RENEW_DISABLED"), (.gracePeriod, "GRACE_PERIOD"),
                (.voluntary, "VOLUNTARY"), (.billingRetry, "BILLING_RETRY"),
                (.priceIncrease, "PRICE_INCREASE"), (.productNotForSale, "PRODUCT_NOT_FOR_SALE"),
                (.pending, "PENDING"), (.accepted, "ACCEPTED"), (.summary, "SUMMARY"),
                (.failure, "FAILURE"), (.unreported, "UNREPORTED"), (.created, "CREATED"),
                (.activeTokenReminder, "ACTIVE_TOKEN_REMINDER"), (.seats, "SEATS"),
                (.increaseQuantity, "INCREASE_QUANTITY"),
                (.decreaseQuantity, "DECREASE_QUANTITY"),
            ],
            tomorrow: "NOT_YET_INVENTED"
        )
        try check(
            [
                (AppStore.ConsumptionRequestReason.unintendedPurchase, "UNINTENDED_PURCHASE"),
                (.fulfillmentIssue, "FULFILLMENT_ISSUE"),
                (.unsatisfiedWithPurchase, "UNSATISFIED_WITH_PURCHASE"), (.legal, "LEGAL"),
                (.other, "OTHER"),
            ],
            tomorrow: "BORED"
        )
        try check(
            [
                (AppStore.Status.active, 1), (.expired, 2), (.billingRetry, 3),
                (.billingGracePeriod, 4), (.revoked, 5),
            ],
            tomorrow: 6
        )
        try check(
            [
                (AppStore.SendAttemptResult.success, "SUCCESS"), (.timedOut, "TIMED_OUT"),
                (.tlsIssue, "TLS_ISSUE"), (.circularRedirect, "CIRCULAR_REDIRECT"),
                (.noResponse, "NO_RESPONSE"), (.socketIssue, "SOCKET_ISSUE"),
                (.unsupportedCharset, "UNSUPPORTED_CHARSET"),
                (.invalidResponse, "INVALID_RESPONSE"), (.prematureClose, "PREMATURE_CLOSE"),
                (.unsuccessfulHttpResponseCode, "UNSUCCESSFUL_HTTP_RESPONSE_CODE"),
                (.other, "OTHER"),
            ],
            tomorrow: "SSL_ISSUE"  // An old word that has a new one.
        )
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
        try check(
            [
                (AppStore.RevocationType.refundFull, "REFUND_FULL"),
                (.refundProrated, "REFUND_PRORATED"), (.familyRevoke, "FAMILY_REVOKE"),
                (.assignmentRevoke, "ASSIGNMENT_REVOKE"),
            ],
            tomorrow: "REFUND_TWICE"
        )
        try check(
            [
                (AppStore.OfferType.introductory, 1), (.promotional, 2), (.offerCode, 3),
                (.winBack, 4),
            ],
            tomorrow: 5
        )
        try check(
            [
                (AppStore.OfferDiscountType.freeTrial, "FREE_TRIAL"),
                (.payAsYouGo, "PAY_AS_YOU_GO"), (.payUpFront, "PAY_UP_FRONT"),
                (.oneTime, "ONE_TIME"),
            ],
            tomorrow: "PAY_NEVER"
        )
        try check(
            [(AppStore.TransactionReason.purchase, "PURCHASE"), (.renewal, "RENEWAL")],
            tomorrow: "GIFT"
        )
        try check(
            [
                (AppStore.BillingPlanType.billedUpfront, "BILLED_UPFRONT"),
                (.monthly, "MONTHLY"),
            ],
            tomorrow: "WEEKLY"
        )
        try check(
            [
                (AppStore.Platform.iOS, "iOS"), (.macOS, "macOS"), (.tvOS, "tvOS"),
                (.visionOS, "visionOS"),
            ],
            tomorrow: "watchOS"
        )
    }

    @Test func ofRenewalInfo() throws {
        try check([(AppStore.AutoRenewStatus.off, 0), (.on, 1)], tomorrow: 2)
        try check(
            [
                (AppStore.ExpirationIntent.customerCancelled, 1), (.billingError, 2),
                (.priceIncreaseNotConsented, 3), (.productUnavailable, 4), (.other, 5),
            ],
            tomorrow: 6
        )
        try check(
            [(AppStore.PriceIncreaseStatus.notResponded, 0), (.consentedOrNotified, 1)],
            tomorrow: 2
        )
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
            (.generalBadRequest, 4_000_000),
            (.invalidAppIdentifier, 4_000_002), (.invalidLimit, 4_000_004),
            (.invalidRequestRevision, 4_000_005), (.invalidTransactionID, 4_000_006),
            (.invalidOriginalTransactionID, 4_000_008), (.invalidExtendByDays, 4_000_009),
            (.invalidExtendReasonCode, 4_000_010), (.invalidRequestIdentifier, 4_000_011),
            (.startDateTooFarInPast, 4_000_012), (.startDateAfterEndDate, 4_000_013),
            (.invalidPaginationToken, 4_000_014), (.invalidStartDate, 4_000_015),
            (.invalidEndDate, 4_000_016), (.paginationTokenExpired, 4_000_017),
            (.invalidNotificationType, 4_000_018), (.multipleFiltersSupplied, 4_000_019),
            (.invalidTestNotificationToken, 4_000_020), (.invalidSort, 4_000_021),
            (.invalidProductType, 4_000_022), (.invalidProductID, 4_000_023),
            (.invalidSubscriptionGroupIdentifier, 4_000_024),
            (.invalidExcludeRevoked, 4_000_025), (.invalidInAppOwnershipType, 4_000_026),
            (.invalidEmptyStorefrontCountryCodeList, 4_000_027),
            (.invalidStorefrontCountryCode, 4_000_028), (.invalidRevoked, 4_000_030),
            (.invalidStatus, 4_000_031), (.invalidAccountTenure, 4_000_032),
            (.invalidAppAccountToken, 4_000_033), (.invalidConsumptionStatus, 4_000_034),
            (.invalidCustomerConsented, 4_000_035), (.invalidDeliveryStatus, 4_000_036),
            (.invalidLifetimeDollarsPurchased, 4_000_037),
            (.invalidLifetimeDollarsRefunded, 4_000_038), (.invalidPlatform, 4_000_039),
            (.invalidPlayTime, 4_000_040), (.invalidSampleContentProvided, 4_000_041),
            (.invalidUserStatus, 4_000_042), (.invalidTransactionNotConsumable, 4_000_043),
            (.invalidRefundPreference, 4_000_044),
            (.invalidTransactionTypeNotSupported, 4_000_047),
            (.appTransactionIDNotSupported, 4_000_048),
            (.invalidAppAccountTokenUUID, 4_000_183),
            (.familyTransactionNotSupported, 4_000_185),
            (.transactionIDIsNotOriginalTransactionID, 4_000_187),
            (.consumptionPercentageAutoRenewableSubscription, 4_000_209),
            (.invalidGroupID, 4_000_225), (.invalidAssignedTransactionNotSupported, 4_000_227),
            (.subscriptionExtensionIneligible, 4_030_004),
            (.subscriptionMaxExtension, 4_030_005),
            (.familySharedSubscriptionExtensionIneligible, 4_030_007),
            (.assignedSubscriptionExtensionIneligible, 4_030_028),
            (.accountNotFound, 4_040_001), (.accountNotFoundRetryable, 4_040_002),
            (.appNotFound, 4_040_003), (.appNotFoundRetryable, 4_040_004),
            (.originalTransactionIDNotFound, 4_040_005),
            (.originalTransactionIDNotFoundRetryable, 4_040_006),
            (.serverNotificationURLNotFound, 4_040_007),
            (.testNotificationNotFound, 4_040_008), (.statusRequestNotFound, 4_040_009),
            (.transactionIDNotFound, 4_040_010), (.appTransactionDoesNotExist, 4_040_019),
            (.groupNotFound, 4_040_022), (.rateLimitExceeded, 4_290_000),
            (.generalInternal, 5_000_000), (.generalInternalRetryable, 5_000_001),
        ]
        try check(codes, tomorrow: 4_000_999)
    }
}
