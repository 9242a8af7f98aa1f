public import GooglePlayAPI
public import Logging
internal import Storage
public import Stores
public import TollgateCore

/// Fetches from the bucket what is new there or was changed.
struct ReportBucket: Sendable {
    private let client: GooglePlay.StorageClient
    private let reports: GooglePlayReports
    private let logger: Logger

    /// Reports that one round fetches at most; the newest months come first.
    private static let most = 240
    /// Pages of 500 names that are listed at most of each kind.
    private static let mostPages = 20

    init(_ client: GooglePlay.StorageClient, _ reports: GooglePlayReports, _ logger: Logger) {
        (self.client, self.reports, self.logger) = (client, reports, logger)
    }

    /// The objects of a bucket that were read.
    ///
    /// Operational: forgetting it costs reading everything once more.
    struct Seen: Codable, Hashable, Sendable {
        struct Object: Codable, Hashable, Sendable {
            var generation: String
            /// The time of Google's last change, in UNIX milliseconds.
            var updated: Int64?
            /// Why it could not be read; it is tried again when it changes, or by a newer program.
            var problem: String?
        }

        /// Raised when more can be read than before.
        static let reader = 1

        var objects: [String: Object] = [:]
        var reader = Seen.reader

        static let name = "reports/google_play/objects"

        static func kept(in store: RecordStore) async throws -> Seen {
            try await store.cursors.value(name) ?? Seen()
        }

        /// Returns `true` if an object has to be read.
        fileprivate func lacks(_ object: GooglePlay.StorageClient.Object) -> Bool {
            guard let known = objects[object.name], known.generation == object.generation else {
                return true
            }
            return known.problem != nil && reader < Seen.reader
        }
    }

    /// - Parameters:
    ///   - prolong: called after each report; what it throws ends the round, and what was fetched by
    ///     then is kept.
    ///   - now: the wall clock.
    ///   - told: called after each report that says anything new.
    /// - Returns: the reports that say anything new.
    func fetch(
        at now: Instant,
        prolong: @Sendable () async throws -> Void,
        told: @Sendable (TakenReport) -> Void
    ) async throws -> [TakenReport] {
        var seen = try await Seen.kept(in: reports.store)
        var wanted: [GooglePlay.StorageClient.Object] = []
        for kind in GooglePlay.Report.Kind.allCases {
            wanted += try await listed(kind, prolong).filter { seen.lacks($0) }
        }
        var outcomes: [TakenReport] = []
        for object in wanted.sorted(by: Self.isNewer).prefix(Self.most) {
            do {
                let outcome = try await take(object, &seen, at: now)
                if let outcome, outcome.isNew {
                    told(outcome)
                    outcomes.append(outcome)
                }
            } catch {
                try await reports.store.cursors.keep(Seen.name, value: seen, now: now)
                throw error
            }
            // Behind the report itself: a crash between the two costs reading it once more.
            try await reports.store.cursors.keep(Seen.name, value: seen, now: now)
            try await prolong()
        }
        seen.reader = Seen.reader
        try await reports.store.cursors.keep(Seen.name, value: seen, now: now)
        return outcomes
    }

    private func listed(
        _ kind: GooglePlay.Report.Kind,
        _ prolong: () async throws -> Void
    ) async throws -> [GooglePlay.StorageClient.Object] {
        var objects: [GooglePlay.StorageClient.Object] = []
        var page: String?
        for _ in 0..<Self.mostPages {
            let found = try await client.objects(prefix: kind.prefix, page: page)
            // A folder that somebody made in the console is an object of its own.
            objects += found.objects.filter { !$0.name.hasSuffix("/") }
            page = found.next
            guard page != nil else { break }
            try await prolong()
        }
        return objects
    }

    private static func isNewer(
        _ left: GooglePlay.StorageClient.Object,
        _ right: GooglePlay.StorageClient.Object
    ) -> Bool {
        (left.updated ?? 0, left.name) > (right.updated ?? 0, right.name)
    }

    /// - Returns: `nil` for a report that cannot be read, or that was replaced since it was listed.
    private func take(
        _ object: GooglePlay.StorageClient.Object,
        _ seen: inout Seen,
        at now: Instant
    ) async throws -> TakenReport? {
        var known = Seen.Object(generation: object.generation, updated: object.updated)
        var outcome: TakenReport?
        do {
            guard object.size <= GooglePlay.Report.packedLimit else {
                throw GooglePlay.ReportProblem(
                    file: object.name,
                    "it has \(object.size) bytes, and up to \(GooglePlay.Report.packedLimit) are read."
                )
            }
            let bytes = try await client.content(of: object)
            outcome = try await reports.take(bytes, named: object.name, at: now)
        } catch let problem as GooglePlay.ReportProblem {
            known.problem = "\(problem)"
            logger.error(
                "a report of Google Play cannot be read; it is left out of accounts",
                metadata: ["object": "\(object.name)", "problem": "\(problem)"]
            )
        } catch let fault as GooglePlay.APIFault {
            switch fault.meaning {
            case .notFound, .changedMeanwhile: return nil
            case .notAllowed, .noLongerReadable, .invalid, .tooMany, .unavailable, .unreadable:
                throw fault
            }
        }
        seen.objects[object.name] = known
        return outcome
    }
}

extension GooglePlayReports {
    /// Fetches from the bucket what is new there or was changed.
    ///
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - told: called after each report that says anything new.
    /// - Throws: `GooglePlay.APIFault`, `StorageError`. What was fetched by then is kept, and the next
    ///   call goes on there.
    public func fetch(
        from bucket: GooglePlay.StorageClient,
        at now: Instant,
        logger: Logger,
        told: @Sendable (TakenReport) -> Void = { _ in }
    ) async throws -> [TakenReport] {
        try await ReportBucket(bucket, self, logger).fetch(at: now, prolong: {}, told: told)
    }
}
