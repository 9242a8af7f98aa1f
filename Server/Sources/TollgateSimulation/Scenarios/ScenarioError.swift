/// One mistake in a scenario file, with its place.
public struct ScenarioError: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The file's name as it was given.
    public var file: String
    /// Counted from 1.
    public var line: Int
    /// What is wrong and what to do about it.
    public var message: String

    public init(file: String, line: Int, message: String) {
        (self.file, self.line, self.message) = (file, line, message)
    }

    /// As compilers print it, so that editors find the place.
    public var description: String { "\(file):\(line): error: \(message)" }
}

/// Why a file is no scenario: every mistake in it, in the order of the file.
public struct ScenarioErrors: Error, Hashable, Sendable, CustomStringConvertible {
    /// At least one.
    public var errors: [ScenarioError]

    public init(_ errors: [ScenarioError]) {
        self.errors = errors
    }

    /// A line for each mistake.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
