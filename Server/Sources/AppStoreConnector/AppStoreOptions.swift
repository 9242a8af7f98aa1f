public import AppStoreAPI
internal import TollgateCore

/// The optional parts of the App Store's connector.
public struct AppStoreOptions: Sendable {
    /// The client of `verifyReceipt`, for legacy receipts.
    public var receipts: AppStore.ReceiptClient?
    /// The app's shared secret, which notifications of version 1 contain.
    public var sharedSecret: String?
    /// The online checks (OCSP) for revoked certificates; `nil`: none are made.
    public var revocation: AppStore.RevocationChecks?
    /// The client that fetches sales and finance reports.
    public var connect: AppStore.ConnectClient?
    /// Apple's expected commission.
    public var terms = AppStoreTerms()
    /// The retention messages for customers who are about to cancel; the first rule that fits applies.
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
