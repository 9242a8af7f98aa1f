internal import AppStoreAPI
internal import Foundation
internal import Storage
internal import Stores
public import TollgateCore

/// One pass over what the App Store has sent, over what looks overdue, and at times over all that known
/// customers bought.
///
/// It goes on where it was broken off, also by another server: its place is in the database. So in a
/// restored backup it goes on where the copy was made, and reads all that was sent since, delivered or
/// not.
public struct AppStoreReconciliation: Sendable {
    /// What a pass came to.
    public struct Report: Hashable, Codable, Sendable {
        public var environment: StoreEnvironment
        /// The app's bundle id, where there are several apps.
        public var application: String?
        /// Notifications that the store lists, delivered or not.
        public var notifications = 0
        /// Of them, those that were never delivered or are still tried.
        public var undelivered = 0
        /// Of all, those that the record did not have.
        public var taken = 0
        /// Of these, those that had been delivered: the record had them and lost them, or somebody
        /// else was told.
        public var delivered = 0
        /// Of all, those that could not be used.
        public var parked = 0
        /// Of all, those that were not signed for this app and environment.
        public var foreign = 0
        /// Purchases of which the store should have said something by now.
        public var overdue = 0
        /// Of them, those of which it had news.
        public var changed = 0
        /// Purchases that it was asked about and does not know.
        public var unknown = 0
        /// Customers all of whose purchases were read.
        public var histories = 0
        /// Of them, those of whom there was news.
        public var historiesChanged = 0
        /// Up to which minute the record holds every notification that the store has sent, in UNIX
        /// milliseconds of the stores' time.
        public var completeUntil: Int64
        /// Since when that is so: the store remembers notifications for 180 days (30 in the sandbox),
        /// and passes further apart leave a gap.
        public var completeFrom: Int64
        /// As of when all purchases of every known customer were read last, in the same time; `nil`:
        /// never so far.
        public var historiesAsOf: Int64?

        enum CodingKeys: String, CodingKey {
            case environment, notifications, undelivered, taken, delivered, parked, foreign
            case overdue, changed, unknown, histories
            case application = "bundle_id"
            case historiesChanged = "histories_changed"
            case completeUntil = "complete_until"
            case completeFrom = "complete_from"
            case historiesAsOf = "histories_as_of"
        }
    }

    /// A span of the stores' time in UNIX milliseconds, half-open.
    struct Span: Codable, Hashable {
        var from: Int64
        var to: Int64
    }

    /// The place in a pass.
    struct Place: Codable {
        /// The app's bundle id; earlier programs, which knew one app, did not keep it.
        var application: String?

        enum Step: String, Codable { case notifications, overdue, histories, done }

        var step = Step.notifications
        var reach: ReconciliationReach
        /// What is left to be read of the notifications.
        var left: Span
        /// The part of it that is being read, and the page to go on with.
        var part: Span?
        var token: String?
        /// What lies before, to be read too if something turns out to have been lost.
        var before: Span?
        /// The last purchase that was asked about: since when it is overdue, and its row's key.
        var after: String?
        /// How far the reading of all purchases has come; `nil`: none is under way.
        var reading: Reading?
        /// Since when and up to when finished passes have proven the record complete.
        var proven: Span?
        /// How many notifications turned out to have been lost in this pass, and of how many that was
        /// said.
        var lost = 0
        var said = 0
        /// When that had all be read, the last time.
        var noticed: Int64?
        var report: Report
        /// When the last whole pass ended, by real time.
        var finished: Int64?
    }

    /// How far the reading of all purchases of known customers has come.
    struct Reading: Codable {
        /// When it began, by the stores' time.
        var asOf: Int64
        /// Consumables that the record lacks count from then on: those that were bought before were
        /// credited by another system.
        var coinsSince: Int64
        /// The row's key of the last purchase that was gone through, in hexadecimal.
        var after: String?
    }

    let connector: AppStoreConnector
    var context: StoreContext { connector.context }
    let scope: AppStoreScope
    var environment: StoreEnvironment { scope.environment }
    let client: AppStore.ServerAPIClient
    let reach: ReconciliationReach
    /// For how many milliseconds of real time one pass reads purchases; `nil`: to the end.
    let slice: Int64?
    let progress: WorkProgress.Report

    /// The name of the place.
    var cursorName: String { Self.cursorName(of: scope, hasSiblings: hasSiblings) }

    private var hasSiblings: Bool { connector.applications.count > 1 }

    /// Where there are several apps, each has a place of its own.
    static func cursorName(of scope: AppStoreScope, hasSiblings: Bool) -> String {
        let nameOfOne = "reconcile/app_store/\(scope.environment.rawValue)"
        return hasSiblings ? "\(nameOfOne)/\(scope.application)" : nameOfOne
    }

    /// The place kept, if it can be read, and whether anything is kept.
    ///
    /// An app goes on where it was while it was the only one, or one of several. A place that names
    /// another app is not its own; one that names none was kept by the only, or first, app.
    func kept() async throws -> (place: Place?, isThere: Bool) {
        let nameOfOne = Self.cursorName(of: scope, hasSiblings: false)
        let ofSeveral = Self.cursorName(of: scope, hasSiblings: true)
        for name in hasSiblings ? [ofSeveral, nameOfOne] : [nameOfOne, ofSeveral] {
            let kept = try await kept(as: name)
            guard kept.isThere else { continue }
            // What cannot be read costs a full pass; it is taken for this app's under its own name only.
            guard let place = kept.place else {
                if name == cursorName { return kept }
                continue
            }
            let owner = place.application ?? connector.applications.first
            if owner == scope.application { return kept }
        }
        return (nil, false)
    }

    private func kept(as name: String) async throws -> (place: Place?, isThere: Bool) {
        let row = try await context.records.cursors.read(name)
        let place = row.flatMap { try? JSONDecoder().decode(Place.self, from: Data($0.body)) }
        return (place, row != nil)
    }

    static let day: Int64 = 86_400_000
    /// Spans overlap by so much: an attempt that was under way at the end of one has ended since.
    private static let overlap: Int64 = 3_600_000
    /// How long before now an attempt may still be under way.
    private static let underWay: Int64 = 60_000
    /// What was sent while a pass took longer than this is read before it ends.
    private static let patience: Int64 = 300_000

    /// How far the store's history of notifications reaches back, in milliseconds.
    private var window: Int64 {
        (environment == .production ? 180 : 30) * Self.day - 3_600_000
    }

    /// Does the pass, or the rest of one.
    ///
    /// - Parameter prolong: called after each page.
    func run(_ prolong: @Sendable () async throws -> Void) async throws -> Report {
        var place = try await begin()
        try await goThrough(&place, prolong)
        let now = await context.clocks.now().milliseconds
        if now - place.report.completeUntil > Self.underWay + Self.patience {
            // It was long, or the rest of one that was broken off: what was sent since follows.
            place.left = news(after: place.report.completeUntil, of: place, now)
            place.report.completeUntil = Self.minute(now)
            place.step = .notifications
            try await goThrough(&place, prolong)
        }
        place.step = .done
        place.proven = Span(from: place.report.completeFrom, to: place.report.completeUntil)
        place.finished = context.clocks.wall().milliseconds
        try await keep(place)
        return place.report
    }

    private func goThrough(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        if place.step == .notifications {
            try await takeNotifications(&place, prolong)
            place.step = .overdue
            place.after = nil
            try await keep(place)
        }
        if place.step == .overdue {
            try await readOverdue(&place, prolong)
            place.step = .histories
            try await keep(place)
        }
        if place.step == .histories { try await readHistories(&place, prolong) }
    }

    // MARK: - The place

    /// The place kept, or that of a new pass.
    private func begin() async throws -> Place {
        let now = await context.clocks.now().milliseconds
        let earliest = now - window
        let (kept, isThere) = try await kept()
        if var kept, kept.step != .done, reach == .news || reach == kept.reach,
            kept.report.completeUntil <= now
        {
            if kept.step == .notifications { kept.forget(before: earliest) }
            return kept
        }
        var known = kept?.proven
        if kept == nil, isThere, let birth = context.records.history.versions.first?.adopted {
            // Earlier programs asked only for what had not been delivered, which proves nothing; but
            // what was sent before there was this database is not its to catch up with.
            known = Span(from: birth.milliseconds, to: birth.milliseconds)
        }
        let from = start(known, now, earliest)
        // With a gap between what was proven and what is read now, only the latter is complete.
        let isJoined = known.map { from <= $0.to } ?? false
        let completeFrom = isJoined ? min(from, known?.from ?? from) : from
        var place = Place(
            application: scope.application,
            reach: reach,
            left: Span(from: from, to: now + 1),
            before: Span(from: max(earliest, completeFrom), to: from),
            reading: kept?.reading,
            proven: kept?.proven,
            noticed: kept?.noticed,
            report: Report(
                environment: environment,
                application: hasSiblings ? scope.application : nil,
                completeUntil: Self.minute(now),
                completeFrom: completeFrom,
                historiesAsOf: kept?.report.historiesAsOf
            ),
            finished: kept?.finished
        )
        if reach != .news || kept?.proven == nil || !isJoined {
            var coinsSince = min(completeFrom, known?.from ?? .max)
            if case .since(let instant) = reach { coinsSince = min(coinsSince, instant) }
            place.reading = Reading(asOf: now, coinsSince: coinsSince)
        }
        try await keep(place)
        return place
    }

    /// From when on a new pass reads notifications.
    private func start(_ known: Span?, _ now: Int64, _ earliest: Int64) -> Int64 {
        guard let known else {
            guard case .since(let instant) = reach else { return earliest }
            return min(max(instant, earliest), now)
        }
        let news = max(min(known.to, now) - Self.overlap, known.from)
        return switch reach {
        case .news: max(news, earliest)
        case .everything: earliest
        case .since(let instant): max(min(news, instant), earliest)
        }
    }

    /// What was sent since `instant`.
    private func news(after instant: Int64, of place: Place, _ now: Int64) -> Span {
        Span(from: max(instant - Self.overlap, place.report.completeFrom), to: now + 1)
    }

    /// Up to when a pass can prove anything that begins now.
    private static func minute(_ now: Int64) -> Int64 {
        (now - underWay) / 60_000 * 60_000
    }

    func keep(_ place: Place) async throws {
        try await context.records.cursors.keep(cursorName, value: place, now: context.clocks.wall())
    }
}

extension AppStoreReconciliation.Place {
    /// What was sent before `earliest` is no longer told, so nothing is proven of it.
    mutating func forget(before earliest: Int64) {
        guard left.from < earliest else { return }
        left.from = min(earliest, left.to)
        part = nil
        token = nil
        var provenFrom = left.from
        // Unless earlier passes have proven it.
        if let proven, proven.to >= left.from { provenFrom = min(proven.from, provenFrom) }
        report.completeFrom = max(report.completeFrom, provenFrom)
    }
}
