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
    /// `com.example.app.pro.monthly`, `price_1Q…`; for `tollgate`, a lookup key.
    public var id: String

    public init(_ store: Store, _ id: String) {
        self.store = store
        self.id = id
    }

    public static func < (left: StoreProduct, right: StoreProduct) -> Bool {
        (left.store.rawValue, left.id) < (right.store.rawValue, right.id)
    }
}
