internal import Foundation
internal import Logging
internal import Storage
internal import StripeAPI
internal import StrictJSON
internal import TollgateAPI
public import TollgateCore

/// What `tollgate reconcile stripe` has found.
public struct StripeReconciliation: Codable, Hashable, Sendable {
    /// Events of the list of events, and how many of them had not been delivered.
    public var events = SweepCount()
    /// Objects that were read themselves, and how many of them said anything new.
    public var objects = SweepCount()
    /// Up to when the record is proven complete, in milliseconds of the stores' time.
    public var completeTo: Int64?
}

/// How far reconciling has come, as it is kept.
private struct StripeCursor: Codable {
    /// A pass that was begun and not finished.
    struct Pass: Codable {
        /// When it began, in UNIX seconds: what it will have proven.
        var target: Int64
        /// Events from this second on; `nil`: none, the objects are read instead.
        var since: Int64?
        /// The stage of the objects that it is in; `nil`: the events, or done with the objects.
        var stage: StripeSweepStage?
        /// The last object or event that it went through.
        var after: String?
        var found = StripeReconciliation()
    }

    /// Up to when all is known, in UNIX seconds.
    var provenTo: Int64?
    var pass: Pass?
}

extension Tollgate {
    /// Asks Stripe for what it could not deliver.
    ///
    /// Within Stripe's memory of 30 days the list of events is enough; the first time, after a longer
    /// break, or if `isFull`, every object is read too. An interrupted run goes on where it was.
    ///
    /// - Parameter report: told after every piece.
    /// - Returns: what was found; `nil` if another server is doing it right now.
    /// - Throws: where Stripe or the database fail; what was done so far stays done.
    public func reconcileStripe(
        isFull: Bool = false,
        report: WorkProgress.Report = { _ in }
    ) async throws -> StripeReconciliation? {
        _ = try requireStripe()
        return try await leased("reconcile/stripe") { prolong in
            var cursor = try await stripeCursor()
            if cursor.pass == nil || (isFull && cursor.pass?.since != nil) {
                cursor.pass = newPass(cursor.provenTo, await clocks.now(), isFull: isFull)
            }
            guard var pass = cursor.pass else { return StripeReconciliation() }
            while let stage = pass.stage {
                try await sweepStripe(stage, after: pass.after) { id, isNews in
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
            stripePaces.succeeded()
            await fetchWanted()
            cursor.provenTo = max(pass.target, cursor.provenTo ?? 0)
            cursor.pass = nil
            try await keep(cursor)
            pass.found.completeTo = (cursor.provenTo ?? 0) * 1000
            return pass.found
        }
    }

    /// Up to when the record of Stripe's purchases is proven complete; `nil`: never so far.
    public func stripeCompleteTo() async throws -> Instant? {
        try await stripeCursor().provenTo.map { Instant(seconds: $0) }
    }

    private func newPass(
        _ provenTo: Int64?,
        _ now: Instant,
        isFull: Bool
    ) -> StripeCursor.Pass {
        let target = now.milliseconds / 1000
        // Stripe remembers 30 days of events; a day of them is left as a margin.
        let isRemembered = provenTo.map { $0 > target - 29 * 86_400 } ?? false
        let needsObjects = isFull || !isRemembered
        // What was under way when the last pass began may have been written after it.
        let since = isRemembered ? (provenTo ?? target) - 600 : target - 29 * 86_400
        return StripeCursor.Pass(
            target: target,
            since: since,
            stage: needsObjects ? StripeSweepStage.allCases.first : nil
        )
    }

    /// Takes in every event of the pass; those that were delivered are duplicates.
    private func events(
        of pass: inout StripeCursor.Pass,
        _ each: (StripeCursor.Pass) async throws -> Void
    ) async throws {
        let stripe = try requireStripe()
        for try await event in stripe.events(since: pass.since, after: pass.after) {
            let receipt = try await receive(
                event,
                body: Array(event.json.rawBytes),
                kind: .fetched
            )
            pass.found.events.count(receipt != .duplicate)
            pass.after = event.id
            try await each(pass)
        }
    }

    private static let cursorName = "reconcile/stripe"

    private func stripeCursor() async throws -> StripeCursor {
        guard let kept = try await store.cursor(Self.cursorName) else { return StripeCursor() }
        // A cursor of an earlier program costs a full pass, not a failure.
        return (try? APIJSON.decode(StripeCursor.self, from: Data(kept.body))) ?? StripeCursor()
    }

    private func keep(_ cursor: StripeCursor) async throws {
        try await store.keepCursor(
            Self.cursorName,
            Array(try APIJSON.encode(cursor)),
            now: clocks.wall()
        )
    }
}

extension StripeSweepStage {
    fileprivate var next: StripeSweepStage? {
        let all = Self.allCases
        guard let index = all.firstIndex(of: self), index + 1 < all.count else { return nil }
        return all[index + 1]
    }
}
