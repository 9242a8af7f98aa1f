import Foundation
import SandboxClock

/// The App Store Server API's answers about notifications.
extension ServerAnswers {
    func testNotification(_ token: String) throws(APIError) -> CheckTestNotificationResponse {
        guard token.contains("_"), UUID(uuidString: String(token.prefix(36))) != nil else {
            throw APIError.parameter(4_000_020, "test notification token")
        }
        guard let notification = world.testTokens[token].flatMap({ world.notifications[$0] }),
            !notification.attempts.isEmpty
        else {
            throw APIError(
                4_040_008,
                "Either the test notification token is expired or the notification and status are not yet available."
            )
        }
        return CheckTestNotificationResponse(
            signedPayload: notification.signedPayload,
            sendAttempts: notification.attempts,
            firstSendAttemptResult: notification.attempts.first?.sendAttemptResult
        )
    }

    func notificationHistory(
        _ query: NotificationHistoryQuery,
        token: String?
    ) throws -> NotificationHistoryResponse {
        let days: Int64 = environment == .production ? 180 : 30
        guard query.startDate >= now - days * CivilDate.millisecondsPerDay else {
            throw APIError(
                4_000_012,
                "Invalid request. The start date is earlier than the earliest allowed date."
            )
        }
        guard query.endDate > query.startDate else {
            throw APIError(
                4_000_013,
                "Invalid request. The end date is not after the start date, or they are equal."
            )
        }
        var transactions: Set<String>?
        if let id = query.transactionID {
            let customer = try world.customer(requested: id)
            transactions = Set(world.transactionsOf(customer.id).map(\.originalID))
        }
        let skipped =
            try token.map { text throws(APIError) in try Self.position(of: text, at: now) } ?? 0
        let matching = world.notificationsInOrder.filter {
            $0.url != nil && $0.versionOneBody == nil && !$0.attempts.isEmpty
                && query.includes($0, ofCustomer: transactions)
        }
        let page = matching.dropFirst(skipped).prefix(HistoryQuery.pageSize)
        let end = skipped + page.count
        let hasMore = end < matching.count
        return NotificationHistoryResponse(
            paginationToken: hasMore ? Data("p2:\(end):\(now)".utf8).base64URL : nil,
            hasMore: hasMore,
            notificationHistory: page.map {
                .init(signedPayload: $0.signedPayload, sendAttempts: $0.attempts)
            }
        )
    }

    /// Apple says that tokens expire, and not when: here, a day after they were given.
    private static func position(of token: String, at now: Int64) throws(APIError) -> Int {
        guard let bytes = Data(base64URL: token),
            case let words = String(decoding: bytes, as: UTF8.self).split(separator: ":"),
            words.count == 3, words[0] == "p2", let position = Int(words[1]), position >= 0,
            let given = Int64(words[2])
        else {
            throw APIError(4_000_014, "Invalid request. The pagination token is invalid.")
        }
        guard now <= given.addingClamped(CivilDate.millisecondsPerDay) else {
            throw APIError(4_000_017, "Invalid request. The pagination token is expired.")
        }
        return position
    }
}
