internal import GooglePlayAPI
internal import Logging
public import Reports
internal import Storage
public import Stores
public import TollgateCore

/// Google Play's reports, and how our sales match them.
public struct GooglePlayBooks: StoreBooks {
    public let store = Store.googlePlay
    private let context: StoreContext
    let reports: GooglePlayReports
    private let bucket: ReportBucket?
    /// The packages of our apps, as far as settings name them.
    private let packages: [String]
    private let terms = GooglePlayTerms()

    init(_ context: StoreContext, _ setUp: GooglePlaySetUp) {
        self.context = context
        let reports = GooglePlayReports(context.records)
        self.reports = reports
        bucket = setUp.bucket.map { ReportBucket($0, reports, context.logger) }
        packages = setUp.apps.map(\.packageName)
    }

    public var fee: Finance.Terms.StoreFee { terms.fee }
    public var canFetch: Bool { bucket != nil }

    public func fetch(
        today: Instant,
        prolong: @Sendable () async throws -> Void
    ) async throws -> Int {
        try await bucket?.fetch(at: context.clocks.wall(), prolong: prolong, told: { _ in }).count
            ?? 0
    }

    public func compare(
        _ movements: [Finance.Movement],
        over span: BookSpan
    ) async throws -> ComparedBooks {
        let ours = movements.filter { $0.environment == span.environment }
        let told = Self.isReported(span) ? try await told(of: span, ours) : Told()
        let sales = GooglePlayMatching.match(
            ours,
            with: GooglePlaySales.of(told.sold),
            of: GooglePlayReports.sales,
            covering: told.soldDays,
            packages: told.packages
        )
        let earnings = GooglePlayMatching.match(
            ours,
            with: GooglePlayEarnings.of(told.earned),
            of: GooglePlayReports.earnings,
            covering: told.earnedDays,
            packages: told.packages
        )
        let taxes = Dictionary(
            sales.pairs.map { ($0.movement, $0.booking.tax) },
            uniquingKeysWith: { first, _ in first }
        )
        var comparing = GooglePlayComparing(terms)
        for pair in sales.pairs { comparing.compare(pair.movement, with: pair.booking) }
        for pair in earnings.pairs {
            comparing.compare(
                pair.movement,
                with: pair.booking,
                taxed: taxes[pair.movement] ?? nil
            )
        }
        comparing.note(unmatched: told.earned, told.sold, packages: told.packages)
        var coverage = [
            self.coverage(GooglePlayReports.sales, told.soldDays, sales.pairs, sales.pending, span),
            self.coverage(
                GooglePlayReports.earnings,
                told.earnedDays,
                earnings.pairs,
                earnings.pending,
                span
            ),
        ]
        // A store that sells nothing is no store of this server's.
        if ours.isEmpty, told.sold.isEmpty, told.earned.isEmpty { coverage = [] }
        return ComparedBooks(
            settlements: settlements(taxes, earnings.pairs, told),
            differences: sales.differences + earnings.differences + comparing.differences
                + Self.elsewhere(movements, span, told.soldDays.union(told.earnedDays))
                + Self.differences(of: told.paidOut, told.earned, over: span),
            coverage: coverage
        )
    }

    /// The bookings that reports have of some days.
    private struct Told {
        var sold: [GooglePlayReports.Placed<GooglePlaySale>] = []
        var earned: [GooglePlayReports.Placed<GooglePlayEarning>] = []
        var paidOut: [GooglePlayReports.Placed<GooglePlayPaidOut>] = []
        var soldDays: Set<Finance.Day> = []
        var earnedDays: Set<Finance.Day> = []
        /// The packages whose lines have to be in the record; `nil`: all.
        var packages: Set<String>?
    }

    private func told(of span: BookSpan, _ movements: [Finance.Movement]) async throws -> Told {
        var told = Told()
        told.sold = try await reports.sales(from: span.early, to: span.late)
        told.earned = try await reports.earnings(from: span.early, to: span.late)
        told.paidOut = try await reports.payouts(from: span.early, to: span.late)
        told.soldDays = try await soldDays(told.sold)
        told.earnedDays = try await earnedDays()
        told.packages = packages(among: movements, told.sold, told.earned)
        return told
    }

    /// The split of each sale and refund, by the most binding report: what Google pays is what the
    /// earnings say.
    ///
    /// - Parameter taxes: of those that are in estimated sales.
    private func settlements(
        _ taxes: [Finance.Movement: Finance.Money?],
        _ earnings: [GooglePlayMatching<GooglePlayEarnings>.Pair],
        _ told: Told
    ) -> [Finance.Movement: Finance.Settlement] {
        var settlements: [Finance.Movement: Finance.Settlement] = [:]
        for (movement, tax) in taxes {
            settlements[movement] = terms.estimate(movement, taxed: tax)
        }
        for pair in earnings {
            let month = pair.booking.day.month
            let settlement = terms.settlement(
                of: pair.movement,
                reportedBy: pair.booking,
                payout: told.paidOut.first { $0.line.month == month }?.line.id
            )
            if let settlement { settlements[pair.movement] = settlement }
        }
        return settlements
    }

    /// `true` where settings or the catalog name Google Play; elsewhere no sales are read for an
    /// estimate.
    var isSelling: Bool {
        let catalog = context.records.history.current
        return !packages.isEmpty || catalog.apps.contains { $0.packageName != nil }
            || catalog.products.contains(where: \.isInGooglePlay)
    }

    private func coverage<Booking>(
        _ source: String,
        _ covered: Set<Finance.Day>,
        _ pairs: [GooglePlayMatching<Booking>.Pair],
        _ pending: [Finance.Movement],
        _ span: BookSpan
    ) -> Finance.Reconciliation.Coverage {
        Finance.Reconciliation.Coverage(
            store: store,
            source: source,
            covered: covered,
            matched: pairs.count { span.contains($0.movement) },
            pending: pending.count { span.contains($0) }
        )
    }

    /// The split by the estimated fee; a refund returns the fee.
    public func usual(_ movement: Finance.Movement) -> Finance.Settlement? {
        terms.estimate(movement, taxed: nil)
    }

    public func reissues() async throws -> [Finance.Reissue] { try await reports.reissues() }

    /// What the earnings reports pay, fees and taxes taken off.
    ///
    /// Google's days are of California too.
    public func reportedSales(
        from first: Reports.Day,
        to last: Reports.Day
    ) async throws -> [Reports.ReportedSale] {
        let named = namedPackages
        return try await reports.earnings(from: first, to: last).map(\.line).filter { line in
            named.isEmpty || named.contains(line.package)
        }.map { line in
            Reports.ReportedSale(
                day: line.day,
                productType: "",
                country: line.country ?? "",
                units: 0,
                proceeds: Reports.Fraction(Int128(line.earned.millionths), 1000),
                currency: line.earned.currency
            )
        }
    }

    // MARK: - What reports are about

    /// Returns `true` for a span that reports cover: Google's are of production, whatever keys the server
    /// has.
    static func isReported(_ span: BookSpan) -> Bool { span.environment == .production }

    /// Days after which a sale is in the estimated sales.
    ///
    /// "A few days", https://support.google.com/googleplay/android-developer/answer/2482017
    private static let delay: Int64 = 3

    /// The days of which the estimated sales tell everything: those of months with a report, up to some
    /// days before it was written.
    private func soldDays(
        _ lines: [GooglePlayReports.Placed<GooglePlaySale>]
    ) async throws -> Set<Finance.Day> {
        let prefix = GooglePlay.Report.Kind.sales.prefix
        let written = try await ReportBucket.Seen.kept(in: context.records).objects
            .filter { $0.key.hasPrefix(prefix) && $0.value.problem == nil }
            .compactMap(\.value.updated)
            .map { Finance.Day(pacific: Instant(milliseconds: $0)) }
        guard let newest = (written + lines.map(\.line.day)).max() else { return [] }
        let end = newest.advanced(by: -Self.delay)
        return Self.days(of: try await reports.months(GooglePlayReports.sales)).filter { $0 <= end }
    }

    /// The days of the months whose earnings are here.
    private func earnedDays() async throws -> Set<Finance.Day> {
        Self.days(of: try await reports.months(GooglePlayReports.earnings))
    }

    private static func days(of months: Set<Finance.Day>) -> Set<Finance.Day> {
        Set(
            months.flatMap { first in
                (first.number..<first.startOfNextMonth.number).map(Finance.Day.init(number:))
            }
        )
    }

    /// The packages of our apps that settings or the catalog name.
    private var namedPackages: Set<String> {
        Set(packages + context.records.history.current.apps.compactMap(\.packageName))
    }

    /// The packages whose lines have to be in the record: the reports tell of all apps of the account.
    ///
    /// - Returns: `nil` where nothing says which ones are ours: then all are.
    private func packages(
        among movements: [Finance.Movement],
        _ sold: [GooglePlayReports.Placed<GooglePlaySale>],
        _ earned: [GooglePlayReports.Placed<GooglePlayEarning>]
    ) -> Set<String>? {
        let named = namedPackages
        guard named.isEmpty else { return named }
        let orders = Set(movements.map(\.payment))
        let found =
            sold.filter { orders.contains($0.line.order) }.map(\.line.package)
            + earned.filter { orders.contains($0.line.order) }.map(\.line.package)
        return found.isEmpty ? nil : Set(found)
    }

    /// The movements of the other environment, where there are reports at all.
    private static func elsewhere(
        _ movements: [Finance.Movement],
        _ span: BookSpan,
        _ covered: Set<Finance.Day>
    ) -> [Finance.Difference] {
        movements.filter { movement in
            movement.environment != span.environment && !movement.amount.isZero
                && covered.contains(movement.day)
        }.map { movement in
            Finance.Difference(
                .sandbox,
                store: .googlePlay,
                source: GooglePlayReports.sales,
                product: movement.product,
                movement: movement,
                units: movement.quantity,
                expected: movement.gross,
                detail: "bought in \(movement.environment.rawValue)"
            )
        }
    }
}
