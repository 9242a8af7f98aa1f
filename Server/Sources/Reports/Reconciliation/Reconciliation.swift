public import TollgateCore

extension Finance {
    /// How far our record and the stores' reports agree about some days.
    public struct Reconciliation: Hashable, Codable, Sendable {
        /// How much of each store was compared.
        public struct Coverage: Hashable, Codable, Sendable {
            public var store: Store
            /// `SALES`, `FINANCIAL`, `STRIPE_BALANCE`.
            public var source: String
            /// The first and last day of which there are reports; nil: of none.
            public var first: Day?
            public var last: Day?
            /// How many of the record's sales and refunds were found in reports.
            public var matched: Int
            /// How many are of days that no report covers yet.
            public var pending: Int

            public init(
                store: Store,
                source: String,
                covered: Set<Day>,
                matched: Int,
                pending: Int
            ) {
                self.store = store
                self.source = source
                first = covered.min()
                last = covered.max()
                self.matched = matched
                self.pending = pending
            }
        }

        /// All differences of one kind.
        public struct Summary: Hashable, Codable, Sendable {
            public var reason: Reason
            public var explanation: String
            public var isExplained: Bool
            public var store: Store
            public var source: String
            public var count: Int
            /// What the store says less what was expected, by currency; where the two sides are in
            /// different currencies, or one is missing, what the one side says.
            public var amounts: [Money]

            enum CodingKeys: String, CodingKey {
                case reason, explanation
                case isExplained = "explained"
                case store, source, count, amounts
            }
        }

        public var environment: StoreEnvironment
        public var first: Day
        public var last: Day
        public var coverage: [Coverage]
        /// Reports of these days that the store has issued again.
        public var reissues: [Reissue]
        public var summaries: [Summary]
        /// What nobody can explain first.
        public var differences: [Difference]

        /// - Parameters:
        ///   - reissues: of these and other days.
        ///   - differences: of these and other days.
        public init(
            environment: StoreEnvironment,
            first: Day,
            last: Day,
            coverage: [Coverage],
            reissues: [Reissue] = [],
            differences: [Difference]
        ) {
            self.environment = environment
            self.first = first
            self.last = last
            self.coverage = coverage
            self.reissues = reissues.filter { $0.isWithin(first, last) }
            self.differences = differences.filter { $0.isWithin(first, last) }
                .sorted { Self.order($0) < Self.order($1) }
            summaries = Self.summaries(of: self.differences)
        }

        private static func order(_ difference: Difference) -> (Reason, String, String, String) {
            (
                difference.reason, difference.source,
                (difference.reportedDay ?? difference.day)?.description ?? "",
                "\(difference.movement ?? "") \(difference.line ?? "")"
            )
        }

        private static func summaries(of differences: [Difference]) -> [Summary] {
            var summaries: [Summary] = []
            for difference in differences {
                let isSame =
                    summaries.last.map {
                        $0.reason == difference.reason && $0.source == difference.source
                            && $0.store == difference.store
                    } ?? false
                if !isSame {
                    summaries.append(
                        Summary(
                            reason: difference.reason,
                            explanation: difference.reason.explanation,
                            isExplained: difference.reason.isExplained,
                            store: difference.store,
                            source: difference.source,
                            count: 0,
                            amounts: []
                        )
                    )
                }
                summaries[summaries.count - 1].add(difference)
            }
            return summaries
        }

        enum CodingKeys: String, CodingKey {
            case environment
            case first = "from"
            case last = "to"
            case coverage, reissues, summaries, differences
        }
    }
}

extension Finance.Reconciliation.Summary {
    fileprivate mutating func add(_ difference: Finance.Difference) {
        count += 1
        guard let amount = difference.amount, !amount.isZero else { return }
        if let index = amounts.firstIndex(where: { $0.currency == amount.currency }) {
            amounts[index] = amounts[index] + amount
        } else {
            amounts.append(amount)
            amounts.sort { $0.currency < $1.currency }
        }
    }
}

extension Finance.Difference {
    /// What the store says less what was expected, of all units.
    public var amount: Finance.Money? {
        let count = store.reportsUnits ? units : 1
        switch (reported, expected) {
        case (let reported?, let expected?):
            guard reported.currency == expected.currency else { return reported.times(count) }
            return (reported - expected).times(count)
        case (let reported?, nil): return reported.times(count)
        case (nil, let expected?): return -expected.times(count)
        case (nil, nil): return nil
        }
    }
}
