extension API {
    /// The body of `POST /v1/google_play/external_transactions`.
    public struct GooglePlayExternalTransactionsRequest: Hashable, Codable, Sendable {
        /// The key of the purchase at Stripe, as entitlements name it.
        public var purchase: String
        /// The token that Play Billing gave the app; needed until the first payment is reported.
        public var externalTransactionToken: String?
        /// The buyer's country, ISO 3166-1 alpha-2; by default the payer's, as Stripe knows it.
        public var regionCode: String?
        /// The state or territory, for buyers in India.
        public var administrativeArea: String?
        /// The tax that prices include, in per cent; 0 by default.
        ///
        /// Tax on top of a price is known from the invoice.
        public var includedTaxPercent: Double?
        /// The app, where there are several; the first if left out.
        public var packageName: String?
        /// The link that the app showed; only of external offers and content links.
        public var link: ExternalPurchaseLink?

        public init(
            purchase: String,
            externalTransactionToken: String? = nil,
            regionCode: String? = nil,
            administrativeArea: String? = nil,
            includedTaxPercent: Double? = nil,
            packageName: String? = nil,
            link: ExternalPurchaseLink? = nil
        ) {
            self.purchase = purchase
            self.externalTransactionToken = externalTransactionToken
            self.regionCode = regionCode
            self.administrativeArea = administrativeArea
            self.includedTaxPercent = includedTaxPercent
            self.packageName = packageName
            self.link = link
        }

        private enum CodingKeys: String, CodingKey {
            case purchase
            case externalTransactionToken = "external_transaction_token"
            case regionCode = "region_code"
            case administrativeArea = "administrative_area"
            case includedTaxPercent = "included_tax_percent"
            case packageName = "package_name"
            case link
        }
    }

    /// A link out of the app: Google's `ExternalOfferDetails`, or `ExternalContentLinkDetails`.
    public struct ExternalPurchaseLink: Hashable, Codable, Sendable {
        /// The program of Google's that allows the link.
        public enum Program: String, Hashable, Codable, Sendable {
            case externalOffers = "external_offers"
            case externalContentLinks = "external_content_links"
        }

        /// Where the link leads.
        public enum Kind: String, Hashable, Codable, Sendable {
            case digitalContentOffer = "digital_content_offer"
            case appDownload = "app_download"
        }

        /// The category of the app that was downloaded.
        public enum Category: String, Hashable, Codable, Sendable {
            case app
            case game
        }

        public var program: Program
        /// Left out only for a purchase in an app that an external offer has installed.
        public var type: Kind?
        /// The package of the app that was downloaded; needed with `app_download`.
        public var installedAppPackage: String?
        /// The category of the app that was downloaded; needed with `app_download`.
        public var installedAppCategory: Category?
        /// With `external_offers`: the id under which the download was reported, of a purchase in
        /// that app.
        public var appDownloadTransaction: String?

        public init(
            program: Program,
            type: Kind?,
            installedAppPackage: String? = nil,
            installedAppCategory: Category? = nil,
            appDownloadTransaction: String? = nil
        ) {
            (self.program, self.type) = (program, type)
            self.installedAppPackage = installedAppPackage
            self.installedAppCategory = installedAppCategory
            self.appDownloadTransaction = appDownloadTransaction
        }

        private enum CodingKeys: String, CodingKey {
            case program
            case type
            case installedAppPackage = "installed_app_package"
            case installedAppCategory = "installed_app_category"
            case appDownloadTransaction = "app_download_transaction"
        }
    }

    /// The answer: the payments of the purchase as Google has them now.
    public struct GooglePlayExternalTransactions: Hashable, Codable, Sendable {
        public var purchase: String
        /// The first payment first.
        public var externalTransactions: [Transaction]

        public init(purchase: String, externalTransactions: [Transaction]) {
            (self.purchase, self.externalTransactions) = (purchase, externalTransactions)
        }

        /// One payment.
        public struct Transaction: Hashable, Codable, Sendable {
            /// The id at Google: that of Stripe's invoice or payment.
            public var id: String
            /// `TRANSACTION_REPORTED`, or `TRANSACTION_CANCELED` once all of it was refunded.
            public var state: String
            /// `true` where this call has reported it.
            public var new: Bool

            public init(id: String, state: String, new: Bool) {
                (self.id, self.state, self.new) = (id, state, new)
            }
        }

        private enum CodingKeys: String, CodingKey {
            case purchase
            case externalTransactions = "external_transactions"
        }
    }
}
