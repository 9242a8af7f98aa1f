import CommandOutput
import Storage
import Stores
import TollgateCore
import TollgateService

/// The instant at which a command about figures looked: its days are counted back from there.
struct AsOf {
    var instant: Instant
    private var isOfSandbox: Bool
    /// The latest of the newest statements in the record.
    private var newest: Instant?

    /// Messages may come a little before our own clock has got there.
    private static let patience: Int64 = 3_600_000

    init(_ tollgate: Tollgate) async throws {
        instant = await tollgate.clocks.now()
        isOfSandbox = tollgate.clocks.isVirtual
        newest = try await tollgate.store.journal.newestStatement()
    }

    var sentence: String {
        "As of \(instant), by \(isOfSandbox ? "the sandbox's" : "this machine's") clock."
    }

    /// What is to be known of a record that goes on after this instant, such as that of a sandbox whose
    /// clock the command was not told of.
    var warning: String? {
        guard let newest, newest > instant.advanced(by: Self.patience) else { return nil }
        let remedy =
            isOfSandbox
            ? "The sandbox's clock is behind: was it started anew?"
            : "If a sandbox's clock is ahead, name it: TOLLGATE_CLOCK=http://127.0.0.1:8082/sandbox/clock"
        return "The record goes on until \(newest), after that instant. \(remedy)"
    }

    /// Says it where the answer itself has no place for it.
    func tell(withSentence: Bool) {
        if withSentence { Terminal.complain(sentence) }
        if let warning { Terminal.complain(warning) }
    }
}
