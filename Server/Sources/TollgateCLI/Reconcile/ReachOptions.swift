import ArgumentParser
import Foundation
import Reports
import Stores
import TollgateCore
import TollgateService

/// How far back a command asks a store.
struct ReachOptions: ParsableArguments {
    @Flag(
        name: [.customLong("everything"), .customLong("full")],
        help: "Ask as far back as the store remembers, and about all purchases."
    )
    var everything = false

    @Option(
        help: """
            The same for what happened since this day or instant (2026-05-31, 2026-05-31T18:00:00Z) \
            at least. In a database that was never reconciled nothing before it is taken in.
            """
    )
    var since: String?

    func validate() throws {
        if everything, since != nil {
            throw ValidationError("--everything and --since exclude each other.")
        }
        _ = try reach
    }

    var reach: ReconciliationReach {
        get throws {
            if everything { return .everything }
            guard let since else { return .news }
            if let day = Reports.Day(since) { return .since(day.start.milliseconds) }
            guard let date = try? Date(since, strategy: .iso8601) else {
                throw ValidationError(
                    "--since: '\(since)' is neither a day like 2026-05-31 nor an instant like 2026-05-31T18:00:00Z."
                )
            }
            return .since(Int64(date.timeIntervalSince1970) * 1000)
        }
    }
}
