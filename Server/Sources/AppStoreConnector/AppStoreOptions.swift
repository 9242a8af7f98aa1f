public import AppStoreAPI
internal import TollgateCore

/// The optional parts of the App Store's connector.
public struct AppStoreOptions: Sendable {
    /// `verifyReceipt`, for those who still live on receipts.
    public var receipts: AppStore.ReceiptClient?
    /// The app's shared secret, by which notifications of version 1 are known.
    public var sharedSecret: String?
    /// Asks whether certificates were revoked, where that is wanted.
    public var revocation: AppStore.RevocationChecks?
    /// Where sales and finance reports come from.
    public var connect: AppStore.ConnectClient?
    /// What the App Store is expected to keep.
    public var terms = AppStoreTerms()
    /// What customers are shown who are about to cancel; the first that fits counts.
    public var retentionRules: [RetentionRule] = []
    /// Whether the answers of one page are journalled one after the other instead of sharing commits:
    /// slower, but a simulation that runs again from its seed does the same again.
    public var journalsInTurn = false

    /// - Parameters: `nil` for what is not configured.
    public init(
        receipts: AppStore.ReceiptClient? = nil,
        sharedSecret: String? = nil,
        revocation: AppStore.RevocationChecks? = nil,
        connect: AppStore.ConnectClient? = nil
    ) {
        self.receipts = receipts
        self.sharedSecret = sharedSecret
        self.revocation = revocation
        self.connect = connect
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
