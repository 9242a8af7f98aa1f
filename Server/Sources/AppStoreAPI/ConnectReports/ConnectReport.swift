extension AppStore {
    /// A report of App Store Connect with its rows, each as its kind has them.
    public struct ConnectReport: Hashable, Sendable {
        /// Which report it is.
        public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
            case sales = "SALES"
            case subscription = "SUBSCRIPTION"
            case subscriptionEvent = "SUBSCRIPTION_EVENT"
            case subscriber = "SUBSCRIBER"
            case financial = "FINANCIAL"
        }

        /// One line of it.
        public enum Row: Hashable, Sendable {
            case sales(SalesRow)
            case subscription(SubscriptionRow)
            case financial(FinancialRow)
        }

        public let kind: Kind
        public let rows: [Row]

        /// Reads a report, packed or not; its columns say which one it is.
        public init(_ bytes: [UInt8]) throws(ConnectReportError) {
            let table = try TabularReport(bytes)
            kind = try Self.kind(of: table.columns)
            var rows: [Row] = []
            for row in table.rows {
                switch kind {
                case .sales: rows.append(.sales(try SalesRow(row)))
                case .subscription, .subscriptionEvent, .subscriber:
                    rows.append(.subscription(try SubscriptionRow(row)))
                case .financial: rows.append(.financial(try FinancialRow(row)))
                }
            }
            self.rows = rows
        }

        /// Each report has a column that no other has.
        private static func kind(of columns: [String]) throws(ConnectReportError) -> Kind {
            let names = Set(columns)
            for (column, kind) in [
                ("Sales or Return", Kind.financial), ("Subscriber ID", .subscriber),
                ("Event", .subscriptionEvent),
                ("Active Standard Price Subscriptions", .subscription),
                ("Developer Proceeds", .sales),
            ] where names.contains(column) {
                return kind
            }
            throw ConnectReportError(.unknownReport, columns.prefix(4).joined(separator: ", "))
        }
    }
}
