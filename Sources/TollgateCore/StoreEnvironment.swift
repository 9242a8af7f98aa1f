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
    case googlePlay = "google_play"
    case tollgate

    /// Whether it takes money.
    ///
    /// Ours does not: what we grant, nobody has bought.
    public var isSelling: Bool {
        switch self {
        case .appStore, .stripe, .googlePlay: true
        case .tollgate: false
        }
    }

    /// Those that take money.
    public static let selling = allCases.filter(\.isSelling)

    /// Their names for a message: `app_store, stripe or google_play`.
    public static let sellingWords: String = {
        let names = selling.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }()

    /// Whether the catalog says how long grace lasts; elsewhere the store itself does (RULES §2.3, §5).
    public var hasGraceOfCatalog: Bool {
        switch self {
        case .stripe: true
        case .appStore, .googlePlay, .tollgate: false
        }
    }

    /// Whether buying another plan of a group changes the one that runs, instead of adding to it.
    public var changesPlans: Bool {
        switch self {
        case .appStore: true
        // An app that forgets to name the old purchase sells a second subscription.
        case .stripe, .googlePlay, .tollgate: false
        }
    }

    /// Whether a message that only says that something happened names its environment; else it is kept
    /// as one about production, and the read that it causes tells.
    public var namesEnvironmentInHints: Bool {
        switch self {
        case .googlePlay: false
        case .appStore, .stripe, .tollgate: true
        }
    }

    /// Whether its reports count units of a product at the price of one, and name no payments.
    public var reportsUnits: Bool {
        switch self {
        case .appStore: true
        case .stripe, .googlePlay, .tollgate: false
        }
    }

    /// Whether Xcode plays it on a developer's machine.
    public var isPlayedByXcode: Bool {
        switch self {
        case .appStore: true
        case .stripe, .googlePlay, .tollgate: false
        }
    }

    /// Whether it sells on the web: nobody else sends its receipts, and Google Play is told of what it
    /// sells to an app's customers.
    public var sellsOnTheWeb: Bool {
        switch self {
        case .stripe: true
        case .appStore, .googlePlay, .tollgate: false
        }
    }

    /// Whether a payout is of a month, and has no name of its own.
    public var paysByMonth: Bool {
        switch self {
        case .appStore: true
        case .stripe, .googlePlay, .tollgate: false
        }
    }

    /// How the periods of one subscription follow one another.
    public var lineOfPeriods: LineOfPeriods {
        switch self {
        case .appStore, .tollgate: .single
        case .stripe, .googlePlay: .manyItems
        }
    }

    /// Whether a subscription has one line of periods.
    public enum LineOfPeriods: Hashable, Sendable {
        /// One, whatever the plan is changed to; and who comes back goes on with it.
        case single
        /// One for each item, side by side; and who comes back begins another subscription.
        case manyItems
    }
}

/// One thing a store sells, by the store's own name for it: an App Store product id, a Stripe price
/// id, or a product of Google Play with its base plan or purchase option.
///
/// Which catalog product it is, the catalog of the day decides.
public struct StoreProduct: Hashable, Comparable, Codable, Sendable {
    public var store: Store
    /// `com.example.app.pro.monthly`, `price_1Q…`, `pro:monthly`; for `tollgate`, a lookup key, or `product:` and the
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

    /// - Parameter plan: the base plan of a subscription, the purchase option of anything else.
    public init(googlePlay product: String, plan: String?) {
        self.init(.googlePlay, plan.map { "\(product):\($0)" } ?? product)
    }

    /// The product and, behind a colon, its plan: neither has a colon of its own.
    var googlePlayParts: (product: String, plan: String?) {
        let parts = id.split(separator: ":", maxSplits: 1)
        return (parts.first.map(String.init) ?? id, parts.count > 1 ? String(parts[1]) : nil)
    }

    /// The name without a plan, since a catalog may list a product with or without its plans.
    public var withoutPlan: StoreProduct {
        switch store {
        case .googlePlay: StoreProduct(.googlePlay, googlePlayParts.product)
        case .appStore, .stripe, .tollgate: self
        }
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
