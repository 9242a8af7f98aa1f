public import AppStoreAPI
public import TollgateCore

/// How this server speaks to the App Store: with which key, and where in each environment.
public struct AppStoreClients: Sendable {
    /// The "In-App Purchase" key, which also signs offers.
    public var key: AppStore.APIKey
    /// The app.
    public var bundleID: String
    public var production: AppStore.ServerAPIClient
    public var sandbox: AppStore.ServerAPIClient

    public init(
        key: AppStore.APIKey,
        bundleID: String,
        production: AppStore.ServerAPIClient,
        sandbox: AppStore.ServerAPIClient
    ) {
        self.key = key
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

    var offers: AppStore.OfferSigner {
        AppStore.OfferSigner(key: key, bundleID: bundleID)
    }
}
