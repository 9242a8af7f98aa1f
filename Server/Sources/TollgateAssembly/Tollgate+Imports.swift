public import AppStoreConnector
public import GooglePlayConnector
public import StripeConnector
public import TollgateService

extension Tollgate {
    /// Brings in what the customers of another system bought, by a file of their receipts.
    ///
    /// - Parameter file: names the file across runs: a hash of its content, say.
    public func receiptImport(file: String) -> ReceiptImport {
        ReceiptImport(appStore.receipts, file: file) { request in
            try await self.customers.create(request).customer
        }
    }

    /// Brings in what was bought in Google Play, by a file of purchase tokens or order ids.
    ///
    /// - Parameters:
    ///   - file: names the file across runs: a hash of its content, say.
    ///   - perMinute: reads in a minute, at most.
    public func googlePlayImport(file: String, perMinute: Int64) -> PurchaseImport {
        googlePlay.purchaseImport(file: file, perMinute: perMinute) { request in
            try await self.customers.create(request).customer
        }
    }

    /// Brings in an account of Stripe's that was there before this server.
    public var stripeImport: StripeImporting {
        StripeImporting(stripe) { try await self.customers.create($0).customer }
    }
}
