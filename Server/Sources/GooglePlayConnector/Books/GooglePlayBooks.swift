public import Reports
public import Storage
public import Stores
public import TollgateCore

/// Google Play's reports, and how our sales match them.
public struct GooglePlayBooks: StoreBooks {
    public let store = Store.googlePlay
    private let records: RecordStore

    /// Google Play's fee: 10 % of auto-renewing subscriptions and of the first million a year, and 5 %
    /// for its billing.
    ///
    /// An estimate. Orders state the developer's revenue, which no figure uses yet.
    public let fee = Finance.Terms.StoreFee(left: 8_500, isReturned: true)
    /// Reports are not fetched yet.
    public let canFetch = false

    public init(_ records: RecordStore) { self.records = records }

    public func fetch(
        today: Instant,
        prolong: @Sendable () async throws -> Void
    ) async throws -> Int { 0 }

    public func compare(
        _ movements: [Finance.Movement],
        over span: BookSpan
    ) async throws -> ComparedBooks {
        ComparedBooks(settlements: [:], differences: [], coverage: [])
    }

    /// The settlement by the estimated fee; a refund returns the fee.
    public func usual(_ movement: Finance.Movement) -> Finance.Settlement? {
        let gross = movement.gross
        let net = gross.scaled(by: Finance.Ratio(basisPoints: fee.left)).rounded
        return Finance.Settlement(net: net, commission: gross - net)
    }

    public func payouts(
        of span: BookSpan,
        sold: (_ first: Finance.Day, _ last: Finance.Day) async throws -> [Finance.Payment]
    ) async throws -> [Finance.Payout] { [] }
}
