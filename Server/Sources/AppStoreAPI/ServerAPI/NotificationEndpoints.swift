extension AppStore.ServerAPIClient {
    /// Get Notification History, page by page: what was sent, and what could not be delivered.
    ///
    /// Reaches back 180 days in production and 30 days in the sandbox.
    public func notificationHistory(
        _ request: AppStore.NotificationHistoryRequest,
        after token: String? = nil
    ) -> AppStore.Pages<AppStore.NotificationHistoryResponse> {
        let operation = "Get Notification History"
        return AppStore.Pages(
            operation: operation,
            page: { cursor throws(AppStore.ServerAPIError) in
                let call = Call(
                    operation: operation,
                    method: "POST",
                    path: "/inApps/v1/notifications/history",
                    query: cursor.map { [("paginationToken", $0)] } ?? [],
                    body: request.json
                )
                return try await sender.send(call, AppStore.NotificationHistoryResponse.init)
            },
            cursor: { $0.hasMore ? $0.paginationToken : nil },
            start: token
        )
    }

    /// Request a Test Notification; the answer names it.
    public func requestTestNotification() async throws(AppStore.ServerAPIError) -> String {
        let call = Call(
            operation: "Request a Test Notification",
            method: "POST",
            path: "/inApps/v1/notifications/test"
        )
        return try await sender.send(call, reading: "testNotificationToken")
    }

    /// Get Test Notification Status: 4040008 until the first attempt was made.
    public func testNotificationStatus(
        _ testNotificationToken: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.NotificationHistoryResponse.Item {
        let operation = "Get Test Notification Status"
        let path = try Call.path(testNotificationToken, in: operation)
        return try await sender.send(
            Call(operation: operation, path: "/inApps/v1/notifications/test/\(path)"),
            AppStore.NotificationHistoryResponse.Item.init
        )
    }
}
