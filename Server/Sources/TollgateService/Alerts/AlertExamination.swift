// SPDX-License-Identifier: Apache-2.0
internal import TollgateCore

/// The last check-up's failures as far as they are alarms, and the time of the next one.
///
/// A check counts once it has failed twice: one lost connection is no alarm.
struct AlertExamination: Codable, Hashable, Sendable {
    /// The time between two check-ups, in milliseconds.
    static let pause: Int64 = 3_600_000
    /// The same where something failed once.
    static let shortPause: Int64 = 600_000
    /// Checks that are conditions of their own, or that nobody could be told of.
    private static let elsewhere: Set<String> = ["database", "disk"]

    private var asked: Instant?
    private var failed: [Finding] = []
    /// The checks that failed both of the last two times.
    private(set) var confirmed: [Finding] = []

    /// - Parameter wall: real time; a clock that was put back does not hold the check-up up.
    func isDue(at wall: Instant) -> Bool {
        guard let asked else { return true }
        let isSettled = failed.count == confirmed.count
        let age = wall.milliseconds - asked.milliseconds
        return age < 0 || age >= (isSettled ? Self.pause : Self.shortPause)
    }

    /// Takes in the findings of a check-up.
    mutating func take(_ findings: [Finding], at wall: Instant) {
        let before = Set(failed.map(\.check))
        let undecided = Set(findings.filter(\.isUndecided).map(\.check))
        let broken = findings.filter {
            $0.state == .failed && !Self.elsewhere.contains($0.check)
        }
        failed = broken + failed.filter { undecided.contains($0.check) }
        confirmed =
            broken.filter { before.contains($0.check) }
            + confirmed.filter { undecided.contains($0.check) }
        asked = wall
    }
}
