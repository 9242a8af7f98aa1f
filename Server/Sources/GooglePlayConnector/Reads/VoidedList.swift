internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import Synchronization
internal import TollgateCore

/// Reads the list of voided purchases, of which Google keeps 30 days.
struct VoidedList: Sendable {
    let reads: GooglePlayReads
    /// What the last look at each app's list covers.
    private let covered = Covered()
    private var house: House { reads.house }

    /// How far back the list goes, in milliseconds.
    static let memory: Int64 = 30 * 86_400_000
    /// What a hint announces may be in the list under an earlier time.
    private static let margin: Int64 = 3_600_000

    init(_ reads: GooglePlayReads) { self.reads = reads }

    /// Reads what was voided since an instant.
    ///
    /// - Returns: whether the list was read after `instant`.
    func read(of app: GooglePlaySetUp.App, from instant: Instant) async throws -> Bool {
        let since = instant.milliseconds - Self.margin
        // Many hints of one refund wave need one look.
        if covered.holds(app.packageName, since: since, to: instant) { return true }
        return try await instant <= read(of: app, since: since).instant
    }

    /// Reads what was voided since a time, oldest first, page by page.
    ///
    /// - Returns: as of when the first page speaks, and how many entries said anything new.
    func read(
        of app: GooglePlaySetUp.App,
        since: Int64,
        prolong: @Sendable () async throws -> Void = {}
    ) async throws -> (instant: Instant, seen: Int, news: Int) {
        let now = await house.clocks.now()
        // A minute of the thirty days is left: the clocks differ.
        let earliest = now.milliseconds - Self.memory + 60_000
        let start = max(since, earliest)
        var page: String?
        var first: Instant?
        var (seen, news) = (0, 0)
        repeat {
            let token = page
            let answer = try await reads.call(.voided, app) { client in
                try await client.voidedPurchases(from: start, to: now.milliseconds, page: token)
            }
            let instant = await reads.instant(of: answer.seconds)
            first = first ?? instant
            for void in answer.value.voidedPurchases {
                seen += 1
                if try await reads.record(void, of: app, at: instant).isNews { news += 1 }
            }
            page = answer.value.nextPageToken
            // A page that names itself would be read for ever.
            guard page != token else { break }
            try await prolong()
        } while page != nil
        covered.note(app.packageName, since: start, to: first ?? now)
        return (first ?? now, seen, news)
    }
}

/// The newest look at each app's list: from when, as of when.
private final class Covered: Sendable {
    private let looks = Mutex<[String: (since: Int64, to: Instant)]>([:])

    func holds(_ package: String, since: Int64, to instant: Instant) -> Bool {
        looks.withLock { looks in
            looks[package].map { $0.since <= since && instant <= $0.to } ?? false
        }
    }

    func note(_ package: String, since: Int64, to instant: Instant) {
        looks.withLock { $0[package] = (since, instant) }
    }
}
