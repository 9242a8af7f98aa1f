package import Storage
package import Stores
public import TollgateAPI
package import TollgateCore

/// Reports to Google what Stripe sold to people whom an Android app led there.
///
/// https://developer.android.com/google/play/billing/outside-gpb-backend
public struct ExternalTransactions: Sendable {
    let records: RecordStore
    /// The payments of a purchase, the payer's country, where that is known, and whether it is a plan.
    let payments: Payments
    /// Tells the store whose app led there.
    let tell: Tell

    /// - Parameter percent: the tax that prices include.
    package typealias Payments =
        @Sendable (
            _ purchase: Purchase, _ percent: Double
        ) -> (payments: [ExternalPurchase.Payment], country: String?, isSubscription: Bool)

    /// - Parameter package: the app; `nil`: the first one.
    package typealias Tell =
        @Sendable (
            _ purchase: ExternalPurchase, _ package: String?
        ) async throws -> [ExternalPurchase.Report]

    package init(records: RecordStore, payments: @escaping Payments, tell: @escaping Tell) {
        (self.records, self.payments, self.tell) = (records, payments, tell)
    }

    /// Reports every payment and refund of a purchase that Google does not have yet.
    ///
    /// - Throws: refusals 400 `parameter_missing`, `parameter_invalid`; 404 `resource_missing`,
    ///   `app_unknown`; 409 `nothing_paid`; 429 `rate_limited`; 502 and 503 `store_unavailable`.
    public func report(
        _ request: API.GooglePlayExternalTransactionsRequest
    ) async throws -> API.GooglePlayExternalTransactions {
        let record = try await record(request.purchase)
        let percent = request.includedTaxPercent ?? 0
        guard percent >= 0, percent < 100 else {
            throw Refusal.invalid("included_tax_percent", "A tax is 0 to less than 100 per cent.")
        }
        let paid = payments(record, percent)
        guard !paid.payments.isEmpty else {
            throw Refusal.conflict(
                "nothing_paid",
                "This purchase is not paid yet; report it once it is paid.",
                param: "purchase"
            )
        }
        guard let region = request.regionCode ?? paid.country else {
            throw Refusal.missingParameter("region_code")
        }
        guard region.utf8.count == 2, region.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw Refusal.invalid("region_code", "A country is two capitals: 'FR'.")
        }
        if let link = request.link { try Self.require(link) }
        let reports = try await tell(
            ExternalPurchase(
                payments: paid.payments,
                isSubscription: paid.isSubscription,
                token: request.externalTransactionToken,
                region: region,
                administrativeArea: request.administrativeArea,
                link: request.link
            ),
            request.packageName
        )
        return API.GooglePlayExternalTransactions(
            purchase: record.key.canonical,
            externalTransactions: reports.map { report in
                .init(id: report.id, state: report.state, new: report.isNew)
            }
        )
    }

    /// - Throws: refusals 400 `parameter_missing`, `parameter_invalid` where Google would refuse the link.
    private static func require(_ link: API.ExternalPurchaseLink) throws {
        if link.appDownloadTransaction != nil, link.program != .externalOffers {
            throw Refusal.invalid(
                "link.app_download_transaction",
                "Only external offers name the download of an app."
            )
        }
        switch link.type {
        case .digitalContentOffer: break
        case .appDownload:
            if link.installedAppPackage == nil {
                throw Refusal.missingParameter("link.installed_app_package")
            }
            if link.installedAppCategory == nil {
                throw Refusal.missingParameter("link.installed_app_category")
            }
        case nil:
            // In an app that was installed by such an offer, the download says it.
            if link.appDownloadTransaction == nil { throw Refusal.missingParameter("link.type") }
        }
    }

    /// The purchase at Stripe of this key.
    private func record(_ canonical: String) async throws -> Purchase {
        guard let key = Purchase.Key(canonical: canonical) else {
            throw Refusal.invalid(
                "purchase",
                "A purchase is named as entitlements name it: stripe/production/-/sub_1."
            )
        }
        guard key.store.sellsOnTheWeb else {
            throw Refusal.invalid(
                "purchase",
                "Only purchases at Stripe are reported to Google as external transactions."
            )
        }
        guard let record = try await records.record(of: key) else {
            throw Refusal.missing("purchase", canonical, param: "purchase")
        }
        return record
    }
}
