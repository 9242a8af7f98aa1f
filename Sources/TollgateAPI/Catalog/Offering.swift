import Foundation

extension API {
    /// The answer of `GET /v1/offerings`: every offering of the catalog.
    public struct OfferingList: Hashable, Codable, Sendable {
        /// In the order of the catalog.
        public var data: [Offering]

        public init(data: [Offering]) {
            self.data = data
        }
    }

    /// Products that an app shows together, with the words above them.
    public struct Offering: Hashable, Codable, Sendable, Identifiable {
        /// The id in the catalog.
        public var id: String
        /// In the order in which they are shown.
        public var products: [Product]
        /// By language: `en`, `pt-BR`, `zh-Hans`.
        public var texts: [String: Text]

        public init(id: String, products: [Product], texts: [String: Text]) {
            self.id = id
            self.products = products
            self.texts = texts
        }
    }
}

extension API.Offering {
    /// The words of an offering in one language.
    public struct Text: Hashable, Codable, Sendable {
        public var title: String
        /// What stands below the title; absent where there is nothing.
        public var body: String?

        public init(title: String, body: String? = nil) {
            self.title = title
            self.body = body
        }
    }

    /// A product of an offering, under the ids by which the app that asks can buy it.
    public struct Product: Hashable, Codable, Sendable, Identifiable {
        /// The product's id in the catalog.
        public var id: String
        public var name: String
        /// What buying it means, as in the catalog: `auto_renewable`.
        public var kind: String
        /// Its id in the App Store; absent where the app does not sell it there.
        public var appStoreProductID: String?
        /// Its id in Google Play; absent where the app does not sell it there.
        public var googlePlayProductID: String?
        /// The button that leads to Checkout for one unit; absent where there is none.
        public var buyButton: String?
        /// Identifiers of the promotional offers for which the server signs.
        public var promotionalOffers: [String]
        /// What the catalog says that it costs; the store's own price decides.
        public var price: Price?
        /// Days, weeks, months or years between payments (`month`, `year`); absent if paid once.
        public var interval: String?
        /// How many intervals lie between payments: 3 and `month` is a quarter.
        public var intervalCount: Int?

        public init(
            id: String,
            name: String,
            kind: String,
            appStoreProductID: String? = nil,
            googlePlayProductID: String? = nil,
            buyButton: String? = nil,
            promotionalOffers: [String] = [],
            price: Price? = nil,
            interval: String? = nil,
            intervalCount: Int? = nil
        ) {
            self.id = id
            self.name = name
            self.kind = kind
            self.appStoreProductID = appStoreProductID
            self.googlePlayProductID = googlePlayProductID
            self.buyButton = buyButton
            self.promotionalOffers = promotionalOffers
            self.price = price
            self.interval = interval
            self.intervalCount = intervalCount
        }

        private enum CodingKeys: String, CodingKey {
            case id, name, kind, price, interval
            case appStoreProductID = "app_store_product_id"
            case googlePlayProductID = "google_play_product_id"
            case buyButton = "buy_button"
            case promotionalOffers = "promotional_offers"
            case intervalCount = "interval_count"
        }
    }

    /// An amount of money.
    public struct Price: Hashable, Codable, Sendable {
        /// In the currency's minor unit: 999 is 9.99 in `usd`, and 999 yen in `jpy`.
        public var amount: Int64
        /// ISO 4217, lower case.
        public var currency: String

        public init(amount: Int64, currency: String) {
            self.amount = amount
            self.currency = currency
        }
    }
}
