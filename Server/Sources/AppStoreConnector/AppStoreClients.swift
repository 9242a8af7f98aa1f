public import AppStoreAPI
public import TollgateCore

/// The clients of the App Store Server API for each app, with the key that they share.
public struct AppStoreClients: Sendable {
    /// The "In-App Purchase" key of the team, which also signs offers.
    public var key: AppStore.APIKey
    /// At least one app; the first is the default.
    public var apps: [App]

    /// One app's clients, one for each environment: the key's tokens name the app.
    public struct App: Sendable {
        public var bundleID: String
        public var production: AppStore.ServerAPIClient
        public var sandbox: AppStore.ServerAPIClient

        public init(
            bundleID: String,
            production: AppStore.ServerAPIClient,
            sandbox: AppStore.ServerAPIClient
        ) {
            self.bundleID = bundleID
            self.production = production
            self.sandbox = sandbox
        }

        /// The client for purchases of this environment.
        public subscript(environment: StoreEnvironment) -> AppStore.ServerAPIClient {
            switch environment {
            case .production: production
            case .sandbox: sandbox
            }
        }
    }

    /// - Precondition: there is an app.
    public init(key: AppStore.APIKey, apps: [App]) {
        precondition(!apps.isEmpty, "the App Store is asked about an app")
        self.key = key
        self.apps = apps
    }

    /// The clients of a single app.
    public init(
        key: AppStore.APIKey,
        bundleID: String,
        production: AppStore.ServerAPIClient,
        sandbox: AppStore.ServerAPIClient
    ) {
        self.init(
            key: key,
            apps: [App(bundleID: bundleID, production: production, sandbox: sandbox)]
        )
    }

    /// The app with this bundle id; `nil` for one that is not configured.
    public func app(_ bundleID: String) -> App? {
        apps.first { $0.bundleID == bundleID }
    }

    func offers(of app: App) -> AppStore.OfferSigner {
        AppStore.OfferSigner(key: key, bundleID: app.bundleID)
    }
}
