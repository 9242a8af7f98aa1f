internal import AppStoreAPI
internal import Logging
internal import Storage
internal import Stores
internal import TollgateCore

// What was sent. All of it is listed, not only what was not delivered: what a restored backup or a
// standby that lagged behind has lost was delivered, so the store would never send it again.
extension AppStoreReconciliation {
    /// A part of a span at a time, so that a page whose place is lost costs no more than a part.
    private static let longestPart = 7 * day

    /// Reads what is left of the notifications, and once something turns out to have been lost, all
    /// that the store still tells.
    func takeNotifications(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        try await takeParts(&place, prolong)
        let lost = place.lost - place.said
        guard lost > 0 else { return }
        place.said = place.lost
        let now = await context.clocks.now().milliseconds
        context.logger.warning(
            "the App Store had delivered notifications that the record lacked, such as after a restored backup; they were taken in",
            metadata: connector.about(scope, ["notifications": "\(lost)"])
        )
        // Where another server is told of the same app, something is missing every time.
        if let noticed = place.noticed, now - noticed < Self.day { return }
        place.noticed = now
        place.reading = Reading(
            asOf: now,
            coinsSince: min(place.report.completeFrom, place.proven?.from ?? .max)
        )
        guard let before = place.before else { return }
        place.left = before
        place.before = nil
        try await keep(place)
        try await takeParts(&place, prolong)
    }

    private func takeParts(
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        while place.left.from < place.left.to {
            let from = place.left.from
            let part =
                place.part ?? Span(from: from, to: min(from + Self.longestPart, place.left.to))
            place.part = part
            do {
                try await takePages(of: part, &place, prolong)
            } catch let error as AppStore.ServerAPIError {
                if place.token != nil, error.hasLostItsPlace {
                    place.token = nil
                    continue
                }
                // Apple's 180 days have been seen to be fewer.
                guard error.isTooFarBack else { throw error }
                place.forget(before: from + Self.day)
                continue
            }
            place.left.from = part.to
            (place.part, place.token) = (nil, nil)
            try await keep(place)
        }
    }

    private func takePages(
        of part: Span,
        _ place: inout Place,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let request = AppStore.NotificationHistoryRequest(startDate: part.from, endDate: part.to)
        for try await page in client.notificationHistory(request, after: place.token) {
            try await take(page, &place)
            place.token = page.hasMore ? page.paginationToken : nil
            try await keep(place)
            try await prolong()
            progress(
                WorkProgress(
                    step: "\(environment.rawValue): notifications",
                    done: place.report.notifications
                )
            )
        }
    }

    private func take(
        _ page: AppStore.NotificationHistoryResponse,
        _ place: inout Place
    ) async throws {
        let items = page.notificationHistory.map { ($0, $0.unverified) }
        func key(_ item: AppStore.UnverifiedNotification?) -> RowKey? {
            item.map {
                AppStoreMessages.key(ofNotification: $0.notificationUUID, scope.application)
            }
        }
        let known = try await context.records.journal.known(items.compactMap { key($0.1) })
        for (item, unverified) in items {
            place.report.notifications += 1
            if !item.wasDelivered { place.report.undelivered += 1 }
            if let key = key(unverified), known.contains(key) { continue }
            switch try await take(item.signedPayload) {
            case .recorded?, .nothing?, .hint?:
                place.report.taken += 1
                guard item.wasDelivered else { break }
                place.report.delivered += 1
                // Before a first pass had ended, it may have been delivered to anybody.
                guard let proven = place.proven, let signed = unverified?.signedDate,
                    signed >= proven.from
                else { break }
                place.lost += 1
                context.counters.count("tollgate_lost_messages_total", "store=\"app_store\"")
            case .parked?: place.report.parked += 1
            case .duplicate?: break
            case nil: place.report.foreign += 1
            }
        }
    }

    /// Takes in a notification as if it had been delivered; `nil` if it is not for us.
    private func take(_ signedPayload: String) async throws -> MessageOutcome? {
        do {
            return try await connector.receive(
                ReceivedMessage(Array("{\"signedPayload\":\"\(signedPayload)\"}".utf8), .fetched)
            )
        } catch let error as AppStore.VerificationError {
            guard !error.isRetryable else { throw error }
            context.counters.count("tollgate_unverified_reads_total", "store=\"app_store\"")
            return nil
        }
    }
}

extension AppStore.ServerAPIError {
    /// Whether the page to go on with is no longer known.
    fileprivate var hasLostItsPlace: Bool {
        guard case .refused(let refusal) = cause else { return false }
        return refusal.code == .invalidPaginationToken || refusal.code == .paginationTokenExpired
    }

    /// Whether the store tells of nothing that was sent so long ago.
    fileprivate var isTooFarBack: Bool {
        guard case .refused(let refusal) = cause else { return false }
        return refusal.code == .startDateTooFarInPast
    }
}
