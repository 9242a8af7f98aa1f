internal import TollgateCore

extension Reports {
    /// The purchases that follow a showing at a placement, counted for the variant that was shown first.
    public struct PlacementOutcomes: Hashable, Sendable {
        /// How many days after a showing a sale counts for it.
        static let window: Int64 = 30

        /// An offering at a placement.
        struct Variant: Hashable, Comparable {
            var placement: String
            var offering: String

            static func < (left: Variant, right: Variant) -> Bool {
                (left.placement, left.offering) < (right.placement, right.offering)
            }
        }

        /// The customers whose first showing was one variant, and their purchases.
        struct Outcome: Hashable {
            var customers: Int64 = 0
            var bought: Int64 = 0
            /// Those whose days are not over at the end of the report's last day.
            var open: Int64 = 0
            /// Charges less refunds in milliunits, by currency.
            var net: [String: Int64] = [:]
        }

        private(set) var outcomes: [Variant: Outcome] = [:]

        public init() {}

        /// Adds one customer.
        ///
        /// - Parameters:
        ///   - showings: all of the customer's, in any order.
        ///   - sales: all of the customer's, in any order.
        public mutating func add(_ showings: [Showing], _ sales: [Sale], _ request: Request) {
            let over = request.to.advanced(by: 1).start
            for (placement, seen) in Dictionary(grouping: showings, by: \.placement) {
                guard
                    let first = seen.min(by: { ($0.at, $0.offering) < ($1.at, $1.offering) }),
                    request.from <= first.day, first.day <= request.to
                else { continue }
                let end = first.at.advanced(by: Self.window * Day.length)
                let variant = Variant(placement: placement, offering: first.offering)
                outcomes[variant, default: Outcome()].add(
                    sales.filter { sale in
                        // What goes back counts with its charge.
                        !sale.isFamilyShared && sale.amount > 0 && sale.purchased >= first.at
                            && sale.at < min(end, over) && request.filters.admit(sale)
                    },
                    isOpen: over < end
                )
            }
        }
    }

    /// Figures of what was seen at placements.
    enum PlacementFigures {
        /// One row for each variant and currency, over the whole range.
        static func addPlacements(_ material: Material, to table: inout Table) {
            table.columns = [
                .init("placement", "Placement", .text), .init("offering", "Offering", .text),
                .init("currency", "Currency", .text), .init("customers", "Customers", .count),
                .init("bought", "Bought", .count), .init("conversion", "Conversion", .ratio),
                .init("open", "Still open", .count), .init("net", "Net", .money),
                .init("net_per_customer", "Net per customer", .money),
            ]
            let outcomes = material.placements.outcomes.sorted { $0.key < $1.key }
            for (variant, outcome) in outcomes {
                let words: [Table.Value] = [.text(variant.placement), .text(variant.offering)]
                let counts: [Table.Value] = [
                    .count(outcome.customers), .count(outcome.bought),
                    .share(outcome.bought, of: outcome.customers), .count(outcome.open),
                ]
                for (currency, net) in outcome.net.sorted(by: { $0.key < $1.key }) {
                    let each = Fraction(Int128(net), Int128(outcome.customers))
                    table.rows.append(
                        words + [.text(currency)] + counts + [
                            .money(Fraction(net), currency: currency),
                            .money(each, currency: currency),
                        ]
                    )
                }
                if outcome.net.isEmpty {
                    table.rows.append(words + [.text("")] + counts + [.none, .none])
                }
            }
        }
    }
}

extension Reports.PlacementOutcomes.Outcome {
    /// Adds a customer and the sales that count.
    fileprivate mutating func add(_ sales: [Reports.Sale], isOpen: Bool) {
        customers += 1
        if isOpen { open += 1 }
        if sales.contains(where: { $0.kind == .charge }) { bought += 1 }
        for sale in sales {
            switch sale.kind {
            case .charge: net[sale.currency, default: 0] &+= sale.amount
            case .refund, .chargeback: net[sale.currency, default: 0] &-= sale.amount
            }
        }
    }
}

extension Reports.Filters {
    fileprivate func admit(_ sale: Reports.Sale) -> Bool {
        (store ?? sale.store) == sale.store && (product ?? sale.product) == sale.product
            && (country ?? sale.country) == sale.country && (app == nil || app == sale.app)
    }
}
