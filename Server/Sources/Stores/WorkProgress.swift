/// How far long work has come, for people who watch it.
public struct WorkProgress: Hashable, Sendable {
    /// What is being done: `notifications that were not delivered`.
    public var step: String
    /// How many pieces of it are done.
    public var done: Int
    /// How many there are; `nil` where nobody knows before the end.
    public var of: Int?

    public init(step: String, done: Int, of: Int? = nil) {
        self.step = step
        self.done = done
        self.of = of
    }

    /// Told after every piece.
    public typealias Report = @Sendable (WorkProgress) -> Void
}
