public import Reports
public import TollgateCore

extension Finance {
    /// Matches the record's payments with Stripe's balance transactions, by their ids.
    public struct StripeMatching {
        /// A payment, refund or dispute and what it did to the balance, mostly one transaction.
        public struct Pair: Hashable, Sendable {
            public var movement: Movement
            public var lines: [BalanceLine]

            public init(movement: Movement, lines: [BalanceLine]) {
                self.movement = movement
                self.lines = lines
            }
        }

        /// A refund that failed or a dispute that was won: the record does not count it, and what
        /// went came back.
        public struct Undone: Hashable, Sendable {
            /// `re_…`, `dp_…`.
            public var id: String
            public var created: Instant
            /// When the store said so.
            public var ended: Instant

            public init(id: String, created: Instant, ended: Instant) {
                self.id = id
                self.created = created
                self.ended = ended
            }

            /// The days of the transactions that tell of it: from a while before it was made to when
            /// the money should be back.
            public var days: ClosedRange<Day> {
                let first = Day(utc: created).advanced(by: -7)
                return first...max(first, Day(utc: ended).advanced(by: 14))
            }
        }

        /// What was found.
        public struct Result: Sendable {
            public var pairs: [Pair] = []
            public var differences: [Difference] = []
            /// Payments of days that are not fetched yet.
            public var pending: [Movement] = []
        }

        /// What reports call themselves.
        public static let source = "STRIPE_BALANCE"

        private let terms: StripeTerms
        private var undone: Set<String> = []
        private var result = Result()

        /// - Parameters:
        ///   - movements: the record's, all of one environment; also some weeks around the time
        ///     that is asked for.
        ///   - lines: each transaction once.
        ///   - payouts: to be compared with the sums of their transactions.
        ///   - transactions: the ids of each payout's, where Stripe says them: a payout is compared
        ///     only where all of them are among `lines`.
        ///   - undone: what the record knows to have come to nothing.
        ///   - further: transactions of other days that tell of what came to nothing.
        ///   - covered: the days whose transactions are here.
        ///   - environment: whose payments the transactions tell.
        public static func match(
            _ movements: [Movement],
            with lines: [BalanceLine],
            payouts: [Payout] = [],
            of transactions: [String: [String]] = [:],
            undone: [Undone] = [],
            beside further: [BalanceLine] = [],
            covering covered: Set<Day>,
            in environment: StoreEnvironment = .production,
            terms: StripeTerms = StripeTerms()
        ) -> Result {
            var matching = StripeMatching(terms: terms)
            let known = matching.setAside(movements, environment)
            let lines = lines.filter { $0.environment == nil || $0.environment == environment }
            matching.undone = Self.balanced(lines + further)
            let waiting = undone.filter { !covered.contains($0.days.upperBound) }
            matching.undone.formUnion(waiting.map(\.id))
            let found = matching.sort(lines, known, Set(undone.map(\.id)))
            for movement in known.values.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }) {
                matching.compare(movement, found[movement.id] ?? [], covered)
            }
            let ids = Set(lines.map(\.id))
            // The days at the edge of what was fetched hold only a part of some payout.
            matching.compare(
                payouts.filter { transactions[$0.id]?.allSatisfy(ids.contains) ?? true },
                lines
            )
            return matching.result
        }

        private mutating func setAside(
            _ all: [Movement],
            _ environment: StoreEnvironment
        ) -> [String: Movement] {
            var known: [String: Movement] = [:]
            for movement in all {
                guard movement.environment == environment else {
                    let place = movement.environment.rawValue
                    differ(Finding(.sandbox, "bought in \(place)", movement.amount), movement)
                    continue
                }
                // What costs nothing moves no balance.
                if !movement.amount.isZero { known[movement.id] = movement }
            }
            return known
        }

        /// The transactions of each movement; those of none are differences or no sales.
        ///
        /// - Parameter nothing: the ids of what came to nothing.
        private mutating func sort(
            _ lines: [BalanceLine],
            _ known: [String: Movement],
            _ nothing: Set<String>
        ) -> [String: [BalanceLine]] {
            var found: [String: [BalanceLine]] = [:]
            for line in lines.sorted(by: { ($0.created, $0.id) < ($1.created, $1.id) }) {
                switch line.kind {
                case .payout, .other: break
                case .fee:
                    note(.commissionRate, line, "a fee of Stripe's that belongs to no charge")
                case .tax: note(.tax, line, "a tax beside the charges")
                case .correction: note(.lateCorrection, line, "a correction by Stripe")
                case .charge, .refund, .dispute:
                    if let id = line.references.first(where: { known[$0] != nil }) {
                        found[id, default: []].append(line)
                    } else if !undone.contains(line.source ?? "") {
                        let cameToNothing = nothing.contains(line.source ?? "")
                        note(
                            cameToNothing ? .missingThere : .missingHere,
                            line,
                            cameToNothing
                                ? "a \(line.kind.rawValue) that came to nothing, and the money is not back"
                                : "a \(line.kind.rawValue) of which nothing is known"
                        )
                    }
                }
            }
            return found
        }

        /// Refunds that failed and disputes that were won: what went came back, and the record no
        /// longer counts them.
        private static func balanced(_ lines: [BalanceLine]) -> Set<String> {
            var sums: [String: [String: Money]] = [:]
            for line in lines where line.kind == .refund || line.kind == .dispute {
                if let source = line.source { sums[source, default: [:]][line.id] = line.amount }
            }
            return Set(sums.filter { sum(Array($0.value.values))?.isZero ?? false }.keys)
        }

        private mutating func note(_ reason: Reason, _ line: BalanceLine, _ detail: String) {
            let isFee = line.kind == .fee && line.amount.isZero
            result.differences.append(
                Difference(
                    reason,
                    store: .stripe,
                    source: Self.source,
                    product: "",
                    line: line.id,
                    reportedDay: line.day,
                    units: 1,
                    reported: isFee ? -line.fee : line.amount,
                    detail: line.description.map { "\(detail) (Stripe: ‘\($0)’)" } ?? detail
                )
            )
        }

        private mutating func compare(
            _ movement: Movement,
            _ lines: [BalanceLine],
            _ covered: Set<Day>
        ) {
            guard let line = lines.first else {
                guard covered.contains(movement.day) else {
                    result.pending.append(movement)
                    return
                }
                let detail = "no balance transaction tells of it"
                return differ(Finding(.missingThere, detail, movement.amount), movement)
            }
            result.pairs.append(Pair(movement: movement, lines: lines))
            let findings = [
                amount(of: movement, lines, line), day(of: movement, line),
                movement.kind == .charge ? fee(lines) : nil, feeTax(lines),
            ]
            for finding in findings.compactMap(\.self) { differ(finding, movement, line) }
        }

        private func amount(
            of movement: Movement,
            _ lines: [BalanceLine],
            _ line: BalanceLine
        ) -> Finding? {
            let expected = movement.kind == .charge ? movement.amount : -movement.amount
            guard let booked = Self.sum(lines.map(\.amount)) else {
                let detail = "booked in several currencies"
                return Finding(.amountDiffers, detail, expected, line.amount)
            }
            guard booked.currency != expected.currency else {
                guard booked != expected else { return nil }
                let detail = "\(expected) here, \(booked) there"
                return Finding(.amountDiffers, detail, expected, booked)
            }
            guard let rate = line.exchangeRate else {
                let detail = "in another currency without a rate of exchange"
                return Finding(.amountDiffers, detail, expected, booked)
            }
            let converted = Money(
                millionths: expected.scaled(by: rate).millionths,
                currency: booked.currency
            )
            guard converted.isAbout(booked) else {
                let detail = "at the rate of \(rate) it would be \(converted.rounded)"
                return Finding(.amountDiffers, detail, converted, booked)
            }
            return Finding(.exchangeRate, "converted at \(rate)", expected, booked)
        }

        /// A record may have learned of a payment some time after it was made, so less than a day
        /// is no difference.
        private func day(of movement: Movement, _ line: BalanceLine) -> Finding? {
            let day: Int64 = 86_400_000
            let isNear =
                movement.at.advanced(by: -day) <= line.created
                && line.created <= movement.at.advanced(by: day)
            guard !isNear else { return nil }
            let isCharge = movement.kind == .charge
            return Finding(
                isCharge ? .settlementDate : .refundTiming,
                isCharge
                    ? "sold on \(movement.day), booked on \(line.day)"
                    : "granted on \(movement.day), booked on \(line.day)",
                movement.amount,
                line.amount
            )
        }

        private func fee(_ lines: [BalanceLine]) -> Finding? {
            guard let fee = Self.sum(lines.map { $0.fee - $0.feeTax }),
                let amount = Self.sum(lines.map(\.amount)),
                let expected = terms.fee(of: amount), !fee.isAbout(expected)
            else { return nil }
            let detail = "a fee of \(fee) where \(expected) was expected"
            return Finding(.commissionRate, detail, expected, fee)
        }

        private func feeTax(_ lines: [BalanceLine]) -> Finding? {
            guard let tax = Self.sum(lines.map(\.feeTax)), !tax.isZero else { return nil }
            return Finding(.tax, "\(tax) of tax on the fee", .zero(tax.currency), tax)
        }

        /// What a payout brings is the sum of what went with it.
        private mutating func compare(_ payouts: [Payout], _ lines: [BalanceLine]) {
            var sums: [String: Money] = [:]
            for line in lines where line.kind != .payout {
                guard let payout = line.payout else { continue }
                guard let sum = sums[payout] else {
                    sums[payout] = line.net
                    continue
                }
                if sum.currency == line.net.currency { sums[payout] = sum + line.net }
            }
            for payout in payouts {
                guard let sum = sums[payout.id], sum != payout.amount else { continue }
                result.differences.append(
                    Difference(
                        .amountDiffers,
                        store: .stripe,
                        source: "STRIPE_PAYOUT",
                        product: "",
                        line: payout.id,
                        reportedDay: payout.arrival,
                        units: 1,
                        expected: sum,
                        reported: payout.amount,
                        detail: "the transactions of the payout sum to \(sum)"
                    )
                )
            }
        }

        private static func sum(_ amounts: [Money]) -> Money? {
            guard let first = amounts.first,
                amounts.allSatisfy({ $0.currency == first.currency })
            else { return nil }
            return amounts.dropFirst().reduce(first) { $0 + $1 }
        }

        private mutating func differ(
            _ finding: Finding,
            _ movement: Movement,
            _ line: BalanceLine? = nil
        ) {
            result.differences.append(
                Difference(
                    finding,
                    store: .stripe,
                    source: Self.source,
                    movement,
                    line: line?.id,
                    on: line?.day
                )
            )
        }
    }
}
