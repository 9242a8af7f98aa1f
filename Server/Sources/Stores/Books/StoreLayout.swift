public import Reports
public import TollgateCore

/// A report of a store's own, in whose columns our figures are written too: programs that read the
/// store's files read these.
public struct StoreLayout: Sendable {
    public struct Question: Sendable {
        public var first: Reports.Day
        /// Included.
        public var last: Reports.Day
        public var catalog: Catalog
        public var terms: Finance.Terms

        public init(
            from first: Reports.Day,
            to last: Reports.Day,
            catalog: Catalog,
            terms: Finance.Terms
        ) {
            (self.first, self.last) = (first, last)
            (self.catalog, self.terms) = (catalog, terms)
        }
    }

    /// Writes the file from the figures of every store.
    public enum Writing: Sendable {
        /// From the sales of the days.
        case sales(@Sendable ([Reports.Sale], Question) -> String)
        /// From every period up to the last day, of whole purchases: what happens to one depends on the
        /// one before it.
        case periods(@Sendable ([Reports.PaidPeriod], Question) -> String)
    }

    public var name: String
    /// Whose report it is: `Apple`.
    public var owner: String
    public var writing: Writing

    public init(_ name: String, of owner: String, _ writing: Writing) {
        (self.name, self.owner, self.writing) = (name, owner, writing)
    }
}
