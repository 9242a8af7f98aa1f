/// Which of a store's two worlds a purchase was made in.
///
/// Records of the two never mix (RULES §9).
public enum StoreEnvironment: String, Codable, Hashable, Sendable, CaseIterable {
    case production
    case sandbox
}

/// Who took the money, or, for `tollgate`, who granted without any.
public enum Store: String, Codable, Hashable, Sendable, CaseIterable {
    case appStore = "app_store"
    case stripe
    case tollgate
}

/// One thing a store sells, by the store's own name for it: an App Store product id or a Stripe
/// price id.
///
/// Which catalog product it is, the catalog of the day decides.
public struct StoreProduct: Hashable, Comparable, Codable, Sendable {
    public var store: Store
    /// `com.example.app.pro.monthly`, `price_1Q…`; for `tollgate`, a lookup key, or `product:` and the
    /// catalog's id.
    public var id: String

    public init(_ store: Store, _ id: String) {
        self.store = store
        self.id = id
    }

    /// A product that no store sold, by the catalog's own id of it.
    public init(catalogProduct id: String) {
        self.init(.tollgate, Self.catalogPrefix + id)
    }

    /// The catalog's id, for a product that no store sold (`store` is `tollgate`).
    var catalogProduct: String? {
        guard id.hasPrefix(Self.catalogPrefix) else { return nil }
        return String(id.dropFirst(Self.catalogPrefix.count))
    }

    /// No lookup key has a colon.
    private static let catalogPrefix = "product:"

    public static func < (left: StoreProduct, right: StoreProduct) -> Bool {
        (left.store.rawValue, left.id) < (right.store.rawValue, right.id)
    }
}
