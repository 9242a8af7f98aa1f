internal import AppStoreAPI
internal import Storage
internal import Stores
internal import TollgateCore

// MARK: - What looks overdue

extension AppStoreReconciliation {
    /// Asks about every purchase of which the store should have said something by now.
    func readOverdue(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let now = await context.clocks.now()
        let awaited = Purchase.awaitedScope(environment, application: scope.application)
        try await context.records.awaited.follow(
            of: .appStore,
            cursor: "awaited",
            wall: context.clocks.wall(),
            prolong: prolong
        ) { $0.awaited }
        while true {
            let page = try await context.records.awaited.overdue(
                in: awaited,
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
        let isNews = try await unlessRefused(&report) {
            var request = AppStore.TransactionHistoryRequest()
            request.startDate = record.newestStart
            let history = try await connector.reads.readHistory(
                of: record.key.id,
                in: scope,
                request
            )
            let statuses = try await connector.reads.readStatuses(
                of: record.key.id,
                in: scope,
                confirms: true
            )
            return history.news + statuses.news > 0
        }
        if isNews == true { report.changed += 1 }
    }

    /// What is final about one purchase must not stop the asking about all others.
    private func unlessRefused<Value>(
        _ report: inout Report,
        _ body: () async throws -> Value
    ) async throws -> Value? {
        do {
            return try await body()
        } catch let error as AppStore.ServerAPIError {
            guard !error.isRetryable, !error.isForbidden else { throw error }
            report.unknown += 1
            return nil
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

// MARK: - All that known customers bought

extension AppStoreReconciliation {
    /// How many purchases are remembered as answered with another one of the same customer.
    private static let mostCovered = 1_000_000

    /// Reads everything that known customers bought, or the next slice of it.
    func readHistories(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        guard var reading = place.reading else { return }
        let began = context.clocks.wall().milliseconds
        // One question answers for all that a customer bought.
        var covered: Set<RowKey> = []
        while true {
            let page = try await context.records.records(
                after: reading.after.flatMap(RowKey.init(hex:)),
                limit: 100
            )
            for (row, record) in page {
                reading.after = row.hex
                guard isOurs(record.key), covered.remove(row) == nil else { continue }
                try await readHistory(of: record, row, reading, &place.report, &covered)
                try await prolong()
                if let slice, context.clocks.wall().milliseconds - began >= slice {
                    place.reading = reading
                    return try await keep(place)
                }
            }
            guard !page.isEmpty else { break }
            place.reading = reading
            try await keep(place)
            try await prolong()
        }
        place.reading = nil
        place.report.historiesAsOf = reading.asOf
        try await keep(place)
    }

    private func isOurs(_ key: Purchase.Key) -> Bool {
        key.store == .appStore && !key.isOfXcode && AppStoreScope(key) == scope
    }

    private func readHistory(
        of record: Purchase,
        _ row: RowKey,
        _ reading: Reading,
        _ report: inout Report,
        _ covered: inout Set<RowKey>
    ) async throws {
        report.histories += 1
        let read = try await unlessRefused(&report) {
            var read = try await connector.reads.readHistory(
                of: record.key.id,
                in: scope,
                coinsSince: reading.coinsSince
            )
            if read.hasPlan {
                let statuses = try await connector.reads.readStatuses(
                    of: record.key.id,
                    in: scope,
                    confirms: false
                )
                read = read + statuses
            }
            return read
        }
        if let read {
            if read.news > 0 { report.historiesChanged += 1 }
            if covered.count > Self.mostCovered { covered = [] }
            covered.formUnion(read.purchases.map(RecordStore.subject(of:)).filter { row < $0 })
        }
        progress(
            WorkProgress(
                step: "\(environment.rawValue): customers' purchases",
                done: report.histories
            )
        )
    }
}
