internal import StrictJSON
extension AppStore {
    /// Why a renewal date is extended.
    public enum ExtendReasonCode: Int, Hashable, Sendable {
        case undeclared = 0
        case customerSatisfaction = 1
        case other = 2
        case serviceIssueOrOutage = 3
    }

    /// What came of extending one subscription.
    public struct ExtendRenewalDateResponse: Hashable, Sendable {
        /// The purchase.
        public let originalTransactionID: String?
        /// The period.
        public let webOrderLineItemID: String?
        /// Whether it was extended.
        public let success: Bool
        /// The new renewal date.
        public let effectiveDate: Int64?

        init(_ fields: Fields) throws(VerificationError) {
            originalTransactionID = try fields.string("originalTransactionId")
            webOrderLineItemID = try fields.string("webOrderLineItemId")
            success = try fields.bool("success") ?? false
            effectiveDate = try fields.date("effectiveDate")
        }
    }

    /// How far extending many subscriptions has come.
    public struct MassExtendRenewalDateStatusResponse: Hashable, Sendable {
        /// The request.
        public let requestIdentifier: String?
        /// Whether it is done; only then the other fields are there.
        public let complete: Bool
        /// When it was done.
        public let completeDate: Int64?
        /// How many were extended.
        public let succeededCount: Int64?
        /// How many could not be extended.
        public let failedCount: Int64?

        init(_ fields: Fields) throws(VerificationError) {
            requestIdentifier = try fields.string("requestIdentifier")
            complete = try fields.bool("complete") ?? false
            completeDate = try fields.date("completeDate")
            succeededCount = try fields.int64("succeededCount")
            failedCount = try fields.int64("failedCount")
        }
    }
}

extension AppStore.ServerAPIClient {
    /// Extend a Subscription Renewal Date, at most twice a year per customer.
    ///
    /// Irreversible.
    ///
    /// - Parameters:
    ///   - days: 1 to 90.
    ///   - requestIdentifier: At most 128 characters; a repetition is recognised by it.
    public func extendRenewalDate(
        originalTransactionID: String,
        days: Int,
        reason: AppStore.ExtendReasonCode,
        requestIdentifier: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.ExtendRenewalDateResponse {
        let call = try Call(
            "Extend a Subscription Renewal Date",
            "/inApps/v1/subscriptions/extend/{}",
            originalTransactionID,
            method: "PUT",
            body: .object([
                ("extendByDays", .integer(Int64(days))),
                ("extendReasonCode", .integer(Int64(reason.rawValue))),
                ("requestIdentifier", .string(requestIdentifier)),
            ])
        )
        return try await sender.send(call, AppStore.ExtendRenewalDateResponse.init)
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers of a product.
    ///
    /// - Parameter storefrontCountryCodes: Only these countries; none for all.
    public func extendRenewalDates(
        productID: String,
        days: Int,
        reason: AppStore.ExtendReasonCode,
        requestIdentifier: String,
        storefrontCountryCodes: [String] = []
    ) async throws(AppStore.ServerAPIError) -> String {
        let countries = storefrontCountryCodes.isEmpty ? nil : storefrontCountryCodes
        let call = try Call(
            "Extend Subscription Renewal Dates for All Active Subscribers",
            "/inApps/v1/subscriptions/extend/mass",
            method: "POST",
            body: .object([
                ("extendByDays", .integer(Int64(days))),
                ("extendReasonCode", .integer(Int64(reason.rawValue))),
                ("requestIdentifier", .string(requestIdentifier)),
                ("storefrontCountryCodes", countries.map(JSONText.strings)),
                ("productId", .string(productID)),
            ])
        )
        return try await sender.send(call, reading: "requestIdentifier")
    }

    /// Get Status of Subscription Renewal Date Extensions.
    public func statusOfRenewalDateExtensions(
        productID: String,
        requestIdentifier: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.MassExtendRenewalDateStatusResponse {
        let call = try Call(
            "Get Status of Subscription Renewal Date Extensions",
            "/inApps/v1/subscriptions/extend/mass/{}/{}",
            productID,
            requestIdentifier
        )
        return try await sender.send(call, AppStore.MassExtendRenewalDateStatusResponse.init)
    }
}
