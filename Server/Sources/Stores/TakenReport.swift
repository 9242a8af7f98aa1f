/// What became of one report of a store's.
public struct TakenReport: Hashable, Sendable {
    public var kind: String
    public var period: String
    public var rows: Int
    /// Whether it is new or differs from what was kept.
    public var isNew: Bool

    public init(kind: String, period: String, rows: Int, isNew: Bool) {
        self.kind = kind
        self.period = period
        self.rows = rows
        self.isNew = isNew
    }
}
