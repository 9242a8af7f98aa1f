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

    /// Brings in the customers of RevenueCat, by its export of transactions.
    ///
    /// - Parameters:
    ///   - file: names the file across runs: a hash of its content, say.
    ///   - perMinute: reads of each kind in a minute that Google Play is asked for, at most.
    public func revenueCatImport(
        file: String,
        options: RevenueCatImport.Options,
        perMinute: Int64
    ) -> RevenueCatImport {
        RevenueCatImport(self, file: file, options: options, perMinute: perMinute)
    }
}
