extension AppStore {
    /// A line of SUBSCRIPTION, SUBSCRIPTION_EVENT or SUBSCRIBER, with its values as they came.
    public struct SubscriptionRow: Hashable, Codable, Sendable {
        /// `nil` in SUBSCRIPTION, which is about one day as a whole.
        public var eventDate: ReportDay?
        /// By the names of their columns; empty ones are left out.
        public var values: [String: String]

        init(_ row: TabularReport.Row) throws(ConnectReportError) {
            eventDate = row.values["Event Date"] == nil ? nil : try row.day("Event Date")
            values = row.values.filter { !$0.value.isEmpty }
        }
    }
}
