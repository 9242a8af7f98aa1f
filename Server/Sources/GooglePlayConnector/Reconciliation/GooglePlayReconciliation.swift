internal import Foundation
internal import GooglePlayAPI
internal import Logging
internal import Storage
internal import Stores
internal import Synchronization
internal import TollgateAPI
internal import TollgateCore

/// The findings of `tollgate reconcile google-play`.
public struct GooglePlayReconciled: Codable, Hashable, Sendable {
    /// Purchases that looked overdue, and how many had news.
    public var overdue = 0
    public var overdueNews = 0
    /// Entries of the list of voided purchases.
    public var voids = 0
    public var voidNews = 0
    /// Orders of recent periods.
    public var orders = 0
    public var orderNews = 0
    /// Purchases that can still change, read again whatever they looked like.
    public var purchases = 0
    public var purchaseNews = 0
    /// Purchases that Google does not answer for any more.
    public var unreadable = 0
    /// From when on the list of voided purchases was read, in UNIX milliseconds.
    public var voidsFrom: Int64?
    /// As of when every purchase that can still change was read; `nil`: that was never done.
    public var purchasesAsOf: Int64?
}

/// Looks for what no hint has told: overdue purchases, voided purchases of thirty days, orders of
/// recent periods, whose partial refunds nothing announces.
struct GooglePlayReconciliation: Sendable {
    private(set) var reads: GooglePlayReads
    private var voids: VoidedList
    /// The last reads of overdue purchases: those without news are not read every minute.
    private let asked = AskedPurchases()
    /// Told after every read.
    private(set) var progress: WorkProgress.Report = { _ in }
    var missing: MissingOrders { reads.missing }
    var context: StoreContext { reads.context }

    /// Milliseconds between two looks at the list of voided purchases.
    private static let voidPause: Int64 = 3_600_000
    /// The time by which an entry may be listed late, in milliseconds.
    private static let voidOverlap: Int64 = 86_400_000
    /// Hundredths of the quota that a pass leaves to hints and acts.
    static let reserve: Int64 = 30
    /// Milliseconds of real time after the last pass from which on hints may have been lost: the server
    /// was away, or a backup of the database was restored.
    private static let longestGap: Int64 = 600_000

    init(_ reads: GooglePlayReads, _ voids: VoidedList) {
        (self.reads, self.voids) = (reads, voids)
    }

    /// The same for somebody who waits for room in the quotas, see `GooglePlayReads.waiting`, and watches.
    func waiting(
        progress: @escaping WorkProgress.Report,
        _ rest: @escaping @Sendable () async throws -> Void
    ) -> Self {
        var patient = self
        patient.progress = progress
        patient.reads = reads.waiting(rest)
        patient.voids = VoidedList(patient.reads)
        return patient
    }

    /// The progress of one app's passes.
    struct Place: Codable, Hashable {
        /// Up to when the list of voided purchases was read, in milliseconds of the stores' time.
        var voidsTo: Int64?
        /// The time of the last look in which an entry could not be followed: `voidsTo` is before it.
        var voidsAt: Int64?
        /// The start of this round over the orders.
        var ordersSince: Int64?
        /// The last purchase whose orders were read; `nil`: the round is over.
        var ordersAfter: RowKey?
        /// The end of the last pass, by real time.
        var passed: Int64?
        /// The round over all purchases that is under way.
        var round: Round?
        /// As of when every purchase that can still change was read.
        var purchasesAsOf: Int64?

        /// Forgets what was read of the list of voided purchases and of the orders.
        mutating func beginAnew() {
            (voidsTo, voidsAt, ordersSince, ordersAfter) = (nil, nil, nil, nil)
        }
    }

    /// A round over all purchases that can still change.
    struct Round: Codable, Hashable {
        /// Its start, in milliseconds of the stores' time.
        var began: Int64
        /// Purchases that ended before are left out.
        var since: Int64?
        var after: RowKey?
    }

    static func cursorName(of app: GooglePlaySetUp.App) -> String {
        "reconcile/google_play/\(app.packageName)"
    }

    /// Does one pass over an app, if no other server is at it.
    ///
    /// - Parameter reach: the extent of the reads; `nil`: all that is due, and everything after a gap.
    /// - Returns: `nil` where another server is at it.
    func run(
        _ app: GooglePlaySetUp.App,
        reach: ReconciliationReach? = nil
    ) async throws -> GooglePlayReconciled? {
        let name = Self.cursorName(of: app)
        let isWhole = reach != nil
        return try await context.leases.holding(name) { prolong in
            var found = GooglePlayReconciled()
            var place = try await place(name)
            var troubles = Troubles()
            try await begin(reach, &place, app)
            try await keep(place, name)
            // A part that fails leaves the others their turn.
            var trouble: (any Error)?
            do { try await readOverdue(app, &found, &troubles, prolong) } catch { trouble = error }
            do {
                try await readVoids(app, &place, &found, prolong)
                try await keep(place, name)
            } catch { trouble = trouble ?? error }
            if let lost = trouble as? LeaseLost { throw lost }
            do {
                try await readPurchases(app, name, isWhole: isWhole, &place, &found, prolong)
            } catch { trouble = trouble ?? error }
            if let lost = trouble as? LeaseLost { throw lost }
            repeat {
                do {
                    try await readOrders(app, &place, &found, &troubles, prolong)
                } catch {
                    // The next pass goes on behind what was read.
                    try await keep(place, name)
                    throw trouble ?? error
                }
                try await keep(place, name)
            } while isWhole && place.ordersAfter != nil
            if let trouble { throw trouble }
            place.passed = context.clocks.wall().milliseconds
            try await keep(place, name)
            found.purchasesAsOf = place.purchasesAsOf
            return found
        }
    }

    /// Says what this pass reads beside what is due.
    private func begin(
        _ reach: ReconciliationReach?,
        _ place: inout Place,
        _ app: GooglePlaySetUp.App
    ) async throws {
        let now = await context.clocks.now().milliseconds
        switch reach {
        case nil:
            let gap = place.passed.map { context.clocks.wall().milliseconds - $0 } ?? 0
            guard gap > Self.longestGap, place.round == nil else { return }
            context.logger.warning(
                "hints of Google Play's may have been lost: every purchase that can still change is read again",
                metadata: ["app": "\(app.packageName)", "seconds": "\(gap / 1000)"]
            )
            place.round = Round(began: now)
            place.passed = context.clocks.wall().milliseconds
        case .news?: place.beginAnew()
        case .everything?:
            place.beginAnew()
            missing.forgetAll()
            // One that was broken off goes on.
            if place.round == nil || place.round?.since != nil { place.round = Round(began: now) }
        case .since(let since)?:
            // As if nothing had been read since then; an hour of it is read in any case.
            place.beginAnew()
            place.voidsTo = min(since, now - Self.voidPause)
            if place.round?.since != since { place.round = Round(began: now, since: since) }
        }
    }

    // MARK: - Overdue

    private func readOverdue(
        _ app: GooglePlaySetUp.App,
        _ found: inout GooglePlayReconciled,
        _ troubles: inout Troubles,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let now = await context.clocks.now()
        try await context.records.awaited.follow(
            of: .googlePlay,
            // Another name wherever `awaited` changes, so that all purchases are looked at again.
            cursor: "awaited/google_play/5",
            wall: context.clocks.wall(),
            prolong: prolong
        ) { $0.awaited }
        var next: AwaitedPlace?
        repeat {
            let page = try await context.records.awaited.overdue(
                in: Purchase.awaitedScope(of: app.packageName),
                at: now,
                after: next
            )
            for record in page.records
            where asked.isDue(
                record.key,
                at: now,
                every: record.pauseBetweenReads(at: now),
                orSince: record.resumption ?? record.release
            ) {
                found.overdue += 1
                progress(WorkProgress(step: "overdue purchases", done: found.overdue))
                do {
                    try await readAgain(record, app, &found, &troubles)
                } catch {
                    // It was not read, nor are the others.
                    asked.forget(record.key)
                    try await noteOutage(app, because: error, prolong)
                    throw error
                }
                try await prolong()
            }
            next = page.next
        } while next != nil
    }

    /// Notes an outage for every purchase whose access would end before it is over.
    private func noteOutage(
        _ app: GooglePlaySetUp.App,
        because error: any Error,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let now = await context.clocks.now()
        guard error is GooglePlay.APIFault || error is QuotaUsedUp,
            asked.isSweepDue(
                app.packageName,
                at: now,
                every: min(3_600_000, max(60_000, leeway / 4))
            )
        else { return }
        var next: AwaitedPlace?
        repeat {
            let page = try await context.records.awaited.overdue(
                in: Purchase.awaitedScope(of: app.packageName),
                at: now,
                after: next
            )
            for record in page.records {
                try await noteOutage(about: record, because: error)
                try await prolong()
            }
            next = page.next
        } while next != nil
    }

    private var leeway: Int64 { context.records.history.current.renewalLeeway.googlePlay }

    private func noteOutage(about record: Purchase, because error: any Error) async throws {
        guard record.isNearItsLapse(at: await context.clocks.now(), leeway: leeway) else { return }
        try await reads.note(outageAbout: record, because: error)
    }

    private func readAgain(
        _ record: Purchase,
        _ app: GooglePlaySetUp.App,
        _ found: inout GooglePlayReconciled,
        _ troubles: inout Troubles
    ) async throws {
        let token = record.key.id
        let isProduct = record.googlePlay?.subscription == nil
        // That it is still so keeps the access of a renewal that Google tries again.
        let confirms = record.isNearItsLapse(at: await context.clocks.now(), leeway: leeway)
        do {
            let outcome =
                isProduct
                ? try await reads.read(product: token, of: app, leaving: Self.reserve)
                : try await reads.read(
                    subscription: token,
                    of: app,
                    leaving: Self.reserve,
                    confirms: confirms
                )
            troubles.end()
            if outcome.isNews { found.overdueNews += 1 }
        } catch let fault as GooglePlay.APIFault {
            // It was not read.
            if fault.meaning == .unavailable { asked.forget(record.key) }
            if [.unavailable, .unreadable].contains(fault.meaning) {
                try await noteOutage(about: record, because: fault)
            }
            let kind: Wanted.Kind = isProduct ? .googlePlayPurchase : .googlePlaySubscription
            try await takeNote(of: fault, asking: kind, about: record.key, app, &found, &troubles)
        }
    }

    /// - Throws: faults that concern more than this purchase.
    private func takeNote(
        of fault: GooglePlay.APIFault,
        asking kind: Wanted.Kind,
        about key: Purchase.Key,
        _ app: GooglePlaySetUp.App,
        _ found: inout GooglePlayReconciled,
        _ troubles: inout Troubles
    ) async throws {
        switch fault.meaning {
        case .notAllowed, .tooMany: throw fault
        case .unavailable:
            try await askLater(kind, key.id, about: key)
            if troubles.add() { throw fault }
        case .noLongerReadable:
            try await reads.note(unreadable: key.id, of: app, fault.reason ?? "410")
        case .notFound, .invalid, .unreadable, .changedMeanwhile: break
        }
        found.unreadable += 1
    }

    // MARK: - Voided purchases

    private func readVoids(
        _ app: GooglePlaySetUp.App,
        _ place: inout Place,
        _ found: inout GooglePlayReconciled,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let now = await context.clocks.now().milliseconds
        if let read = place.voidsAt ?? place.voidsTo, read <= now, now - read < Self.voidPause {
            return
        }
        let since = (place.voidsTo ?? 0) - Self.voidOverlap
        found.voidsFrom = max(since, now - VoidedList.memory)
        let read = try await voids.read(
            of: app,
            since: since,
            leaving: Self.reserve,
            prolong: prolong
        )
        found.voids += read.seen
        found.voidNews += read.news
        // An entry that is left is looked for again, until it has left the list.
        place.voidsTo = min(now, read.firstLeft ?? now)
        place.voidsAt = now
    }

    // MARK: - Questions

    /// Leaves an object for which Google had no answer to the questions, which ask again by themselves.
    func askLater(
        _ kind: Wanted.Kind,
        _ object: String,
        about key: Purchase.Key
    ) async throws {
        try await context.records.questions.want(
            Wanted(kind: kind, object: object),
            about: key,
            at: await context.clocks.now()
        )
    }

    // MARK: - The place

    private func place(_ name: String) async throws -> Place {
        guard let kept = try await context.records.cursors.read(name) else { return Place() }
        return (try? APIJSON.decode(Place.self, from: Data(kept.body))) ?? Place()
    }

    func keep(_ place: Place, _ name: String) async throws {
        try await context.records.cursors.keep(
            name,
            Array(try APIJSON.encode(place)),
            now: context.clocks.wall()
        )
    }
}

/// The last read of each purchase, kept in memory: forgetting one costs one more read.
private final class AskedPurchases: Sendable {
    private let times = Mutex<[Purchase.Key: Int64]>([:])
    /// By app, when all its overdue purchases were looked through.
    private let sweeps = Mutex<[String: Int64]>([:])

    /// Returns `true` if a purchase's turn has come; if so, it counts as read.
    ///
    /// - Parameter moment: the instant whose first look waits for no pause.
    func isDue(
        _ key: Purchase.Key,
        at now: Instant,
        every pause: Int64,
        orSince moment: Instant?
    ) -> Bool {
        times.withLock { times in
            let now = now.milliseconds
            let isNewMoment = { (last: Int64) in
                moment.map { last < $0.milliseconds && $0.milliseconds <= now } ?? false
            }
            if let last = times[key], last <= now, now - last < pause, !isNewMoment(last) {
                return false
            }
            if times.count >= 50_000 { times.removeAll() }
            times[key] = now
            return true
        }
    }

    func forget(_ key: Purchase.Key) { times.withLock { $0[key] = nil } }

    /// Returns `true` if it is an app's turn to have all its overdue purchases looked through; if so,
    /// they count as looked through.
    func isSweepDue(_ app: String, at now: Instant, every pause: Int64) -> Bool {
        sweeps.withLock { sweeps in
            if let last = sweeps[app], last <= now.milliseconds, now.milliseconds - last < pause {
                return false
            }
            sweeps[app] = now.milliseconds
            return true
        }
    }
}

/// Calls in a row that Google did not answer: one may be its object's own fault, several are Google's.
struct Troubles {
    private var count = 0

    /// An answer came.
    mutating func end() { count = 0 }

    /// Returns `true` if it is better to stop asking.
    mutating func add() -> Bool {
        count += 1
        return count >= 3
    }
}
