import Foundation

extension API {
    /// The answer of `GET /v1/buy_buttons/{id}`: what an app needs to draw the button itself.
    public struct BuyButton: Hashable, Codable, Sendable, Identifiable {
        /// `buy_btn_…`.
        public var id: String
        /// Whether it can be bought now.
        public var active: Bool
        /// The label that the catalog gives it; nil: the app's own default.
        public var callToAction: String?
        /// A page where the purchase can be made without a session; a fresh one comes from
        /// `POST /v1/buy_buttons/{id}/checkout`.
        public var checkoutURL: String?
        public var lineItemGroup: LineItemGroup
        public var product: Product
        /// The App Store storefronts (ISO 3166-1 alpha-3) whose customers may be sent to Checkout.
        public var storefronts: [String]?

        public init(
            id: String,
            active: Bool,
            callToAction: String?,
            checkoutURL: String?,
            lineItemGroup: LineItemGroup,
            product: Product,
            storefronts: [String]? = nil
        ) {
            self.id = id
            self.active = active
            self.callToAction = callToAction
            self.checkoutURL = checkoutURL
            self.lineItemGroup = lineItemGroup
            self.product = product
            self.storefronts = storefronts
        }

        private enum CodingKeys: String, CodingKey {
            case id, active, product, storefronts
            case callToAction = "call_to_action"
            case checkoutURL = "checkout_url"
            case lineItemGroup = "line_item_group"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(active, forKey: .active)
            try container.encode(callToAction, forKey: .callToAction)
            try container.encode(checkoutURL, forKey: .checkoutURL)
            try container.encode(lineItemGroup, forKey: .lineItemGroup)
            try container.encode(product, forKey: .product)
            try container.encodeIfPresent(storefronts, forKey: .storefronts)
        }
    }
}

extension API.BuyButton {
    /// What the buyer pays.
    public struct LineItemGroup: Hashable, Codable, Sendable {
        /// In the currency's minor unit, as a decimal string: `"1500"`.
        public var amountTotal: String
        /// ISO 4217, lower case.
        public var currency: String

        public init(amountTotal: String, currency: String) {
            self.amountTotal = amountTotal
            self.currency = currency
        }

        private enum CodingKeys: String, CodingKey {
            case currency
            case amountTotal = "amount_total"
        }
    }

    /// What the buyer gets.
    public struct Product: Hashable, Codable, Sendable, Identifiable {
        /// The product's id in the catalog.
        public var id: String
        public var name: String
        /// Its id in the App Store, where it is sold there too.
        public var appStoreProductID: String?
        /// Days, weeks, months or years between payments (`month`, `year`); nil if paid once.
        public var interval: String?
        /// How many intervals lie between payments: 3 and `month` is a quarter.
        public var intervalCount: Int?

        public init(
            id: String,
            name: String,
            appStoreProductID: String? = nil,
            interval: String? = nil,
            intervalCount: Int? = nil
        ) {
            self.id = id
            self.name = name
            self.appStoreProductID = appStoreProductID
            self.interval = interval
            self.intervalCount = intervalCount
        }

        private enum CodingKeys: String, CodingKey {
            case id, name, interval
            case intervalCount = "interval_count"
            case appStoreProductID = "app_store_product_id"
        }
    }
}
