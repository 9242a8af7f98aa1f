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
                let call = try Call(
                    operation,
                    "/inApps/v1/notifications/history",
                    method: "POST",
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
        let path = "/inApps/v1/notifications/test"
        let call = try Call("Request a Test Notification", path, method: "POST")
        return try await sender.send(call, reading: "testNotificationToken")
    }

    /// Get Test Notification Status: 4040008 until the first attempt was made.
    public func testNotificationStatus(
        _ testNotificationToken: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.NotificationHistoryResponse.Item {
        let path = "/inApps/v1/notifications/test/{}"
        let call = try Call("Get Test Notification Status", path, testNotificationToken)
        return try await sender.send(call, AppStore.NotificationHistoryResponse.Item.init)
    }
}
