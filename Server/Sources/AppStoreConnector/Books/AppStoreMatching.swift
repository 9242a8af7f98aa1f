public import Reports
public import TollgateCore

extension Finance {
    /// Matches the record's sales with the lines of one kind of report of the App Store.
    ///
    /// The reports name no transactions: they count units of a product at a price on a day. So the
    /// pairs are found from the strictest sense to the loosest, and what had to be loosened is the
    /// reason of the difference.
    public struct AppStoreMatching {
        /// A sale and the line that reports it.
        public struct Pair: Hashable, Sendable {
            public var movement: Movement
            public var line: AppStoreLine
            /// Whether line and record agree in what the customer paid.
            public var isSamePrice: Bool

            public init(movement: Movement, line: AppStoreLine, isSamePrice: Bool) {
                self.movement = movement
                self.line = line
                self.isSamePrice = isSamePrice
            }
        }

        /// What was found.
        public struct Result: Sendable {
            public var pairs: [Pair] = []
            public var differences: [Difference] = []
            /// Sales of days that no report covers yet.
            public var pending: [Movement] = []
        }

        fileprivate struct Key: Hashable {
            var product: String
            var isRefund: Bool
            var price: Money?
        }

        private let source: String
        private let environment: StoreEnvironment
        private let terms: AppStoreTerms
        private var lines: [AppStoreLine]
        private var movements: [Movement] = []
        private var isMatched: [Bool] = []
        private var result = Result()

        /// How many days after a sale the store may book it.
        static let longestSettlement: Int64 = 14
        /// How many days may lie between a refund and its booking.
        static let longestRefund: Int64 = 40

        /// - Parameters:
        ///   - movements: the record's, of both environments; also some weeks around the time that
        ///     is asked for, since a sale may be booked later.
        ///   - lines: of one kind of report, without overlap.
        ///   - covered: the days of which there are reports, also those on which nothing was sold.
        ///   - environment: whose sales the reports tell.
        ///   - terms: what the store is expected to keep.
        public static func match(
            _ movements: [Movement],
            with lines: [AppStoreLine],
            source: String,
            covering covered: Set<Day>,
            in environment: StoreEnvironment = .production,
            terms: AppStoreTerms = AppStoreTerms()
        ) -> Result {
            var matching = AppStoreMatching(
                source: source,
                environment: environment,
                terms: terms,
                lines: lines
            )
            matching.setAside(movements)
            matching.pairByDay()
            matching.pairRefunds()
            matching.pairCorrections()
            matching.pairSettled()
            matching.pairOffers()
            matching.pairByProduct()
            matching.listRest(covered)
            return matching.result
        }

        /// Takes out what no report tells of.
        private mutating func setAside(_ all: [Movement]) {
            for movement in all.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }) {
                // A finance report has no lines for what cost nothing.
                if source == "FINANCIAL", movement.amount.isZero { continue }
                if movement.environment != environment {
                    differ(
                        Finding(.sandbox, "bought in \(movement.environment.rawValue)"),
                        movement
                    )
                } else if movement.isFamilyShared {
                    guard movement.kind == .charge else { continue }
                    differ(
                        Finding(.familySharing, "shared by another member of the family"),
                        movement
                    )
                } else {
                    movements.append(movement)
                }
            }
            isMatched = Array(repeating: false, count: movements.count)
        }

        // MARK: - From the strictest sense to the loosest

        private mutating func pairByDay() {
            pair(
                demand: { ($0.key, Day(pacific: $0.at), $0.day) },
                supply: { Key($0) }
            ) { movement, line in
                (line.first...line.last).contains(movement.day)
                    ? nil : Finding(.timeZone, "\(movement.day) here, \(line.first) in Cupertino")
            }
        }

        private mutating func pairRefunds() {
            pair(
                demand: { movement in
                    guard movement.kind != .charge else { return nil }
                    return (
                        movement.key, movement.day.advanced(by: -Self.longestRefund),
                        movement.day.advanced(by: Self.longestRefund)
                    )
                },
                supply: { Key($0) }
            ) { Finding(.refundTiming, "granted on \($0.day), booked on \($1.first)") }
        }

        private mutating func pairSettled() {
            pair(
                demand: { movement in
                    guard movement.kind == .charge else { return nil }
                    return (
                        movement.key, movement.day.advanced(by: 1),
                        movement.day.advanced(by: Self.longestSettlement)
                    )
                },
                supply: { Key($0) }
            ) { Finding(.settlementDate, "sold on \($0.day), booked on \($1.first)") }
        }

        /// What was booked is taken out of the books again, and booked as it should have been.
        private mutating func pairCorrections() {
            let sold = Set(movements.map { Key($0.product, isRefund: false, $0.unitPrice) })
            var charges: [String: [Int]] = [:]
            for index in lines.indices where !lines[index].isRefund && lines[index].units > 0 {
                charges["\(lines[index].first) \(lines[index].product)", default: []].append(index)
            }
            for index in lines.indices where lines[index].isRefund && lines[index].units > 0 {
                let line = lines[index]
                guard sold.contains(Key(line.product, isRefund: false, line.price)) else {
                    continue
                }
                // At one price it is a sale and another's refund, both unknown here.
                for charge in charges["\(line.first) \(line.product)"] ?? []
                where (lines[charge].price, lines[charge].proceeds) != (line.price, line.proceeds) {
                    let count = min(lines[index].units, lines[charge].units)
                    guard count > 0 else { continue }
                    lines[index].units -= count
                    lines[charge].units -= count
                    let corrected = lines[charge]
                    result.differences.append(
                        Difference(
                            .lateCorrection,
                            store: .appStore,
                            source: source,
                            product: line.product,
                            line: corrected.place,
                            reportedDay: line.first,
                            units: count,
                            expected: line.price,
                            reported: corrected.price,
                            detail: "\(line.price) was taken back and \(corrected.price) booked"
                        )
                    )
                }
            }
        }

        private mutating func pairOffers() {
            pair(
                demand: { movement in
                    guard movement.isOffer, movement.kind == .charge, !movement.amount.isZero
                    else { return nil }
                    return (
                        Key(movement.product, isRefund: false, nil), Day(pacific: movement.at),
                        movement.day
                    )
                },
                supply: { $0.price.isZero ? Key($0.product, isRefund: $0.isRefund, nil) : nil },
                isSamePrice: false
            ) { movement, _ in
                Finding(.freeOffer, "an offer at \(movement.unitPrice), booked at zero")
            }
        }

        private mutating func pairByProduct() {
            let terms = terms
            pair(
                demand: { movement in
                    (
                        Key(movement.product, isRefund: movement.kind != .charge, nil),
                        Day(pacific: movement.at), movement.day
                    )
                },
                supply: { Key($0.product, isRefund: $0.isRefund, nil) },
                isSamePrice: false
            ) { movement, line in
                Finding(
                    terms.reason(expected: movement.unitPrice, line),
                    "\(movement.unitPrice) here, \(line.price) there"
                )
            }
        }

        private mutating func listRest(_ covered: Set<Day>) {
            for index in movements.indices where !isMatched[index] {
                let movement = movements[index]
                let days = [Day(pacific: movement.at), movement.day]
                guard days.allSatisfy(covered.contains) else {
                    result.pending.append(movement)
                    continue
                }
                differ(Finding(.missingThere, "no line of a report tells of it"), movement)
            }
            for line in lines where line.units > 0 {
                result.differences.append(
                    Difference(
                        .missingHere,
                        store: .appStore,
                        source: source,
                        product: line.product,
                        line: line.place,
                        reportedDay: line.first,
                        units: line.units,
                        reported: line.price,
                        detail: line.isRefund
                            ? "\(line.units) at \(line.price) taken back in \(line.country)"
                            : "\(line.units) at \(line.price) in \(line.country)"
                    )
                )
            }
        }

        // MARK: - Pairs

        private typealias Wish = (key: Key, first: Day, last: Day)

        /// Pairs what is left of both sides by a key and by days.
        private mutating func pair(
            demand wish: (Movement) -> Wish?,
            supply key: (AppStoreLine) -> Key?,
            isSamePrice: Bool = true,
            _ found: (Movement, AppStoreLine) -> Finding?
        ) {
            var demands: [Key: [(index: Int, demand: IntervalMatching.Demand)]] = [:]
            for index in movements.indices where !isMatched[index] {
                guard let wish = wish(movements[index]) else { continue }
                demands[wish.key, default: []].append(
                    (
                        index,
                        .init(first: wish.first, last: wish.last, count: movements[index].quantity)
                    )
                )
            }
            guard !demands.isEmpty else { return }
            var supplies: [Key: [Int]] = [:]
            for index in lines.indices where lines[index].units > 0 {
                guard let key = key(lines[index]) else { continue }
                supplies[key, default: []].append(index)
            }
            var pairs: [(movement: Int, line: Int)] = []
            for (key, wanted) in demands {
                guard let offered = supplies[key] else { continue }
                let served = IntervalMatching.serve(
                    wanted.map(\.demand),
                    from: offered.map {
                        .init(first: lines[$0].first, last: lines[$0].last, count: lines[$0].units)
                    }
                )
                for (place, supply) in zip(wanted, served) {
                    if let supply { pairs.append((place.index, offered[supply])) }
                }
            }
            for pair in pairs.sorted(by: { $0.movement < $1.movement }) {
                let movement = movements[pair.movement]
                let line = lines[pair.line]
                isMatched[pair.movement] = true
                lines[pair.line].units -= movement.quantity
                result.pairs.append(Pair(movement: movement, line: line, isSamePrice: isSamePrice))
                if let finding = found(movement, line) { differ(finding, movement, line) }
                guard isSamePrice else { continue }
                for finding in terms.findings(movement, line) { differ(finding, movement, line) }
            }
        }

        private mutating func differ(
            _ finding: Finding,
            _ movement: Movement,
            _ line: AppStoreLine? = nil
        ) {
            var finding = finding
            finding.expected = finding.expected ?? movement.unitPrice
            finding.reported = finding.reported ?? line?.price
            result.differences.append(
                Difference(
                    finding,
                    store: .appStore,
                    source: source,
                    movement,
                    line: line?.place,
                    on: line?.first
                )
            )
        }
    }
}

extension AppStoreTerms {
    /// Why one unit costs something else in the report.
    fileprivate func reason(
        expected: Finance.Money,
        _ line: Finance.AppStoreLine
    ) -> Finance.Reason {
        guard expected.currency == line.price.currency else { return .exchangeRate }
        guard taxes[line.country] != nil else { return .amountDiffers }
        let isTax =
            net(line.price, of: line.country).isAbout(expected)
            || net(expected, of: line.country).isAbout(line.price)
        return isTax ? .tax : .amountDiffers
    }

    /// Why the store pays something else than was expected of a sale on which both sides agree; empty
    /// where it does not.
    fileprivate func findings(
        _ movement: Finance.Movement,
        _ line: Finance.AppStoreLine
    ) -> [Finance.Finding] {
        let (price, paid) = (line.price, line.proceeds)
        let share = left(of: movement)
        let expected = price.scaled(by: .init(basisPoints: share))
        guard paid.currency == price.currency else {
            return [.init(.exchangeRate, "paid out in \(paid.currency)", expected, paid)]
        }
        guard !paid.isAbout(expected) else { return [] }
        let unexplained = Finance.Finding(
            .amountDiffers,
            "proceeds that no rate explains",
            expected,
            paid
        )
        func otherRate(of price: Finance.Money) -> Int64? {
            [Self.fullRate, Self.reducedRate].first {
                $0 != share && paid.isAbout(price.scaled(by: .init(basisPoints: $0)))
            }
        }
        if let other = otherRate(of: price) {
            let detail = "\(other / 100) % of the price instead of \(share / 100) %"
            return [.init(.commissionRate, detail, expected, paid)]
        }
        let net = net(price, of: line.country)
        guard net != price else { return [unexplained] }
        let taxed = net.scaled(by: .init(basisPoints: share))
        let tax = "\((taxes[line.country] ?? 0).asPercent) tax of \(line.country) in the price"
        if paid.isAbout(taxed) { return [.init(.tax, tax, expected, paid)] }
        guard let other = otherRate(of: net) else { return [unexplained] }
        let detail = "\(other / 100) % of the price without tax instead of \(share / 100) %"
        return [
            .init(.tax, tax, expected, taxed), .init(.commissionRate, detail, taxed, paid),
        ]
    }
}

extension Finance.AppStoreMatching.Key {
    fileprivate init(_ product: String, isRefund: Bool, _ price: Finance.Money?) {
        self.product = product
        self.isRefund = isRefund
        // Nothing is nothing in every currency.
        self.price = price.map { $0.isZero ? .zero("") : $0 }
    }

    fileprivate init(_ line: Finance.AppStoreLine) {
        self.init(line.product, isRefund: line.isRefund, line.price)
    }
}

extension Finance.Movement {
    fileprivate var key: Finance.AppStoreMatching.Key {
        Finance.AppStoreMatching.Key(product, isRefund: kind != .charge, unitPrice)
    }
}

extension Int64 {
    /// Hundredths of a percent, as people write them.
    fileprivate var asPercent: String {
        self % 100 == 0
            ? "\(self / 100) %" : "\(self / 100).\(self % 100 < 10 ? "0" : "")\(self % 100) %"
    }
}
