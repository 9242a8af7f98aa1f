internal import AppStoreAPI
internal import Logging
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
        let wall = context.clocks.wall()
        var faults: [AppStore.ServerAPIError] = []
        let awaited = Purchase.awaitedScope(environment, application: scope.application)
        try await context.records.awaited.follow(
            of: .appStore,
            cursor: "awaited",
            wall: wall,
            prolong: prolong
        ) { $0.awaited }
        while true {
            let page = try await context.records.awaited.overdue(
                in: awaited,
                at: now,
                after: place.after.flatMap(AwaitedPlace.init(text:))
            )
            // The list may be some moments behind the record.
            for record in page.records
            where record.looksOverdue(at: now)
                && !connector.unknownPurchases.contains(record.key, at: wall)
            {
                place.report.overdue += 1
                try await ask(about: record, &place.report, &faults)
                progress(
                    WorkProgress(
                        step: "\(environment.rawValue): overdue purchases",
                        done: place.report.overdue
                    )
                )
                if place.report.overdue % 20 == 0 { try await prolong() }
                guard faults.count >= Self.mostFaults, let error = faults.last else { continue }
                // The next pass goes on behind it.
                if let since = record.awaited?.since {
                    let row = RecordStore.subject(of: record.key)
                    place.after = AwaitedPlace(since: since, purchase: row).text
                }
                try await keep(place)
                throw error
            }
            guard let next = page.next else { return }
            place.after = next.text
            try await keep(place)
            try await prolong()
        }
    }

    private func ask(
        about record: Purchase,
        _ report: inout Report,
        _ faults: inout [AppStore.ServerAPIError]
    ) async throws {
        let answer = try await answer(about: record, &faults) {
            var request = AppStore.TransactionHistoryRequest()
            request.startDate = record.overdueStart
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
        switch answer {
        case .given(let isNews): if isNews { report.changed += 1 }
        case .refused(let error):
            report.unknown += 1
            guard error.isUnknown else { return }
            connector.unknownPurchases.insert(record.key, at: context.clocks.wall())
        case .failed: break  // The next pass asks again.
        }
    }

    /// So many faults in a row are not only some purchases'.
    private static let mostFaults = 10

    /// The App Store's answer about one purchase.
    private enum Answer<Value> {
        case given(Value)
        /// The App Store will never answer.
        case refused(AppStore.ServerAPIError)
        /// Asking again may help.
        case failed
    }

    /// Asks about one purchase: a refusal or a fault must not stop the asking about all others.
    ///
    /// - Parameter faults: those of the last answers, with no other answer since.
    private func answer<Value>(
        about record: Purchase,
        _ faults: inout [AppStore.ServerAPIError],
        _ body: () async throws -> Value
    ) async throws -> Answer<Value> {
        do {
            let value = try await body()
            faults = []
            return .given(value)
        } catch let error as AppStore.ServerAPIError {
            switch error.meaning {
            case .final:
                faults = []
                return .refused(error)
            case .unreadable: break
            case .fault:
                faults.append(error)
            case .unwilling, .unreachable: throw error
            }
            context.logger.warning(
                "the App Store gave no answer about a purchase; it will be asked again",
                metadata: ["purchase": "\(record.key.canonical)", "error": "\(error)"]
            )
            return .failed
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
        var faults: [AppStore.ServerAPIError] = []
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
                let read = try await readHistory(of: record, reading, &place.report, &faults)
                if covered.count > Self.mostCovered { covered = [] }
                covered.formUnion(read.purchases.map(RecordStore.subject(of:)).filter { row < $0 })
                try await prolong()
                if faults.count >= Self.mostFaults, let error = faults.last {
                    place.reading = reading
                    try await keep(place)
                    throw error
                }
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

    /// Reads everything that the customer of a purchase bought.
    ///
    /// - Returns: nothing where the App Store does not know it. Where it failed, a question of its own
    ///   is raised about the purchase.
    private func readHistory(
        of record: Purchase,
        _ reading: Reading,
        _ report: inout Report,
        _ faults: inout [AppStore.ServerAPIError]
    ) async throws -> AppStoreReads.ReadCount {
        report.histories += 1
        let answer = try await answer(about: record, &faults) {
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
        progress(
            WorkProgress(
                step: "\(environment.rawValue): customers' purchases",
                done: report.histories
            )
        )
        switch answer {
        case .given(let read):
            if read.news > 0 { report.historiesChanged += 1 }
            return read
        case .refused: report.unknown += 1
        case .failed:
            try await context.records.questions.want(
                Wanted(kind: .transactionHistory, object: record.key.id),
                about: record.key,
                at: context.clocks.now()
            )
        }
        return AppStoreReads.ReadCount()
    }
}
