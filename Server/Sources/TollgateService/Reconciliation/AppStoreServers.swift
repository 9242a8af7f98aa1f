public import AppStoreAPI
public import TollgateCore

/// The ways to ask the App Store, each where it is configured.
public struct AppStoreServers: Sendable {
    /// The App Store Server API, by environment.
    public var production: AppStore.ServerAPIClient?
    public var sandbox: AppStore.ServerAPIClient?
    /// `verifyReceipt`, for those who still live on receipts.
    public var receipts: AppStore.ReceiptClient?
    /// The app's shared secret, by which notifications of version 1 are known.
    public var sharedSecret: String?

    /// Asks whether certificates were revoked, where that is wanted.
    public var revocation: AppStore.RevocationChecks?

    /// - Parameters: `nil` for what is not configured.
    public init(
        production: AppStore.ServerAPIClient? = nil,
        sandbox: AppStore.ServerAPIClient? = nil,
        receipts: AppStore.ReceiptClient? = nil,
        sharedSecret: String? = nil,
        revocation: AppStore.RevocationChecks? = nil
    ) {
        self.production = production
        self.sandbox = sandbox
        self.receipts = receipts
        self.sharedSecret = sharedSecret
        self.revocation = revocation
    }

    public subscript(environment: StoreEnvironment) -> AppStore.ServerAPIClient? {
        environment == .production ? production : sandbox
    }

    /// The environments whose App Store Server API can be asked, production first.
    public var environments: [StoreEnvironment] {
        [.production, .sandbox].filter { self[$0] != nil }
    }
}

extension StoreEnvironment {
    /// Nil for what the App Store does not sign.
    init?(_ environment: AppStore.Environment) {
        switch environment {
        case .production: self = .production
        case .sandbox: self = .sandbox
        default: return nil
        }
    }

    var ofAppStore: AppStore.Environment { self == .production ? .production : .sandbox }
}
