internal import StrictJSON
public import Foundation

extension AppStore.ServerAPIClient {
    /// Get Transaction Info: one transaction of any product type, signed.
    public func transactionInfo(
        _ transactionID: String
    ) async throws(AppStore.ServerAPIError) -> String {
        let operation = "Get Transaction Info"
        let path = try Call.path(transactionID, in: operation)
        let call = Call(operation: operation, path: "/inApps/v1/transactions/\(path)")
        return try await sender.send(call, reading: "signedTransactionInfo")
    }

    /// Get Transaction History: everything a customer bought, page by page.
    ///
    /// - Parameters:
    ///   - transactionID: Any transaction of the customer.
    ///   - request: What to leave out.
    ///   - revision: The last revision of an earlier, ascending read: only news follow.
    ///   - version: Of the endpoint. The first one is deprecated, and omits consumables that were
    ///     finished unless they were refunded.
    public func transactionHistory(
        _ transactionID: String,
        _ request: AppStore.TransactionHistoryRequest = .init(),
        after revision: String? = nil,
        version: AppStore.TransactionHistoryVersion = .v2
    ) -> AppStore.Pages<AppStore.HistoryResponse> {
        let operation = "Get Transaction History"
        return AppStore.Pages(
            operation: operation,
            page: { cursor throws(AppStore.ServerAPIError) in
                let path = try Call.path(transactionID, in: operation)
                let query = request.query + (cursor.map { [("revision", $0)] } ?? [])
                let call = Call(
                    operation: operation,
                    path: "/inApps/\(version.rawValue)/history/\(path)",
                    query: query
                )
                return try await sender.send(call, AppStore.HistoryResponse.init)
            },
            cursor: { $0.hasMore ? $0.revision : nil },
            start: revision
        )
    }

    /// Get All Subscription Statuses of the customer that a transaction belongs to.
    public func subscriptionStatuses(
        _ transactionID: String,
        status: [AppStore.Status] = []
    ) async throws(AppStore.ServerAPIError) -> AppStore.StatusResponse {
        let operation = "Get All Subscription Statuses"
        let path = try Call.path(transactionID, in: operation)
        let query = status.map { ("status", String($0.rawValue)) }
        return try await sender.send(
            Call(operation: operation, path: "/inApps/v1/subscriptions/\(path)", query: query),
            AppStore.StatusResponse.init
        )
    }

    /// Get Refund History of the customer that a transaction belongs to, page by page.
    public func refundHistory(
        _ transactionID: String,
        after revision: String? = nil
    ) -> AppStore.Pages<AppStore.RefundHistoryResponse> {
        let operation = "Get Refund History"
        return AppStore.Pages(
            operation: operation,
            page: { cursor throws(AppStore.ServerAPIError) in
                let path = try Call.path(transactionID, in: operation)
                let call = Call(
                    operation: operation,
                    path: "/inApps/v2/refund/lookup/\(path)",
                    query: cursor.map { [("revision", $0)] } ?? []
                )
                return try await sender.send(call, AppStore.RefundHistoryResponse.init)
            },
            cursor: { $0.hasMore ? $0.revision : nil },
            start: revision
        )
    }

    /// Look Up Order ID: the transactions of the order in a customer's e-mail.
    ///
    /// Production only.
    public func lookUpOrderID(
        _ orderID: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.OrderLookupResponse {
        let operation = "Look Up Order ID"
        let path = try Call.path(orderID, in: operation)
        return try await sender.send(
            Call(operation: operation, path: "/inApps/v1/lookup/\(path)"),
            AppStore.OrderLookupResponse.init
        )
    }

    /// Set App Account Token: names the account of a purchase made outside of the app, for the
    /// current period and those to come.
    public func setAppAccountToken(
        _ token: UUID,
        originalTransactionID: String
    ) async throws(AppStore.ServerAPIError) {
        let operation = "Set App Account Token"
        let path = try Call.path(originalTransactionID, in: operation)
        try await sender.send(
            Call(
                operation: operation,
                method: "PUT",
                path: "/inApps/v1/transactions/\(path)/appAccountToken",
                body: .object([("appAccountToken", .string(token.uuidString.lowercased()))])
            )
        )
    }

    /// Send Consumption Information: the answer to CONSUMPTION_REQUEST, within twelve hours.
    public func sendConsumptionInformation(
        _ transactionID: String,
        _ request: AppStore.ConsumptionRequest
    ) async throws(AppStore.ServerAPIError) {
        let operation = "Send Consumption Information"
        let path = try Call.path(transactionID, in: operation)
        try await sender.send(
            Call(
                operation: operation,
                method: "PUT",
                path: "/inApps/v2/transactions/consumption/\(path)",
                body: request.json
            )
        )
    }

    /// Finish Transaction, for the app (API 1.20).
    public func finishTransaction(_ transactionID: String) async throws(AppStore.ServerAPIError) {
        let operation = "Finish Transaction"
        let path = "/inApps/v1/transactions/\(try Call.path(transactionID, in: operation))/finish"
        try await sender.send(Call(operation: operation, method: "POST", path: path))
    }
}

extension AppStore {
    /// The versions of Get Transaction History.
    public enum TransactionHistoryVersion: String, Sendable {
        case v1, v2
    }
}
