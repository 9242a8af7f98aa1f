/// What did not hold, and where the story says so.
public struct ScenarioFailure: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var line: Int
    public var message: String
    /// How it was played: "in order", "order 3, seed 7", "under renewal_lead, order 1".
    public var how: String

    public var description: String { "\(file):\(line): \(message) (\(how))" }

    /// The objections that `play` raises to a story's checks; what it throws is one of the first line.
    static func found(
        in file: String,
        _ how: String,
        _ play: () async throws -> [(line: Int, objection: String?)]
    ) async -> [ScenarioFailure] {
        do {
            return try await play().compactMap { line, objection in
                objection.map { ScenarioFailure(file: file, line: line, message: $0, how: how) }
            }
        } catch var failure as ScenarioFailure {
            failure.how = how
            return [failure]
        } catch {
            return [ScenarioFailure(file: file, line: 1, message: "\(error)", how: how)]
        }
    }
}
