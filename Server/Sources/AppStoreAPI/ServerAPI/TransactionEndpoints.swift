internal import StrictJSON
public import Foundation

extension AppStore.ServerAPIClient {
    /// Get Transaction Info: one transaction of any product type, signed.
    public func transactionInfo(
        _ transactionID: String
    ) async throws(AppStore.ServerAPIError) -> String {
        let call = try Call("Get Transaction Info", "/inApps/v1/transactions/{}", transactionID)
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
                let call = try Call(
                    operation,
                    "/inApps/\(version.rawValue)/history/{}",
                    transactionID,
                    query: request.query + (cursor.map { [("revision", $0)] } ?? [])
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
        let call = try Call(
            "Get All Subscription Statuses",
            "/inApps/v1/subscriptions/{}",
            transactionID,
            query: status.map { ("status", String($0.rawValue)) }
        )
        return try await sender.send(call, AppStore.StatusResponse.init)
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
                let call = try Call(
                    operation,
                    "/inApps/v2/refund/lookup/{}",
                    transactionID,
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
        let call = try Call("Look Up Order ID", "/inApps/v1/lookup/{}", orderID)
        return try await sender.send(call, AppStore.OrderLookupResponse.init)
    }

    /// Set App Account Token: names the account of a purchase made outside of the app, for the
    /// current period and those to come.
    public func setAppAccountToken(
        _ token: UUID,
        originalTransactionID: String
    ) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(
                "Set App Account Token",
                "/inApps/v1/transactions/{}/appAccountToken",
                originalTransactionID,
                method: "PUT",
                body: .object([("appAccountToken", .string(token.uuidString.lowercased()))])
            )
        )
    }

    /// Send Consumption Information: the answer to CONSUMPTION_REQUEST, within twelve hours.
    public func sendConsumptionInformation(
        _ transactionID: String,
        _ request: AppStore.ConsumptionRequest
    ) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(
                "Send Consumption Information",
                "/inApps/v2/transactions/consumption/{}",
                transactionID,
                method: "PUT",
                body: request.json
            )
        )
    }

    /// Finish Transaction, for the app (API 1.20).
    public func finishTransaction(_ transactionID: String) async throws(AppStore.ServerAPIError) {
        let path = "/inApps/v1/transactions/{}/finish"
        try await sender.send(Call("Finish Transaction", path, transactionID, method: "POST"))
    }
}

extension AppStore {
    /// The versions of Get Transaction History.
    public enum TransactionHistoryVersion: String, Sendable {
        case v1, v2
    }
}
