public import AppStoreConnector

extension Tollgate {
    /// Brings in what the customers of another system bought, by a file of their receipts.
    ///
    /// - Parameter file: names the file across runs: a hash of its content, say.
    public func receiptImport(file: String) -> ReceiptImport {
        ReceiptImport(appStore.receipts, file: file) { request in
            try await self.customers.create(request).customer
        }
    }
}
