extension GooglePlay.Client {
    /// `externaltransactions.createexternaltransaction`.
    ///
    /// Within 24 hours of the transaction; an id that is known already is refused with 409.
    public func createExternalTransaction(
        _ report: GooglePlay.ExternalTransactionReport
    ) async throws(GooglePlay.APIFault) -> Answer<GooglePlay.ExternalTransaction> {
        let operation = "externaltransactions.createexternaltransaction"
        let response = try await post(
            operation,
            ["externalTransactions"],
            query: [("externalTransactionId", report.id)],
            report.json
        )
        return try Self.externalTransaction(response, operation)
    }

    /// `externaltransactions.getexternaltransaction`.
    public func externalTransaction(
        _ id: String
    ) async throws(GooglePlay.APIFault) -> Answer<GooglePlay.ExternalTransaction> {
        try await get(
            "externaltransactions.getexternaltransaction",
            ["externalTransactions", id]
        ) { json throws(GooglePlay.DecodingError) in
            try GooglePlay.ExternalTransaction(json)
        }
    }

    /// `externaltransactions.refundexternaltransaction`.
    public func refundExternalTransaction(
        _ id: String,
        _ refund: GooglePlay.ExternalTransactionRefund
    ) async throws(GooglePlay.APIFault) -> Answer<GooglePlay.ExternalTransaction> {
        let operation = "externaltransactions.refundexternaltransaction"
        let response = try await post(
            operation,
            ["externalTransactions", id],
            verb: "refund",
            refund.json
        )
        return try Self.externalTransaction(response, operation)
    }

    private static func externalTransaction(
        _ response: GooglePlay.HTTPResponse,
        _ operation: String
    ) throws(GooglePlay.APIFault) -> Answer<GooglePlay.ExternalTransaction> {
        try answer(response, to: operation) { json throws(GooglePlay.DecodingError) in
            try GooglePlay.ExternalTransaction(json)
        }
    }
}
