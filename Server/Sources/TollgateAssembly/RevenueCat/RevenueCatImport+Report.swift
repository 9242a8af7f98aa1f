public import Stores

extension RevenueCatImport {
    /// Why a file is no export that can be read.
    public struct UnreadableExport: Error, Hashable, CustomStringConvertible {
        public var reason: String

        public var description: String { reason }
    }

    /// A purchase that is active by the export, and whose customer has none of its entitlements here.
    public struct Difference: Hashable, Codable, Sendable {
        /// From 1.
        public var line: Int
        public var appUserID: String
        /// RevenueCat's word for the store.
        public var store: String
        /// The store's product.
        public var product: String
        /// The end by the export, in UNIX milliseconds; `nil`: none.
        public var until: Int64?
        /// The entitlements of which the customer has none.
        public var lacking: [String]

        enum CodingKeys: String, CodingKey {
            case line, store, product, until, lacking
            case appUserID = "app_user_id"
        }
    }

    /// A grant of RevenueCat's that is one here.
    public struct Granted: Hashable, Codable, Sendable {
        /// From 1.
        public var line: Int
        public var appUserID: String
        /// The entitlements' lookup keys.
        public var keys: [String]
        /// The end, in UNIX milliseconds; `nil`: none.
        public var until: Int64?

        enum CodingKeys: String, CodingKey {
            case line, keys, until
            case appUserID = "app_user_id"
        }
    }

    /// Users without an id of the app's own.
    public struct Anonymous: Hashable, Codable, Sendable {
        public var customers = 0
        public var rows = 0
        /// Rows that unlock something now, by the export.
        public var active = 0
    }

    /// The outcome of an import.
    public struct Report: ListOfUnmatched, Hashable, Codable, Sendable {
        /// Transactions in the file.
        public var rows = 0
        /// Users of the app in the file.
        public var customers = 0
        /// Purchases that their stores showed, and that are in the record now.
        public var purchases = 0
        /// Those of which the record learned anything.
        public var new = 0
        /// Stripe's customers who have their names; `tollgate import stripe` brings their payments in.
        public var named = 0
        /// Grants that were made, or had been made by an earlier run.
        public var grants = 0
        /// These grants, as far as they are listed.
        public var granted: [Granted] = []
        /// Purchases of consumables, left out: whoever sold them has credited them.
        public var consumables = 0
        /// Purchases that ended so long ago that Google no longer shows them.
        public var ended = 0
        /// Transactions of the sandbox, left out.
        public var sandbox = 0
        public var anonymous = Anonymous()
        /// Transactions left out by choice, by RevenueCat's word for their store: 0 where the file has
        /// none of it.
        public var leftOut: [String: Int] = [:]
        /// Purchases in stores that this server does not support, by RevenueCat's word for each.
        public var unsupported: [String: Int] = [:]
        /// Whether the catalog has coins and no `coins_since`.
        public var lacksCoinsSince = false
        public var unmatched: [UnmatchedLine] = []
        public var unmatchedNotListed = 0
        public var differences: [Difference] = []
        /// The number of further differences that are not listed.
        public var differencesNotListed = 0

        enum CodingKeys: String, CodingKey {
            case rows, customers, purchases, new, named, grants, granted, consumables, ended,
                sandbox
            case anonymous, unsupported, unmatched, differences
            case leftOut = "left_out"
            case lacksCoinsSince = "lacks_coins_since"
            case unmatchedNotListed = "unmatched_not_listed"
            case differencesNotListed = "differences_not_listed"
        }

        mutating func add(_ one: Granted) {
            if granted.count < Self.mostListed { granted.append(one) }
        }

        mutating func add(_ one: Difference) {
            if differences.count < Self.mostListed {
                differences.append(one)
            } else {
                differencesNotListed += 1
            }
        }

        /// Adds what the stores said to what the file alone decides.
        mutating func add(_ work: Report) {
            purchases += work.purchases
            new += work.new
            named += work.named
            grants += work.grants
            consumables += work.consumables
            ended += work.ended
            unsupported.merge(work.unsupported) { $0 + $1 }
            for one in work.granted { add(one) }
            for one in work.unmatched { add(one) }
            unmatchedNotListed += work.unmatchedNotListed
            unmatched.sort { $0.line < $1.line }
        }
    }
}
