extension Catalog {
    /// One of several apps that a team sells to the same customers.
    public struct App: Codable, Hashable, Sendable {
        /// Our own id, such as `reader`; never changes.
        public var id: String
        /// What people read.
        public var name: String
        /// The bundle id in the App Store: `com.example.reader`.
        public var bundleID: String
        /// The number in the App Store; needed where production is served.
        public var appAppleID: Int64?
        /// The team that signs the app; needed for universal links.
        public var teamID: String?
        /// The package name in Google Play; nil if it is not there.
        public var packageName: String?

        public init(
            id: String,
            name: String,
            bundleID: String,
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

    /// The app whose purchases bear this name in their keys: a bundle id, or a package name.
    public func app(application: String) -> App? {
        apps.first { $0.isNamed(application) }
    }

    /// The product that Google Play sells under this name: of those that list its product, the one with
    /// its plan, else the one without any.
    func index(ofGooglePlay storeProduct: StoreProduct) -> Int? {
        let (product, plan) = storeProduct.googlePlayParts
        let candidates = products.indices.filter { products[$0].googlePlayProductID == product }
        return candidates.first { plan != nil && products[$0].googlePlayBasePlanID == plan }
            ?? candidates.first { products[$0].googlePlayBasePlanID == nil }
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
    /// Whether purchases bear this name in their keys.
    func isNamed(_ application: String) -> Bool {
        bundleID == application || packageName == application
    }
}

extension Catalog.Product {
    /// The name under which Google Play sells it.
    public var googlePlayProduct: StoreProduct? {
        googlePlayProductID.map { StoreProduct(googlePlay: $0, plan: googlePlayBasePlanID) }
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
