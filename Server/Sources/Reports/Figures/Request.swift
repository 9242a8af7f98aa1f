public import TollgateCore

extension Reports {
    /// By what figures can be kept apart.
    public enum Dimension: String, CaseIterable, Codable, Hashable, Sendable {
        case store, app, product, country, offer

        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    /// What is counted; `nil` is everything.
    public struct Filters: Hashable, Sendable {
        public var store: Store?
        /// The catalog's id of the product.
        public var product: String?
        /// Two letters.
        public var country: String?
        /// The catalog's id of the app.
        public var app: String?

        public init(
            store: Store? = nil,
            product: String? = nil,
            country: String? = nil,
            app: String? = nil
        ) {
            self.store = store
            self.product = product
            self.country = country
            self.app = app
        }
    }

    /// A question for figures.
    public struct Request: Hashable, Sendable {
        public var report: Report
        /// The first day.
        public var from: Day
        /// The last day, included.
        public var to: Day
        public var by: Step
        /// What is kept apart; `nil`: what the report keeps apart by itself.
        public var group: [Dimension]?
        public var filters: Filters
        public var environment: StoreEnvironment
        /// Today: what is not due yet is not counted as missed.
        public var today: Day
        /// The fees that the stores are expected to keep.
        public var terms: Finance.Terms

        public init(
            _ report: Report,
            from: Day,
            to: Day,
            by: Step,
            group: [Dimension]? = nil,
            filters: Filters = Filters(),
            environment: StoreEnvironment,
            today: Day,
            terms: Finance.Terms
        ) {
            self.report = report
            self.from = from
            self.to = to
            self.by = by
            self.group = group
            self.filters = filters
            self.environment = environment
            self.today = today
            self.terms = terms
        }

        /// What is kept apart.
        public var dimensions: [Dimension] { group ?? report.dimensions }

        /// The stretches of which it needs the sums; `nil`: one of the whole range will do.
        public var step: Step? {
            guard report.hasPieces else { return nil }
            return report.needsDays ? .day : by
        }

        /// The same question in stretches, as equally long as they come, that can be answered at the
        /// same time: their lines, one after the other, are the answer.
        ///
        /// Only of a report that counts each of its pieces for itself and has no line for what did
        /// not happen; the others, and short ones, are one stretch.
        ///
        /// - Parameter count: how many stretches at most.
        public func stretches(_ count: Int) -> [Request] {
            let pieces = report == .sales ? by.pieces(from: from, to: to) : []
            guard count > 1, pieces.count >= Self.longEnough else { return [self] }
            return (0..<count).map { number in
                var request = self
                request.from = pieces[pieces.count * number / count].lowerBound
                request.to = pieces[pieces.count * (number + 1) / count - 1].upperBound
                return request
            }
        }

        /// From how many pieces on it is worth the while.
        private static let longEnough = 100
    }

    /// What the figures of a report are made from.
    public struct Material: Sendable {
        /// Cumulative measures, summed over all days before the first.
        public var opening: [Entry]
        /// All measures, by day or month.
        public var within: [Entry]
        /// What the App Store and Google Play reported of the days.
        public var reported: [ReportedSale]
        /// The showings at placements and the purchases that follow them.
        public var placements = PlacementOutcomes()

        public init(opening: [Entry] = [], within: [Entry] = [], reported: [ReportedSale] = []) {
            self.opening = opening
            self.within = within
            self.reported = reported
        }
    }

    /// A line of a store's own sales report.
    public struct ReportedSale: Hashable, Sendable {
        /// As the store counts days.
        public var day: Day
        /// Apple's code: `1F`, `IAY`; empty for a line of another store, which counts no units.
        public var productType: String
        public var country: String
        /// Negative for refunds.
        public var units: Int64
        /// Of all units in milliunits, negative for refunds.
        public var proceeds: Fraction
        public var currency: String

        public init(
            day: Day,
            productType: String,
            country: String,
            units: Int64,
            proceeds: Fraction,
            currency: String
        ) {
            self.day = day
            self.productType = productType
            self.country = country
            self.units = units
            self.proceeds = proceeds
            self.currency = currency
        }
    }
}
