/// The catalog over time: which version was in force at a purchase, and which one is today's (RULES §7).
public struct CatalogHistory: Hashable, Codable, Sendable {
    public struct Version: Hashable, Codable, Sendable {
        /// Names the content: a hash of its canonical JSON.
        public var id: String
        public var adopted: Instant
        public var catalog: Catalog

        public init(id: String, adopted: Instant, catalog: Catalog) {
            self.id = id
            self.adopted = adopted
            self.catalog = catalog
        }
    }

    /// Oldest first.
    public private(set) var versions: [Version]

    public init(_ versions: [Version] = []) {
        self.versions = versions
    }

    /// Adds a version; it becomes today's.
    public mutating func adopt(_ version: Version) {
        versions.append(version)
    }

    /// Today's catalog; empty before the first adoption.
    public var current: Catalog { versions.last?.catalog ?? Catalog() }

    /// The instant before which purchases credit no coins: the newest that a version states.
    public var coinsSince: Instant? {
        versions.last { $0.catalog.coinsSince != nil }?.catalog.coinsSince
    }

    /// The product that `storeProduct` was at `instant`: by the version then in force, else by the
    /// first later one that knows it.
    ///
    /// Versions that do not list the app that sold it say nothing of it (RULES §7).
    ///
    /// - Parameter application: the app that sold it, as in the purchase's key; `nil`: any.
    public func product(
        _ storeProduct: StoreProduct,
        in application: String? = nil,
        at instant: Instant
    ) -> Catalog.Product? {
        let inForce = versions.lastIndex { $0.adopted <= instant } ?? 0
        let first = max(
            inForce,
            application.map { indexOfFirstVersion(of: $0, in: storeProduct.store) } ?? 0
        )
        for version in versions[first...] {
            if let product = version.catalog.product(storeProduct, in: application) {
                return product
            }
        }
        return nil
    }

    /// The first version that speaks of an app: the first one that lists it.
    ///
    /// All versions speak of the only app, and of the first of several where none were listed before.
    private func indexOfFirstVersion(of application: String, in store: Store) -> Int {
        guard
            let listing = versions.firstIndex(where: {
                $0.catalog.app(application: application, in: store) != nil
            })
        else { return 0 }
        let wasTheOnlyOne =
            versions[listing].catalog.apps[0].isNamed(application, in: store)
            && versions[..<listing].allSatisfy(\.catalog.apps.isEmpty)
        return wasTheOnlyOne ? 0 : listing
    }

    /// The policy for refunded plans in force at `instant`.
    public func refundedPlan(at instant: Instant) -> Catalog.RefundedPlan {
        let version = versions.last { $0.adopted <= instant } ?? versions.first
        return version?.catalog.refundedPlan ?? .keep
    }

    /// The ownership policy in force at `instant`.
    public func ownership(at instant: Instant) -> Catalog.Ownership {
        let version = versions.last { $0.adopted <= instant } ?? versions.first
        return version?.catalog.ownership ?? .keep
    }
}

extension Catalog {
    /// The product sold by a store under this name.
    ///
    /// - Parameter application: the app that sold it, as in the purchase's key; `nil`: any.
    public func product(
        _ storeProduct: StoreProduct,
        in application: String? = nil
    ) -> Product? {
        switch storeProduct.store {
        case .appStore: product(appStoreProductID: storeProduct.id, in: application)
        case .stripe: product(stripePriceID: storeProduct.id)
        case .googlePlay:
            index(ofGooglePlay: storeProduct, in: application).map { products[$0] }
        case .tollgate: storeProduct.catalogProduct.flatMap { product(id: $0) }
        }
    }

    /// The entitlements that a store's product grants today.
    ///
    /// A staff grant names its own.
    ///
    /// - Parameter application: the app that sold it, as in the purchase's key; `nil`: any.
    public func lookupKeys(
        of storeProduct: StoreProduct,
        in application: String? = nil
    ) -> [String] {
        // Every question asks this: by index, since a copy of a product costs more than the search.
        let id = storeProduct.id
        switch storeProduct.store {
        case .tollgate where storeProduct.catalogProduct == nil: return [id]
        case .tollgate: return product(storeProduct)?.entitlements ?? []
        case .appStore:
            if let index = index(ofAppStoreProduct: id, in: application) {
                return products[index].entitlements
            }
        case .googlePlay:
            if let index = index(ofGooglePlay: storeProduct, in: application) {
                return products[index].entitlements
            }
        case .stripe:
            for index in products.indices where products[index].stripePriceIDs.contains(id) {
                return products[index].entitlements
            }
        }
        return []
    }
}
