internal import TollgateCore

extension Reports {
    /// The rows behind figures.
    public enum RowKind: String, CaseIterable, Codable, Hashable, Sendable {
        case sales, periods, coins
    }
}

extension Reports.Report {
    /// The rows that its figures are made of.
    public var rowKind: Reports.RowKind {
        switch self {
        case .overview, .sales, .revenue, .downloads, .refunds, .ltv, .placements: .sales
        case .subscriptions, .events, .mrr, .mrrMovement, .churn, .trials, .retention: .periods
        case .coins: .coins
        }
    }
}

extension Reports {
    /// Rows as tables, one line each.
    public enum RowTables {
        /// Charges and refunds as a table, instants in UNIX milliseconds.
        public static func table(of sales: [Sale]) -> Table {
            Table(
                name: RowKind.sales.rawValue,
                title: "Charges and refunds",
                columns: [
                    .init("kind", "Kind", .text), .init("day", "Day", .day),
                    .init("at", "At", .count), .init("purchased_at", "Purchased at", .count),
                    .init("store", "Store", .text), .init("environment", "Environment", .text),
                    .init("purchase", "Purchase", .text),
                    .init("transaction", "Transaction", .text),
                    .init("payment", "Payment", .text), .init("refund", "Refund", .text),
                    .init("product", "Product", .text),
                    .init("store_product", "Store's product", .text),
                    .init("product_kind", "Kind of product", .text),
                    .init("country", "Country", .text), .init("currency", "Currency", .text),
                    .init("milliunits", "Milliunits", .count),
                    .init("quantity", "Quantity", .count), .init("offer", "Offer", .text),
                    .init("renewal", "Renewal", .count),
                    .init("after_one_year", "After one year", .count),
                    .init("family_shared", "Family shared", .count),
                    .init("first_refund", "First refund", .count),
                    .init("customer", "Customer", .text),
                ],
                rows: sales.map { sale in
                    [
                        .text(sale.kind.rawValue), .day(sale.day), .count(sale.at.milliseconds),
                        .count(sale.purchased.milliseconds), .text(sale.store.rawValue),
                        .text(sale.environment.rawValue), .text(sale.purchase.canonical),
                        .text(sale.transaction), .text(sale.payment ?? ""),
                        .text(sale.refund ?? ""), .text(sale.product), .text(sale.storeProduct),
                        .text(sale.productKind?.rawValue ?? ""), .text(sale.country),
                        .text(sale.currency), .count(sale.amount), .count(sale.quantity),
                        .text(sale.offer.rawValue), .count(sale.isRenewal ? 1 : 0),
                        .count(sale.isAfterOneYear ? 1 : 0),
                        .count(sale.isFamilyShared ? 1 : 0), .count(sale.isFirstRefund ? 1 : 0),
                        .text(sale.customer),
                    ]
                }
            )
        }

        /// Periods of subscriptions as a table, instants in UNIX milliseconds.
        public static func table(of periods: [PaidPeriod]) -> Table {
            Table(
                name: RowKind.periods.rawValue,
                title: "Periods of subscriptions",
                columns: [
                    .init("day", "Day", .day), .init("store", "Store", .text),
                    .init("environment", "Environment", .text),
                    .init("purchase", "Purchase", .text), .init("id", "Id", .text),
                    .init("transaction", "Transaction", .text),
                    .init("product", "Product", .text),
                    .init("store_product", "Store's product", .text),
                    .init("country", "Country", .text), .init("currency", "Currency", .text),
                    .init("milliunits", "Milliunits", .count), .init("offer", "Offer", .text),
                    .init("family_shared", "Family shared", .count),
                    .init("start", "Start", .count), .init("end", "End", .count),
                    .init("paid_until", "Paid until", .count),
                    .init("effective_end", "Effective end", .count),
                    .init("awaited_until", "Awaited until", .count),
                    .init("refunded_at", "Refunded at", .count),
                    .init("retried_since", "Retried since", .count),
                    .init("duration", "Duration", .text), .init("proration", "Proration", .count),
                    .init("unpriced", "Unpriced", .count),
                    .init("customer", "Customer", .text),
                ],
                rows: periods.map { period in
                    [
                        .day(Day(period.start)), .text(period.store.rawValue),
                        .text(period.environment.rawValue), .text(period.purchase.canonical),
                        .text(period.id), .text(period.transaction), .text(period.product),
                        .text(period.storeProduct), .text(period.country), .text(period.currency),
                        .count(period.amount), .text(period.offer.rawValue),
                        .count(period.isFamilyShared ? 1 : 0), .count(period.start.milliseconds),
                        .count(period.end.milliseconds), .count(period.paidUntil.milliseconds),
                        .count(period.effectiveEnd.milliseconds),
                        period.awaitedUntil.map { .count($0.milliseconds) } ?? .none,
                        period.refunded.map { .count($0.milliseconds) } ?? .none,
                        period.retriedSince.map { .count($0.milliseconds) } ?? .none,
                        .text(period.duration ?? ""), .count(period.isProration == true ? 1 : 0),
                        .count(period.isUnpriced == true ? 1 : 0), .text(period.customer),
                    ]
                }
            )
        }

        /// Coins that came, went back or were spent, as a table.
        public static func table(of moves: [CoinMove]) -> Table {
            Table(
                name: RowKind.coins.rawValue,
                title: "Coins",
                columns: [
                    .init("kind", "Kind", .text), .init("day", "Day", .day),
                    .init("at", "At", .count), .init("store", "Store", .text),
                    .init("environment", "Environment", .text),
                    .init("purchase", "Purchase", .text), .init("lot", "Lot", .text),
                    .init("product", "Product", .text), .init("country", "Country", .text),
                    .init("coins", "Coins", .count), .init("customer", "Customer", .text),
                ],
                rows: moves.map { move in
                    [
                        .text(move.kind.rawValue), .day(Day(move.at)),
                        .count(move.at.milliseconds), .text(move.store?.rawValue ?? ""),
                        .text(move.environment.rawValue), .text(move.purchase?.canonical ?? ""),
                        .text(move.lot), .text(move.product), .text(move.country),
                        .count(move.coins), .text(move.customer),
                    ]
                }
            )
        }
    }
}

extension Reports.Table {
    /// Adds the app of each row as a last column, for a catalog with several apps.
    public mutating func add(apps: [String?]) {
        columns.append(.init("app", "App", .text))
        for index in rows.indices { rows[index].append(.text(apps[index] ?? "")) }
    }
}
