internal import GooglePlayAPI
internal import Logging
internal import Storage
internal import Stores
internal import Synchronization
internal import TollgateCore

/// Reads the list of voided purchases, of which Google keeps 30 days.
struct VoidedList: Sendable {
    let reads: GooglePlayReads
    /// The time that the last look at each app's list covers.
    private let covered = Covered()
    private var context: StoreContext { reads.context }

    /// The length of the list, in milliseconds.
    static let memory: Int64 = 30 * 86_400_000
    /// Milliseconds between two looks that hints cause: Google allows 6,000 calls a day.
    private static let pause: Int64 = 30_000
    /// The time by which an entry may be earlier than its hint, in milliseconds.
    private static let margin: Int64 = 3_600_000

    init(_ reads: GooglePlayReads) { self.reads = reads }

    /// Reads what was voided since an instant, unless it was looked at in the last half minute.
    ///
    /// - Returns: `true` if the list was read after `instant`.
    func read(of app: GooglePlaySetUp.App, from instant: Instant) async throws -> Bool {
        let since = instant.milliseconds - Self.margin
        // Many hints of one refund wave need one look.
        if covered.holds(app.packageName, since: since, to: instant) { return true }
        let now = await context.clocks.now()
        guard covered.isDue(app.packageName, at: now, every: Self.pause) else { return false }
        return try await instant <= read(of: app, since: since).instant
    }

    /// Reads what was voided since a time, oldest first, page by page.
    ///
    /// An entry whose purchase Google cannot show now keeps none of the others back.
    func read(
        of app: GooglePlaySetUp.App,
        since: Int64,
        leaving reserve: Int64 = 0,
        prolong: @Sendable () async throws -> Void = {}
    ) async throws -> Look {
        let now = await context.clocks.now()
        // Google refuses a start that is older than thirty days by its own clock.
        let earliest = now.milliseconds - Self.memory + 3_600_000
        let start = max(since, earliest)
        var page: String?
        var first: Instant?
        var look = Look(instant: now)
        var failuresInARow = 0
        repeat {
            let token = page
            let answer = try await reads.call(.voided, app, leaving: reserve) { client in
                try await client.voidedPurchases(from: start, page: token)
            }
            let instant = await reads.instant(of: answer.seconds)
            first = first ?? instant
            tell(of: answer.value.unreadable, app)
            for void in answer.value.voidedPurchases {
                look.seen += 1
                do {
                    let entry = try await reads.record(
                        void,
                        of: app,
                        at: instant,
                        leaving: reserve
                    )
                    if entry.isNews { look.news += 1 }
                    failuresInARow = 0
                } catch let fault as GooglePlay.APIFault {
                    failuresInARow += 1
                    // So many in a row are not only some purchases'.
                    guard fault.concernsOne, failuresInARow < 10 else { throw fault }
                    look.firstLeft = min(look.firstLeft ?? void.voidedTime, void.voidedTime)
                }
                // A page has a thousand entries, and each may cost two calls.
                try await prolong()
            }
            page = answer.value.nextPageToken
            // A page that names itself would be read for ever.
            guard page != token else { break }
        } while page != nil
        look.instant = first ?? now
        covered.note(app.packageName, since: start, to: look.instant)
        return look
    }

    /// The result of one look at the list.
    struct Look {
        /// As of when its first page speaks.
        var instant: Instant
        /// The number of entries, and of those that said anything new.
        var seen = 0
        var news = 0
        /// The time of the first void whose purchase Google could not show; `nil`: all were read.
        var firstLeft: Int64?
    }

    private func tell(of unreadable: [GooglePlay.DecodingError], _ app: GooglePlaySetUp.App) {
        for error in unreadable {
            context.logger.error(
                "an entry of the list of voided purchases cannot be read and is left out",
                metadata: ["app": "\(app.packageName)", "error": "\(error)"]
            )
        }
    }
}

extension GooglePlay.APIFault {
    /// True where it may be one purchase's own.
    fileprivate var concernsOne: Bool {
        switch meaning {
        case .notAllowed, .tooMany: false
        case .unavailable, .unreadable, .changedMeanwhile, .notFound, .noLongerReadable, .invalid:
            true
        }
    }
}

/// The newest look at each app's list: from when, as of when.
private final class Covered: Sendable {
    /// The time by which the list may lag behind a void, in milliseconds.
    private static let lag: Int64 = 2_000
    private let looks = Mutex<[String: (since: Int64, to: Instant)]>([:])
    /// The last look at each list that a hint asked for.
    private let begun = Mutex<[String: Instant]>([:])

    /// Returns `true` if hints may have the list looked at again; if so, it counts as done.
    func isDue(_ package: String, at now: Instant, every pause: Int64) -> Bool {
        begun.withLock { begun in
            if let last = begun[package], last <= now, now < last.advanced(by: pause) {
                return false
            }
            begun[package] = now
            return true
        }
    }

    func holds(_ package: String, since: Int64, to instant: Instant) -> Bool {
        looks.withLock { looks in
            looks[package].map { $0.since <= since && instant.advanced(by: Self.lag) <= $0.to }
                ?? false
        }
    }

    func note(_ package: String, since: Int64, to instant: Instant) {
        looks.withLock { $0[package] = (since, instant) }
    }
}
