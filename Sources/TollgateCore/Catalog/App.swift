extension Catalog {
    /// One of several apps that a team sells to the same customers.
    public struct App: Codable, Hashable, Sendable {
        /// Our own id, such as `reader`; never changes.
        public var id: String
        /// What people read.
        public var name: String
        /// The bundle id in the App Store: `com.example.reader`; nil if it is not there.
        public var bundleID: String?
        /// The number in the App Store; needed where production is served.
        public var appAppleID: Int64?
        /// The team that signs the app; needed for universal links.
        public var teamID: String?
        /// The package name in Google Play; nil if it is not there.
        public var packageName: String?

        public init(
            id: String,
            name: String,
            bundleID: String? = nil,
            appAppleID: Int64? = nil,
            teamID: String? = nil,
            packageName: String? = nil
        ) {
            self.id = id
            self.name = name
            self.bundleID = bundleID
            self.appAppleID = appAppleID
            self.teamID = teamID
            self.packageName = packageName
        }

        enum CodingKeys: String, CodingKey {
            case id, name
            case bundleID = "bundle_id"
            case appAppleID = "app_apple_id"
            case teamID = "team_id"
            case packageName = "package_name"
        }
    }
}

extension Catalog {
    /// Whether reports and pages have to say which app they speak of.
    public var hasSeveralApps: Bool { apps.count > 1 }

    /// The app with our own id, if there is one.
    public func app(id: String) -> App? {
        apps.first { $0.id == id }
    }

    /// The app whose purchases in a store bear this name in their keys.
    public func app(application: String, in store: Store) -> App? {
        apps.first { $0.isNamed(application, in: store) }
    }

    /// The product that Google Play sells under this name: of those that list its product, the one with
    /// its plan, else the one without any.
    ///
    /// - Parameter application: the app's package name, as in `product(appStoreProductID:in:)`.
    func index(ofGooglePlay storeProduct: StoreProduct, in application: String?) -> Int? {
        let (id, plan) = storeProduct.googlePlayParts
        let listed = application.flatMap { app(application: $0, in: .googlePlay)?.id }
        func isSold(_ product: Product) -> Bool {
            if product.googlePlayProductID == id { return true }
            guard let ids = product.googlePlayProductIDs else { return false }
            return listed.map { ids[$0] == id } ?? ids.values.contains(id)
        }
        var any: Int?
        for index in products.indices where isSold(products[index]) {
            guard let plans = products[index].googlePlayBasePlans else {
                any = any ?? index
                continue
            }
            if let plan, plans.contains(plan) { return index }
        }
        return any
    }

    /// The product that App Store Connect knows under this id.
    ///
    /// Ids are unique within an app, so two apps may use one for different products.
    ///
    /// - Parameter application: the app's bundle id. `nil`, or one that is no longer listed: any
    ///   app's id is taken, so that nobody loses what they bought in an app that has gone.
    public func product(appStoreProductID id: String, in application: String? = nil) -> Product? {
        index(ofAppStoreProduct: id, in: application).map { products[$0] }
    }

    func index(ofAppStoreProduct id: String, in application: String?) -> Int? {
        let listed = application.flatMap { name in apps.first { $0.bundleID == name }?.id }
        for index in products.indices {
            if products[index].appStoreProductID == id { return index }
            guard let ids = products[index].appStoreProductIDs else { continue }
            let isSold = listed.map { ids[$0] == id } ?? ids.values.contains(id)
            if isSold { return index }
        }
        return nil
    }
}

extension Catalog.App {
    /// Whether purchases in a store bear this name in their keys.
    func isNamed(_ application: String, in store: Store) -> Bool {
        switch store {
        case .googlePlay: packageName == application
        case .appStore, .stripe, .tollgate: bundleID == application
        }
    }
}

extension Catalog {
    /// Everything it sells in a store.
    public var storeProducts: [StoreProduct] {
        products.flatMap { product in
            Store.allCases.flatMap { store in
                product.ids(in: store).map { StoreProduct(store, $0) }
            }
        }
    }
}

extension Catalog.Product {
    /// Every id under which a store sells it, in any app.
    func ids(in store: Store) -> [String] {
        switch store {
        case .appStore: allAppStoreProductIDs
        case .stripe: stripePriceIDs
        case .googlePlay: allGooglePlayProductIDs
        case .tollgate: []
        }
    }

    /// Every id that it has in Google Play, sorted.
    public var allGooglePlayProductIDs: [String] {
        Set((googlePlayProductIDs ?? [:]).values).union([googlePlayProductID].compactMap { $0 })
            .sorted()
    }

    /// Whether it is sold in Google Play, by any app.
    public var isInGooglePlay: Bool { googlePlayProductID != nil || googlePlayProductIDs != nil }

    /// The id in Google Play under which `app` sells it; `nil` if it does not.
    ///
    /// - Parameter app: our own id of the app; `nil` where one app is all there is.
    public func googlePlayProductID(in app: String?) -> String? {
        googlePlayProductID ?? app.flatMap { googlePlayProductIDs?[$0] }
    }

    /// The id in App Store Connect under which `app` sells it; `nil` if it does not.
    ///
    /// - Parameter app: our own id of the app; `nil` where one app is all there is.
    public func appStoreProductID(in app: String?) -> String? {
        appStoreProductID ?? app.flatMap { appStoreProductIDs?[$0] }
    }

    /// Every id that it has in App Store Connect, sorted.
    public var allAppStoreProductIDs: [String] {
        Set((appStoreProductIDs ?? [:]).values).union(appStoreProductID.map { [$0] } ?? []).sorted()
    }

    /// Whether it is sold in the App Store, by any app.
    public var isInAppStore: Bool { appStoreProductID != nil || appStoreProductIDs != nil }
}
