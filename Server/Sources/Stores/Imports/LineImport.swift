internal import Storage

/// An import of a file, whose lines are brought in several at a time.
///
/// It goes on where it was broken off: its place is in the database, under its name.
package protocol LineImport: Sendable {
    associatedtype Column: ImportColumn
    associatedtype Report: ImportReport

    var context: StoreContext { get }
    /// Names the import across runs, by its file.
    var name: String { get }
    /// What lines name, for people who watch: `purchases`.
    static var step: String { get }

    /// Brings in what one line names.
    ///
    /// - Throws: `ImportProblem` where it names nothing, or what breaks the import off.
    func take(_ line: ImportLine<Column>) async throws -> Report.Outcome

    /// - Throws: what breaks the import off where it happened to a whole batch.
    static func requireAnswers(_ outcomes: [Report.Outcome]) throws
}

/// The outcome of an import, as far as it has come.
package protocol ImportReport: ListOfUnmatched, Codable, Sendable {
    associatedtype Outcome: Sendable

    init()
    mutating func add(_ outcome: Outcome, of line: Int)
}

/// The lines of a file that led to nothing.
package protocol ListOfUnmatched {
    var unmatched: [UnmatchedLine] { get set }
    /// How many more there are than are listed.
    var unmatchedNotListed: Int { get set }
}

extension ListOfUnmatched {
    package static var mostListed: Int { 10_000 }

    package mutating func add(_ one: UnmatchedLine) {
        if unmatched.count < Self.mostListed {
            unmatched.append(one)
        } else {
            unmatchedNotListed += 1
        }
    }
}

/// A line that led to nothing.
public struct UnmatchedLine: Hashable, Codable, Sendable {
    /// From 1.
    public var line: Int
    public var appUserID: String?
    /// The reason, and what to do.
    public var reason: String

    enum CodingKeys: String, CodingKey {
        case line, reason
        case appUserID = "app_user_id"
    }

    package init(line: Int, appUserID: String? = nil, reason: String) {
        (self.line, self.appUserID, self.reason) = (line, appUserID, reason)
    }
}

private struct Place<Report: ImportReport>: Codable {
    var lines = 0
    var report = Report()
}

extension LineImport {
    /// Lines at a time: the store is asked about all of them at once.
    package static var width: Int { 8 }

    package static func requireAnswers(_ outcomes: [Report.Outcome]) throws {}

    /// Imports, or goes on importing.
    ///
    /// - Parameter next: the next line of the file without its end, `nil` after the last one.
    /// - Returns: `nil` if another process is importing this file.
    /// - Throws: what broke it off; another run goes on from there.
    package func run(
        next: () throws -> [UInt8]?,
        progress: WorkProgress.Report = { _ in }
    ) async throws -> Report? {
        try await context.leases.holding(name) { prolong in
            var place = try await context.records.cursors.value(name) ?? Place<Report>()
            var columns: [Column]?
            for number in 0..<place.lines {
                let line = try next()
                if number == 0 { columns = line.flatMap(ImportLine.columns(ofHeading:)) }
            }
            var isAtEnd = false
            while !isAtEnd {
                var lines: [(Int, [UInt8])] = []
                var taken = 0
                while taken < Self.width {
                    guard let line = try next() else {
                        isAtEnd = true
                        break
                    }
                    taken += 1
                    let number = place.lines + taken
                    if number == 1, let heading = ImportLine<Column>.columns(ofHeading: line) {
                        columns = heading
                        continue
                    }
                    lines.append((number, line))
                }
                try await take(lines, under: columns, for: &place.report)
                place.lines += taken
                try await context.records.cursors
                    .keep(name, value: place, now: context.clocks.wall())
                try await prolong()
                progress(WorkProgress(step: Self.step, done: place.lines))
            }
            return place.report
        }
    }

    /// Takes several lines at once, and reports them in their order.
    private func take(
        _ lines: [(Int, [UInt8])],
        under columns: [Column]?,
        for report: inout Report
    ) async throws {
        let taken = try await lines[...].results { try await self.take($0.1, under: columns) }
            .map { line, result in (line.0, try result.get()) }
        try Self.requireAnswers(taken.compactMap(\.1.outcome))
        for (number, one) in taken {
            switch one {
            case .nothing: break
            case .outcome(let outcome): report.add(outcome, of: number)
            case .problem(let problem):
                report.add(
                    UnmatchedLine(
                        line: number,
                        appUserID: problem.appUserID,
                        reason: problem.reason
                    )
                )
            }
        }
    }

    private func take(
        _ bytes: [UInt8],
        under columns: [Column]?
    ) async throws -> Taken<Report.Outcome> {
        do {
            guard let line = try ImportLine<Column>(bytes, under: columns) else { return .nothing }
            return .outcome(try await take(line))
        } catch let problem as ImportProblem {
            return .problem(problem)
        }
    }
}

/// What became of one line.
private enum Taken<Outcome: Sendable>: Sendable {
    /// It is empty.
    case nothing
    case outcome(Outcome)
    case problem(ImportProblem)

    var outcome: Outcome? {
        guard case .outcome(let outcome) = self else { return nil }
        return outcome
    }
}
