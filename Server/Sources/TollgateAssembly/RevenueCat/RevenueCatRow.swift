internal import TextFormats
internal import TollgateCore

/// The store that a row of RevenueCat's export names.
///
/// https://www.revenuecat.com/docs/integrations/scheduled-data-exports/transactions names
/// `app_store`, `play_store`, `stripe` and `promotional`; the API has `mac_app_store`, `amazon`,
/// `roku`, `paddle` and others beside them (https://www.revenuecat.com/docs/api-v1).
enum RevenueCatStore: Hashable, Sendable {
    case appStore, playStore, stripe
    /// RevenueCat's own grants.
    case promotional
    /// A store that this server has no room for.
    case other(String)

    init(_ word: String) {
        self =
            switch word {
            case "app_store", "mac_app_store": .appStore
            case "play_store": .playStore
            case "stripe": .stripe
            case "promotional": .promotional
            default: .other(word)
            }
    }

    /// RevenueCat's word for it.
    var word: String {
        switch self {
        case .appStore: "app_store"
        case .playStore: "play_store"
        case .stripe: "stripe"
        case .promotional: "promotional"
        case .other(let word): word
        }
    }
}

/// One row of an export: a transaction as RevenueCat last saw it.
struct RevenueCatRow: Hashable, Sendable {
    /// From 1.
    var line: Int
    /// The id of the app's own; `nil` where all ids of the row are anonymous.
    var user: String?
    /// An id that RevenueCat made up for a user who never signed in.
    var anonymousID: String?
    var store: RevenueCatStore
    var environment: StoreEnvironment
    /// The transaction's id; at Google Play the id of its order.
    var transaction: String
    /// The id of the first transaction of a subscription.
    var original: String
    var product: String
    var start: Instant
    /// The end of the access that it gives; `nil`: none.
    var ends: Instant?
    var isRefunded: Bool
    /// Whether it ends before it begins: Google's way of taking back what it could not charge
    /// (https://www.revenuecat.com/docs/integrations/scheduled-data-exports).
    var isInvalid: Bool
    /// The entitlements of RevenueCat's that it unlocked.
    var entitlements: [String]

    /// The reason for which a line is no transaction, with what to do.
    struct Problem: Error, Hashable {
        var reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// The product of the catalog that it names.
    ///
    /// Google's subscriptions are `subscription:base_plan`, as in RevenueCat. Of Stripe the export names
    /// the product, and the catalog its prices.
    func product(in catalog: Catalog) -> Catalog.Product? {
        switch store {
        case .appStore: catalog.product(StoreProduct(.appStore, product))
        case .playStore: catalog.product(StoreProduct(.googlePlay, product))
        case .stripe: catalog.product(StoreProduct(.stripe, product))
        case .promotional, .other: nil
        }
    }

    /// Returns whether RevenueCat made up an id
    /// (https://www.revenuecat.com/docs/customers/user-ids).
    static func isAnonymous(_ id: String) -> Bool { id.hasPrefix("$RCAnonymousID:") }
}

extension RevenueCatRow {
    typealias Column = RevenueCatHeading.Column

    /// - Parameters:
    ///   - users: the ids of its user.
    ///   - text: the value of a column; `nil`: none.
    init(line: Int, of users: [String], _ text: (Column) -> String?) throws(Problem) {
        func needed(_ column: Column) throws(Problem) -> String {
            guard let text = text(column) else {
                throw Problem("\(column.rawValue) is empty; leave the line out")
            }
            return text
        }
        func instant(_ column: Column) throws(Problem) -> Instant? {
            guard let text = text(column) else { return nil }
            guard let instant = Instant(revenueCat: text) else {
                throw Problem(
                    "\(column.rawValue) is ‘\(text.prefix(40))’, not a time like 2026-01-31 08:27:06"
                )
            }
            return instant
        }
        guard let start = try instant(.start) else {
            throw Problem("start_time is empty; leave the line out")
        }
        let end = try instant(.end)
        guard let id = text(.transaction) ?? text(.original) else {
            throw Problem(
                "it names no transaction: store_transaction_id is empty; leave the line out"
            )
        }
        self.init(
            line: line,
            user: users.first { !Self.isAnonymous($0) },
            anonymousID: users.first { Self.isAnonymous($0) },
            store: RevenueCatStore(try needed(.store)),
            environment: try Self.environment(isSandbox: needed(.isSandbox)),
            transaction: id,
            original: text(.original) ?? id,
            product: try needed(.product),
            start: start,
            ends: try instant(.effectiveEnd),
            isRefunded: text(.refunded) != nil,
            isInvalid: end.map { $0 < start } ?? false,
            // `["membership", "full_access"]`, with or without its quotes.
            entitlements: (text(.entitlements) ?? "").split { "[]{}\",\\ ".contains($0) }
                .map(String.init)
        )
    }

    private static func environment(isSandbox text: String) throws(Problem) -> StoreEnvironment {
        switch text.lowercased() {
        case "true", "t", "1": .sandbox
        case "false", "f", "0": .production
        default: throw Problem("is_sandbox is ‘\(text.prefix(40))’, neither true nor false")
        }
    }
}

/// The instants of an export: `2023-01-01 08:27:06`, in UTC.
extension Instant {
    init?(revenueCat text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: " ") || bytes[10] == UInt8(ascii: "T"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            let digits = bytes[range]
            guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        // A fraction, and the words for UTC, are all that may follow.
        let rest = String(decoding: bytes[19...], as: UTF8.self)
            .drop { $0 == "." || $0.isWholeNumber }
        guard ["", "Z", " UTC", "+00", "+00:00", "+0000"].contains(String(rest)),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let date = CalendarDay(year: year, month: month, day: day),
            hour < 24, minute < 60, second < 61
        else { return nil }
        self.init(
            seconds: ((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
        )
    }
}
