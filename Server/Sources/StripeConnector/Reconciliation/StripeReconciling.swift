internal import Foundation
internal import Storage
public import Stores
internal import StripeAPI
internal import StrictJSON
internal import TollgateAPI
internal import TollgateCore

/// What `tollgate reconcile stripe` has found.
public struct StripeReconciliation: Codable, Hashable, Sendable {
    /// Events of the list of events, and how many of them had not been delivered.
    public var events = SweepCount()
    /// Objects that were read themselves, and how many of them said anything new.
    public var objects = SweepCount()
    /// Up to when the record is proven complete, in milliseconds of the stores' time.
    public var completeTo: Int64?
    /// Since when every event is in the record, in the same time; `nil`: every object was read, so
    /// nothing that Stripe still lists is missing, however old.
    public var completeFrom: Int64?
    /// As of when every object was read last, in the same time; `nil`: never so far.
    public var objectsAsOf: Int64?
}

/// How far reconciling has come, as it is kept.
private struct StripeCursor: Codable {
    /// A pass that was begun and not finished.
    struct Pass: Codable {
        /// Absent in what earlier programs kept.
        var reach: ReconciliationReach?
        /// When it began, in UNIX seconds: what it will have proven.
        var target: Int64
        /// Events from this second on.
        var since: Int64?
        /// Whether the objects are read, too.
        var isWhole: Bool?
        /// The stage of the objects that it is in; `nil`: the events, or done with the objects.
        var stage: StripeSweepStage?
        /// The last object or event that it went through.
        var after: String?
        var found = StripeReconciliation()
    }

    /// Up to when all is known, in UNIX seconds.
    var provenTo: Int64?
    /// Since when, where no pass has ever read every object.
    var provenFrom: Int64?
    /// When the last pass began that read every object.
    var objectsAsOf: Int64?
    var pass: Pass?

    /// What happened before this is no longer told, in UNIX seconds; a day of Stripe's 30 is left as
    /// a margin.
    static func remembered(_ now: Int64) -> Int64 { now - 29 * 86_400 }

    /// A pass that begins now.
    func newPass(_ reach: ReconciliationReach, _ now: Int64) -> Pass {
        let remembered = Self.remembered(now)
        // What was under way when the last pass began may have been written after it.
        let news = provenTo.map { max($0 - 600, provenFrom ?? .min) }
        let isRemembered = provenTo.map { $0 > remembered } ?? false
        var pass = Pass(reach: reach, target: now)
        switch reach {
        case .news:
            pass.since = isRemembered ? news : remembered
            pass.isWhole = !isRemembered
        case .everything:
            pass.since = remembered
            pass.isWhole = true
        case .since(let milliseconds):
            let second = milliseconds / 1000
            pass.since = max(min(second, news ?? .max), remembered)
            pass.isWhole = second < remembered || (provenTo != nil && !isRemembered)
        }
        if pass.isWhole == true { pass.stage = StripeSweepStage.allCases.first }
        return pass
    }

    /// Takes a finished pass for proven.
    mutating func finish(_ pass: Pass) -> StripeReconciliation {
        if pass.isWhole == true {
            objectsAsOf = pass.target
            provenFrom = nil
        } else if provenTo == nil {
            provenFrom = pass.since
        }
        provenTo = max(pass.target, provenTo ?? 0)
        self.pass = nil
        var found = pass.found
        found.completeTo = (provenTo ?? 0) * 1000
        found.completeFrom = provenFrom.map { $0 * 1000 }
        found.objectsAsOf = objectsAsOf.map { $0 * 1000 }
        return found
    }
}

extension StripeConnector {
    /// What happened while a pass took longer than so many seconds is read before it ends.
    private static let patience: Int64 = 300

    /// Asks Stripe for what the record lacks, delivered or not.
    ///
    /// Within Stripe's memory of 30 days the list of events is enough; the first time, after a longer
    /// break, or where it is asked for, every object is read too. An interrupted run goes on where it
    /// was, so in a restored backup it goes on where the copy was made.
    ///
    /// - Parameter report: told after every piece.
    /// - Returns: what was found; `nil` if another server is doing it right now.
    /// - Throws: where Stripe or the database fail; what was done so far stays done.
    public func reconcile(
        reach: ReconciliationReach = .news,
        report: WorkProgress.Report = { _ in }
    ) async throws -> StripeReconciliation? {
        _ = try reads.configured()
        return try await context.leases.holding(Self.cursorName) { prolong in
            var cursor = try await stripeCursor()
            if reach != .news, cursor.pass?.reach != reach { cursor.pass = nil }
            var found = try await passOverStripe(&cursor, reach, prolong, report)
            if await nowInSeconds() - (cursor.provenTo ?? 0) > Self.patience {
                // It was long, or the rest of one that was broken off: what happened since follows.
                let later = try await passOverStripe(&cursor, .news, prolong, report)
                found = later.adding(found)
            }
            return found
        }
    }

    private func nowInSeconds() async -> Int64 { await context.clocks.now().milliseconds / 1000 }

    /// Does a pass, or the rest of the one that was begun.
    private func passOverStripe(
        _ cursor: inout StripeCursor,
        _ reach: ReconciliationReach,
        _ prolong: @Sendable () async throws -> Void,
        _ report: WorkProgress.Report
    ) async throws -> StripeReconciliation {
        var pass =
            if let begun = cursor.pass { begun } else {
                cursor.newPass(reach, await nowInSeconds())
            }
        while let stage = pass.stage {
            try await sweep(stage, after: pass.after) { id, isNews in
                pass.found.objects.count(isNews)
                pass.after = id
                report(WorkProgress(step: stage.words, done: pass.found.objects.seen))
                if pass.found.objects.seen.isMultiple(of: 50) {
                    cursor.pass = pass
                    try await keep(cursor)
                    try await prolong()
                }
            }
            pass.stage = stage.next
            pass.after = nil
            cursor.pass = pass
            try await keep(cursor)
            try await prolong()
        }
        try await events(of: &pass) { pass in
            report(WorkProgress(step: "events", done: pass.found.events.seen))
            guard pass.found.events.seen.isMultiple(of: 50) else { return }
            cursor.pass = pass
            try await keep(cursor)
            try await prolong()
        }
        // Stripe has just answered all the rest.
        await askAll()
        let found = cursor.finish(pass)
        try await keep(cursor)
        return found
    }

    /// Takes in every event of the pass; those that were delivered are duplicates.
    private func events(
        of pass: inout StripeCursor.Pass,
        _ each: (StripeCursor.Pass) async throws -> Void
    ) async throws {
        let stripe = try reads.configured()
        for try await event in stripe.lists.events(since: pass.since, after: pass.after) {
            let receipt = try await receive(ReceivedMessage(Array(event.json.rawBytes), .fetched))
            var isNews = receipt != .duplicate
            if try await customers.relink(toldBy: event) { isNews = true }
            pass.found.events.count(isNews)
            pass.after = event.id
            try await each(pass)
        }
    }

    private static let cursorName = "reconcile/stripe"

    public var passes: [String] { isSetUp ? [Self.cursorName] : [] }

    private func stripeCursor() async throws -> StripeCursor {
        try await context.records.cursors.value(Self.cursorName) ?? StripeCursor()
    }

    private func keep(_ cursor: StripeCursor) async throws {
        try await context.records.cursors
            .keep(Self.cursorName, value: cursor, now: context.clocks.wall())
    }
}

extension StripeReconciliation {
    /// The same after an earlier pass.
    fileprivate func adding(_ earlier: StripeReconciliation) -> StripeReconciliation {
        var sum = self
        sum.events.add(earlier.events)
        sum.objects.add(earlier.objects)
        return sum
    }
}

extension StripeSweepStage {
    fileprivate var next: StripeSweepStage? {
        let all = Self.allCases
        guard let index = all.firstIndex(of: self), index + 1 < all.count else { return nil }
        return all[index + 1]
    }
}
