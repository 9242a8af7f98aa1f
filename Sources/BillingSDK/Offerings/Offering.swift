import Foundation

/// Products that the catalog shows together, in order, with the words above them.
public struct Offering: Hashable, Sendable, Identifiable {
    /// The words of an offering in one language.
    public struct Text: Hashable, Sendable {
        /// The title.
        public let title: String
        /// The text below it; `nil` without one.
        public let body: String?

        /// Words from their parts, for previews and tests.
        public init(title: String, body: String? = nil) {
            self.title = title
            self.body = body
        }
    }

    /// The id in the catalog.
    public let id: String
    /// In the order in which they are shown.
    public let products: [OfferedProduct]
    /// The words by language: `en`, `pt-BR`, `zh-Hans`.
    public let texts: [String: Text]

    /// An offering from its parts, for previews and tests.
    public init(id: String, products: [OfferedProduct], texts: [String: Text] = [:]) {
        self.id = id
        self.products = products
        self.texts = texts
    }

    /// The words for `locale`: in its language, else in English, else in the first language there is.
    ///
    /// `nil` where the catalog has none.
    public func text(locale: Locale = .current) -> Text? {
        let wanted = Self.languages(of: locale.identifier)
        for language in wanted + ["en"] {
            let found = texts.keys.sorted().first { $0.lowercased() == language }
            if let found { return texts[found] }
        }
        return texts.keys.min().flatMap { texts[$0] }
    }

    /// The languages by which a locale such as `zh-Hans_CN` may be meant, the nearest first, in lower
    /// case.
    static func languages(of identifier: String) -> [String] {
        let plain = identifier.split(separator: "@").first ?? ""
        let parts = plain.split { $0 == "_" || $0 == "-" }.map { $0.lowercased() }
        guard let language = parts.first else { return [] }
        var found = [parts.joined(separator: "-")]
        found += parts.dropFirst().map { language + "-" + $0 }
        if language == "zh", !parts.contains("hans"), !parts.contains("hant") {
            // The script that is read there.
            let isTraditional = ["tw", "hk", "mo"].contains { parts.contains($0) }
            found.append(isTraditional ? "zh-hant" : "zh-hans")
        }
        return found + [language]
    }
}

/// A product of an offering, as the catalog has it.
public struct OfferedProduct: Hashable, Sendable, Identifiable {
    /// Its id in the catalog.
    public let id: String
    /// Its name in the catalog.
    public let name: String
    /// The kind of product.
    public let kind: ProductKind
    /// Its id in the App Store, where this app sells it there.
    public let appStoreProductID: String?
    /// The id of the button that leads to Checkout for one of it.
    public let buyButtonID: String?
    /// Identifiers of the App Store's promotional offers for which the server signs.
    public let promotionalOffers: [String]
    /// The catalog's price; the store's price decides.
    public let price: Money?
    /// `month`, `year` and so on between payments; nil if it is paid once.
    public let interval: String?
    /// The number of intervals between payments: 3 with `month` is a quarter; `nil` is 1.
    public let intervalCount: Int?

    /// A product from its parts, for previews and tests.
    public init(
        id: String,
        name: String,
        kind: ProductKind,
        appStoreProductID: String? = nil,
        buyButtonID: String? = nil,
        promotionalOffers: [String] = [],
        price: Money? = nil,
        interval: String? = nil,
        intervalCount: Int? = nil
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.appStoreProductID = appStoreProductID
        self.buyButtonID = buyButtonID
        self.promotionalOffers = promotionalOffers
        self.price = price
        self.interval = interval
        self.intervalCount = intervalCount
    }

    /// The catalog's price with the time that it is for, such as `¥1,500 a month`; nil without a price.
    ///
    /// In the App Store show ``OfferedAppStoreProduct/formattedPriceAndPeriod(locale:)``, which is what is
    /// charged there.
    public func formattedPriceAndPeriod(locale: Locale = .current) -> String? {
        price.map {
            PriceText.price(
                $0.formatted(locale: locale),
                each: interval,
                count: intervalCount,
                Texts(locale)
            )
        }
    }
}

/// The kind of a product, in the catalog's words; new kinds may come.
public struct ProductKind: RawRepresentable, Hashable, Sendable {
    /// The catalog's word.
    public let rawValue: String
    /// A kind by the catalog's word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Used up and bought again: packs of coins.
    public static let consumable = Self(rawValue: "consumable")
    /// Bought once, for ever.
    public static let nonConsumable = Self(rawValue: "non_consumable")
    /// A plan that renews until it is cancelled.
    public static let autoRenewable = Self(rawValue: "auto_renewable")
    /// Lasts for a time, and is bought again by hand.
    public static let nonRenewing = Self(rawValue: "non_renewing")
}
