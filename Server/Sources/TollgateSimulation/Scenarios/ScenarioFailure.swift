/// What did not hold, and where the story says so.
public struct ScenarioFailure: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var line: Int
    public var message: String
    /// How it was played: "in order", "order 3, seed 7", "under renewal_lead, order 1".
    public var how: String

    public var description: String { "\(file):\(line): \(message) (\(how))" }
}
