import ArgumentParser
import CommandOutput

/// Gathers what is wrong with settings, so that one message says it all.
struct SettingProblems {
    private var problems: [String] = []
    /// Whether something is wrong with what was said, and not only with a file that it names.
    private var isUsage = false

    /// Reads a setting; `nil` where that is not possible.
    mutating func take<Value>(_ read: () throws -> Value) -> Value? {
        do {
            return try read()
        } catch let error as WrongSettings {
            problems += error.problems
            isUsage = isUsage || error.isUsage
        } catch let error as ValidationError {
            problems.append(error.message)
            isUsage = true
        } catch {
            problems.append(PlainWords.of(error))
        }
        return nil
    }

    mutating func add(_ more: [String]) {
        guard !more.isEmpty else { return }
        problems += more
        isUsage = true
    }

    /// - Throws: `WrongSettings` with all of them.
    func throwIfAny() throws {
        guard !problems.isEmpty else { return }
        throw WrongSettings(problems: problems, isUsage: isUsage)
    }
}

/// Settings with which a command does not begin.
struct WrongSettings: ProgramFailure, CustomStringConvertible {
    var problems: [String]
    /// Whether the exit code is that of a wrong usage.
    var isUsage: Bool

    var exitCode: ExitCode { ExitCode(isUsage ? 2 : 1) }

    var description: String { message }

    var message: String {
        problems.count == 1
            ? problems[0]
            : "\(problems.count) settings are wrong:\n"
                + problems.map { "  - \($0)" }.joined(separator: "\n")
    }
}
