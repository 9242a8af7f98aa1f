internal import AppStoreAPI
internal import Foundation
internal import Logging
internal import Storage
public import TollgateCore

/// One pass over what the App Store could not deliver and what looks overdue.
///
/// It goes on where it was broken off, also by another server: its place is in the database.
public struct AppStoreReconciliation: Sendable {
    /// What a pass came to.
    public struct Report: Hashable, Codable, Sendable {
        public var environment: StoreEnvironment
        /// Notifications that were never delivered or are still tried.
        public var undelivered = 0
        /// Of them, those that the record did not have.
        public var taken = 0
        /// Of them, those that could not be used.
        public var parked = 0
        /// Of them, those that were not signed for this app and environment.
        public var foreign = 0
        /// Purchases of which the store should have said something by now.
        public var overdue = 0
        /// Of them, those of which it had news.
        public var changed = 0
        /// Of them, those that it does not know.
        public var unknown = 0
        /// Up to which minute the record holds all that the store has sent, in UNIX milliseconds of
        /// the stores' time.
        public var completeUntil: Int64
        /// Since when that is so: the store remembers undelivered notifications for 180 days (30 in
        /// the sandbox), and passes further apart leave a gap.
        public var completeFrom: Int64

        enum CodingKeys: String, CodingKey {
            case environment, undelivered, taken, parked, foreign, overdue, changed, unknown
            case completeUntil = "complete_until"
            case completeFrom = "complete_from"
        }
    }

    /// The place in a pass.
    struct Place: Codable {
        enum Step: String, Codable { case notifications, overdue, done }

        var step = Step.notifications
        /// The span of notifications, by the stores' time.
        var from: Int64
        var to: Int64
        /// The page of notifications to go on with.
        var token: String?
        /// The last purchase that was asked about: since when it is overdue, and its row's key.
        var after: String?
        var report: Report
        /// When the last whole pass ended, by real time.
        var finished: Int64?
    }

    let tollgate: Tollgate
    let environment: StoreEnvironment
    let client: AppStore.ServerAPIClient
    let progress: WorkProgress.Report

    static func cursorName(_ environment: StoreEnvironment) -> String {
        "reconcile/app_store/\(environment.rawValue)"
    }

    /// How far the store's history of notifications reaches back, in milliseconds.
    private var window: Int64 {
        (environment == .production ? 180 : 30) * 86_400_000 - 3_600_000
    }

    /// Spans overlap by so much: an attempt that was under way at the end of one has failed since.
    private static let overlap: Int64 = 3_600_000
    /// How long before now an attempt may still be under way.
    private static let underWay: Int64 = 60_000

    /// Does the pass, or the rest of one.
    ///
    /// - Parameter prolong: called after each page.
    func run(_ prolong: @Sendable () async throws -> Void) async throws -> Report {
        var place = try await begin()
        if place.step == .notifications {
            try await takeNotifications(&place, prolong)
            place.step = .overdue
            try await keep(place)
        }
        if place.step == .overdue { try await readOverdue(&place, prolong) }
        place.step = .done
        place.finished = tollgate.clocks.wall().milliseconds
        try await keep(place)
        return place.report
    }

    /// The place kept, or that of a new pass.
    private func begin() async throws -> Place {
        let now = await tollgate.clocks.now().milliseconds
        let kept = try await tollgate.store.cursor(Self.cursorName(environment))
            .flatMap { try? JSONDecoder().decode(Place.self, from: Data($0.body)) }
        if var kept, kept.step != .done, kept.to <= now {
            if kept.step == .notifications, kept.from < now - window {
                // What lies before is no longer told, so nothing is proven of it.
                kept.from = now - window
                kept.report.completeFrom = kept.from
            }
            if kept.from < kept.to { return kept }
        }
        let earliest = now - window
        let proven = kept?.report.completeUntil ?? earliest
        let from = min(max(proven - Self.overlap, earliest), now - Self.overlap)
        let minute = (now - Self.underWay) / 60_000 * 60_000
        let place = Place(
            from: from,
            to: now + 1,
            report: Report(
                environment: environment,
                completeUntil: minute,
                completeFrom: proven <= earliest ? from : kept?.report.completeFrom ?? from
            ),
            finished: kept?.finished
        )
        return place
    }

    private func keep(_ place: Place) async throws {
        try await tollgate.store.keepCursor(
            Self.cursorName(environment),
            Array(try JSONEncoder().encode(place)),
            now: tollgate.clocks.wall()
        )
    }

    // MARK: - What could not be delivered

    private func takeNotifications(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        do {
            try await takePages(&place, prolong)
        } catch let error as AppStore.ServerAPIError {
            guard place.token != nil, error.hasLostItsPlace else { throw error }
            // The place on the store's side has expired: from the beginning of the span again.
            place.token = nil
            try await takePages(&place, prolong)
        }
    }

    private func takePages(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let request = AppStore.NotificationHistoryRequest(
            startDate: place.from,
            endDate: place.to,
            onlyFailures: true
        )
        for try await page in client.notificationHistory(request, after: place.token) {
            for item in page.notificationHistory {
                place.report.undelivered += 1
                switch try await take(item.signedPayload) {
                case .recorded?: place.report.taken += 1
                case .parked?: place.report.parked += 1
                case .duplicate?, .nothing?, .hint?: break
                case nil: place.report.foreign += 1
                }
            }
            place.token = page.hasMore ? page.paginationToken : nil
            try await keep(place)
            try await prolong()
            progress(
                WorkProgress(
                    step: "\(environment.rawValue): notifications that were not delivered",
                    done: place.report.undelivered
                )
            )
        }
    }

    /// Takes in a notification as if it had been delivered; `nil` if it is not for us.
    private func take(_ signedPayload: String) async throws -> Receipt? {
        do {
            return try await tollgate.receive(
                signedPayload: Array(signedPayload.utf8),
                in: Array("{\"signedPayload\":\"\(signedPayload)\"}".utf8),
                kind: .fetched
            )
        } catch let error as AppStore.VerificationError {
            guard !error.isRetryable else { throw error }
            tollgate.counters.count("tollgate_unverified_reads_total", "store=\"app_store\"")
            return nil
        }
    }

    // MARK: - What looks overdue

    private func readOverdue(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let now = await tollgate.clocks.now()
        let scope = Purchase.awaitedScope(
            environment,
            application: try tollgate.verifier().bundleID
        )
        try await tollgate.store.followAwaited(
            wall: tollgate.clocks.wall(),
            prolong: prolong
        ) { $0.awaited }
        while true {
            let page = try await tollgate.store.overdue(
                in: scope,
                at: now,
                after: place.after.flatMap(AwaitedPlace.init(text:))
            )
            // The list may be some moments behind the record.
            for record in page.records where record.looksOverdue(at: now) {
                place.report.overdue += 1
                try await ask(about: record, &place.report)
                progress(
                    WorkProgress(
                        step: "\(environment.rawValue): overdue purchases",
                        done: place.report.overdue
                    )
                )
                if place.report.overdue % 20 == 0 { try await prolong() }
            }
            guard let next = page.next else { return }
            place.after = next.text
            try await keep(place)
            try await prolong()
        }
    }

    private func ask(about record: Purchase, _ report: inout Report) async throws {
        do {
            var request = AppStore.TransactionHistoryRequest()
            request.startDate = record.newestStart
            let history = try await tollgate.readHistory(
                of: record.key.id,
                in: environment,
                request
            )
            let statuses = try await tollgate.readStatuses(
                of: record.key.id,
                in: environment,
                confirms: true
            )
            if history.news + statuses.news > 0 { report.changed += 1 }
        } catch let error as AppStore.ServerAPIError {
            // What is final about one purchase must not stop the asking about all others.
            guard !error.isRetryable, !error.isForbidden else { throw error }
            report.unknown += 1
        }
    }
}

extension AwaitedPlace {
    /// Reads what `text` wrote; what an earlier version kept is no place, and the pass starts over.
    fileprivate init?(text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let since = Int64(parts[0]), let key = RowKey(hex: String(parts[1]))
        else { return nil }
        self.init(since: Instant(milliseconds: since), purchase: key)
    }

    fileprivate var text: String { "\(since.milliseconds)/\(purchase.hex)" }
}

extension AppStore.ServerAPIError {
    /// Whether the page to go on with is no longer known.
    fileprivate var hasLostItsPlace: Bool {
        guard case .refused(let refusal) = cause else { return false }
        return refusal.code == .invalidPaginationToken || refusal.code == .paginationTokenExpired
    }
}
