/// Somebody with a Google account.
struct Account: Hashable, Sendable, Codable {
    /// The behaviour of the buyer's payment method when it is charged.
    ///
    /// https://developer.android.com/google/play/billing/test#test-payment-methods
    enum Payment: String, Hashable, Sendable, Codable {
        case approves
        case declines
        case slowlyApproves = "slowly_approves"
        case slowlyDeclines = "slowly_declines"
        /// Pays at a shop later, or never.
        case cash

        var isImmediate: Bool { self == .approves || self == .declines }
    }

    var id: String
    var region: String
    /// A licence tester: purchases are marked as tests and live fast.
    var isTester: Bool
    var payment: Payment
    /// The default account ids of the buyer's purchases.
    var identifiers: Identifiers

    /// Returns `true` if a charge goes through.
    var pays: Bool { payment == .approves || payment == .slowlyApproves }
}

/// The ids by which the app knows its customer.
struct Identifiers: Hashable, Sendable, Codable {
    var accountID: String?
    var profileID: String?

    var wire: JSON? {
        guard accountID != nil || profileID != nil else { return nil }
        return [
            "obfuscatedExternalAccountId": .text(accountID),
            "obfuscatedExternalProfileId": .text(profileID),
        ]
    }
}

/// Tax on top of listed prices in Canada, none in the USA and Korea, within them elsewhere.
enum Tax {
    static func rate(in region: String) -> Int64 {
        switch region {
        case "US", "KR": 0
        case "CA": 13
        case "DE": 19
        case "GB", "FR": 20
        case "ES": 21
        case "IT": 22
        case "JP": 10
        case "BR", "IN": 18
        default: 0
        }
    }

    static func isWithinPrices(in region: String) -> Bool { region != "CA" && rate(in: region) > 0 }

    /// The tax on what is sold for `price`.
    static func on(_ price: Money, in region: String) -> Money {
        let rate = rate(in: region)
        return price.times(rate, over: isWithinPrices(in: region) ? 100 + rate : 100)
    }

    /// The price with the tax that comes on top of it.
    static func charged(_ price: Money, in region: String) -> Money {
        isWithinPrices(in: region) ? price : price + on(price, in: region)
    }
}
