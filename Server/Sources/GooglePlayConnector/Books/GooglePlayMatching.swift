internal import Reports
internal import TollgateCore

/// Matches the record's sales and refunds with what a report says of their orders.
///
/// Every line has an order's id, so a charge is found by it. What went back of an order has no id of its
/// own: it is paired by amount, then by time.
struct GooglePlayMatching<Booking: GooglePlayBooking> {
    struct Pair: Sendable {
        var movement: Finance.Movement
        var booking: Booking
    }

    struct Result: Sendable {
        var pairs: [Pair] = []
        /// The bookings and movements that one side lacks.
        var differences: [Finance.Difference] = []
        /// Movements of days that no report covers yet.
        var pending: [Finance.Movement] = []
    }

    private let source: String
    private var result = Result()

    /// - Parameters:
    ///   - movements: the record's; those of another environment and those that cost nothing are in no
    ///     report.
    ///   - source: which reports the bookings are of.
    ///   - covered: the days of which the reports tell everything.
    ///   - packages: those of our apps; `nil`: all are ours.
    static func match(
        _ movements: [Finance.Movement],
        with bookings: [Booking],
        of source: String,
        covering covered: Set<Finance.Day>,
        packages: Set<String>?
    ) -> Result {
        var matching = GooglePlayMatching(source: source)
        let known = Dictionary(grouping: movements.filter { !$0.amount.isZero }, by: Key.init)
        let told = Dictionary(grouping: bookings, by: Key.init)
        for (key, movements) in known.sorted(by: { $0.key < $1.key }) {
            matching.pair(movements, told[key] ?? [], covered, packages)
        }
        for (key, bookings) in told.sorted(by: { $0.key < $1.key }) where known[key] == nil {
            for booking in bookings { matching.note(missingHere: booking, packages) }
        }
        return matching.result
    }

    private init(source: String) { self.source = source }

    private struct Key: Hashable, Comparable {
        var order: String
        var isRefund: Bool

        init(_ movement: Finance.Movement) {
            (order, isRefund) = (movement.payment, movement.kind != .charge)
        }

        init(_ booking: Booking) { (order, isRefund) = (booking.order, booking.isRefund) }

        static func < (left: Self, right: Self) -> Bool {
            (left.order, left.isRefund ? 1 : 0) < (right.order, right.isRefund ? 1 : 0)
        }
    }

    /// Pairs what happened to one order, the surest pairs first.
    private mutating func pair(
        _ movements: [Finance.Movement],
        _ bookings: [Booking],
        _ covered: Set<Finance.Day>,
        _ packages: Set<String>?
    ) {
        var candidates: [(rank: (Int, UInt64), movement: Int, booking: Int)] = []
        for (index, movement) in movements.enumerated() {
            for (other, booking) in bookings.enumerated() {
                let rank = (booking.isAbout(movement) ? 0 : 1, booking.distance(to: movement))
                candidates.append((rank, index, other))
            }
        }
        candidates.sort {
            ($0.rank.0, $0.rank.1, $0.movement, $0.booking) < (
                $1.rank.0, $1.rank.1, $1.movement, $1.booking
            )
        }
        var (paired, used): (Set<Int>, Set<Int>) = ([], [])
        for candidate in candidates
        where !paired.contains(candidate.movement) && !used.contains(candidate.booking) {
            paired.insert(candidate.movement)
            used.insert(candidate.booking)
            result.pairs.append(
                Pair(movement: movements[candidate.movement], booking: bookings[candidate.booking])
            )
        }
        for (index, movement) in movements.enumerated() where !paired.contains(index) {
            note(missingThere: movement, covered)
        }
        for (index, booking) in bookings.enumerated() where !used.contains(index) {
            note(missingHere: booking, packages)
        }
    }

    private mutating func note(missingThere movement: Finance.Movement, _ covered: Set<Finance.Day>)
    {
        // A day of Google's may begin hours later.
        guard covered.contains(movement.day), covered.contains(Finance.Day(pacific: movement.at))
        else {
            result.pending.append(movement)
            return
        }
        result.differences.append(
            Finance.Difference(
                .init(
                    .missingThere,
                    "no line of the order \(movement.payment) tells of it",
                    movement.gross
                ),
                store: .googlePlay,
                source: source,
                movement
            )
        )
    }

    private mutating func note(missingHere booking: Booking, _ packages: Set<String>?) {
        // The reports tell of all apps of the account, and of apps that are sold themselves.
        guard !booking.product.isEmpty, packages?.contains(booking.package) ?? true else { return }
        result.differences.append(
            Finance.Difference(
                .missingHere,
                store: .googlePlay,
                source: source,
                product: booking.product,
                line: booking.place,
                reportedDay: booking.day,
                units: 1,
                reported: booking.amount,
                detail: booking.isRefund
                    ? "a refund of the order \(booking.order) of which nothing is known"
                    : "a charge of the order \(booking.order) of which nothing is known"
            )
        )
    }
}

extension GooglePlayBooking {
    /// The time between it and the movement of the record, in milliseconds.
    fileprivate func distance(to movement: Finance.Movement) -> UInt64 {
        let noon = day.start.advanced(by: 20 * 3_600_000)
        let (distance, overflow) = (at ?? noon).milliseconds
            .subtractingReportingOverflow(movement.at.milliseconds)
        return overflow ? .max : distance.magnitude
    }
}
