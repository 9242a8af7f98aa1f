/// One setting for each thing that Google's documentation leaves open.
struct Behaviour: Hashable, Sendable, Codable {
    enum When: String, Hashable, Sendable, Codable {
        case before, after, never
    }

    /// The purchases that were ordered ahead of a release that the developer moves.
    enum MovedRelease: String, Hashable, Sendable, Codable {
        /// They are charged at the new time, and reads state it.
        case followed
        /// They are charged at the new time, and reads state the former one.
        case unread
        /// They keep the former time; only later orders have the new one.
        case newOrdersOnly = "new_orders_only"
    }

    /// `eventTimeMillis` is a JSON number, not a string; both are documented.
    var eventTimeIsNumber = false
    /// A pushed message has `message_id` and `publish_time` too.
    var pushHasSnakeCaseTwins = true
    /// The data of a message has no padding.
    var dataIsUnpadded = false
    /// Messages have an ordering key.
    var setsOrderingKeys = false
    /// Google's certificates say for how long they may be kept.
    var certificatesAreCacheable = true
    /// Tokens for push name their issuer without `https://`.
    var issuerHasNoScheme = false
    /// OneTimeProductNotifications are sent: "all notifications" in Play Console.
    var sendsOneTimeNotifications = true
    /// A replaced token reads EXPIRED at once; otherwise CANCELED until its own expiry, as an
    /// article of 2018 has it.
    var replacedTokenExpiresAtOnce = true
    /// The moment at which EXPIRED is sent for the old token, relative to PURCHASED for the new one.
    var replacedExpiredIsSent = When.after
    /// Days after its expiry from which a token answers 410.
    var tokenDays: Int64 = 60
    /// A refunded one-time purchase answers 410 instead of CANCELLED.
    var refundedProductIsGone = false
    /// A consumed purchase is not found any more once the product was bought again.
    var olderConsumedIsGone = false
    /// Orders of past renewals (`..0`, `..1`) answer.
    var oldOrdersAnswer = true
    /// Days after its creation from which an order is not found; 0: it always is.
    var orderDays: Int64 = 0
    /// Calls for orders in a day, as the description of `Order` has it (200,000); 0: no limit but that of
    /// the minute.
    var ordersPerDay = 0
    /// A purchase states no `startTime` until a DEFERRED replacement takes effect.
    var deferredReplacementHasNoStart = false
    /// The order of an item that a change of plan keeps names the new token once it is there.
    ///
    /// "The token provided to the user's device when the subscription or item was purchased" may be either.
    var keptOrdersMove = false
    /// An item that is revoked alone is in the list of voided purchases.
    var revokedItemIsListed = false
    /// The purchase that the app gets names the account id.
    var signedPurchaseNamesAccount = true
    /// PRICE_CHANGE_CONFIRMED (8) is sent beside PRICE_CHANGE_UPDATED (19).
    var sendsPriceChangeConfirmed = true
    /// Without a grace period a plan stays ACTIVE for a day after a declined renewal.
    var hasSilentGrace = true
    /// Grace moves the expiry on by a day at a time; otherwise to its end at once.
    var graceExtendsDaily = true
    /// A subscription that ends unpaid on hold states that end as its expiry.
    ///
    /// Otherwise it states the beginning of the hold. Both are in the past then.
    var endedHoldMovesExpiry = false
    /// `autoRenewEnabled` is left out where it is false.
    var omitsAutoRenewFalse = true
    /// A pending purchase that ends reads …_PENDING_PURCHASE_EXPIRED, as one guide has it.
    var endedPendingReadsExpired = false
    /// The codes of a voided purchase are strings, as in the documentation's example.
    var voidCodesAreStrings = false
    /// Minutes after which a licence tester's purchase is refunded unless acknowledged: 5 by the
    /// table, 3 by the text.
    var testAcknowledgementMinutes: Int64 = 5
    /// The number of reads after a change that still show the earlier state.
    var staleReads = 0
    /// An unknown token that does not look like one answers 400 instead of 404.
    var malformedTokenIsInvalid = true
    /// A licence tester's seventh renewal ends the subscription.
    var limitsTestRenewals = true
    /// A licence tester's month lasts five minutes; otherwise periods are as long as everybody's.
    var shortensTests = true
    /// The answer of reads about a pre-order whose release was moved.
    var movedRelease = MovedRelease.followed

    init() {}
}

extension Behaviour {
    /// Switches that are missing are as in the beginning: a state of an earlier build lacks newer ones.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        var behaviour = Behaviour()
        func read<Value: Decodable>(
            _ key: CodingKeys,
            _ path: WritableKeyPath<Behaviour, Value>
        ) throws {
            guard let value = try values.decodeIfPresent(Value.self, forKey: key) else { return }
            behaviour[keyPath: path] = value
        }
        try read(.eventTimeIsNumber, \.eventTimeIsNumber)
        try read(.pushHasSnakeCaseTwins, \.pushHasSnakeCaseTwins)
        try read(.dataIsUnpadded, \.dataIsUnpadded)
        try read(.setsOrderingKeys, \.setsOrderingKeys)
        try read(.certificatesAreCacheable, \.certificatesAreCacheable)
        try read(.orderDays, \.orderDays)
        try read(.ordersPerDay, \.ordersPerDay)
        try read(.deferredReplacementHasNoStart, \.deferredReplacementHasNoStart)
        try read(.keptOrdersMove, \.keptOrdersMove)
        try read(.revokedItemIsListed, \.revokedItemIsListed)
        try read(.signedPurchaseNamesAccount, \.signedPurchaseNamesAccount)
        try read(.issuerHasNoScheme, \.issuerHasNoScheme)
        try read(.sendsOneTimeNotifications, \.sendsOneTimeNotifications)
        try read(.replacedTokenExpiresAtOnce, \.replacedTokenExpiresAtOnce)
        try read(.replacedExpiredIsSent, \.replacedExpiredIsSent)
        try read(.tokenDays, \.tokenDays)
        try read(.refundedProductIsGone, \.refundedProductIsGone)
        try read(.olderConsumedIsGone, \.olderConsumedIsGone)
        try read(.oldOrdersAnswer, \.oldOrdersAnswer)
        try read(.sendsPriceChangeConfirmed, \.sendsPriceChangeConfirmed)
        try read(.hasSilentGrace, \.hasSilentGrace)
        try read(.graceExtendsDaily, \.graceExtendsDaily)
        try read(.endedHoldMovesExpiry, \.endedHoldMovesExpiry)
        try read(.omitsAutoRenewFalse, \.omitsAutoRenewFalse)
        try read(.endedPendingReadsExpired, \.endedPendingReadsExpired)
        try read(.voidCodesAreStrings, \.voidCodesAreStrings)
        try read(.testAcknowledgementMinutes, \.testAcknowledgementMinutes)
        try read(.staleReads, \.staleReads)
        try read(.malformedTokenIsInvalid, \.malformedTokenIsInvalid)
        try read(.limitsTestRenewals, \.limitsTestRenewals)
        try read(.shortensTests, \.shortensTests)
        try read(.movedRelease, \.movedRelease)
        self = behaviour
    }
}

/// Faults, by chance or on purpose.
struct Faults: Hashable, Sendable, Codable {
    /// Share of notifications that are never published.
    var lost: Double?
    /// Share that is published twice, under two message ids.
    var doubled: Double?
    /// Share that comes late, at most `longest_delay` milliseconds.
    var late: Double?
    var longestDelay: Int64?
    /// Share of deliveries that never reach the endpoint.
    var drop: Double?
    /// Share that is delivered twice, under one message id.
    var duplicate: Double?
    /// Share whose answer is lost on the way back.
    var slow: Double?
    /// Share of calls of the API that fail with 503.
    var apiErrors: Double?
    /// Share of calls of the API that are done, and whose answer is lost: 503.
    var apiSlow: Double?
    /// Every call of the API fails so, while it is set: 401, 403, 409, 410, 429, 500, 503.
    var apiStatus: Int?
    /// With `api_status`, how many calls fail; without limit if left out.
    var apiFailures: Int?
    /// The virtual instant from which on no push arrives.
    var outageStart: Int64?
    /// The virtual instant at which that is over.
    var outageEnd: Int64?

    func isOutage(at now: Int64) -> Bool {
        guard let outageStart else { return false }
        return now >= outageStart && now < (outageEnd ?? .max)
    }
}
