extension AppStore.SignedDataVerifier {
    /// An app for which signed data is accepted.
    public struct App: Hashable, Sendable {
        public var bundleID: String
        /// The app's number in the store; compared in production only, where Apple sends it.
        public var appAppleID: Int64?

        public init(bundleID: String, appAppleID: Int64?) {
            self.bundleID = bundleID
            self.appAppleID = appAppleID
        }
    }

    /// A verifier for one app.
    public init(
        roots: [[UInt8]],
        bundleID: String,
        appAppleID: Int64?,
        environments: Set<AppStore.Environment>,
        xcode: AppStore.XcodeCertificates? = nil,
        maximumChains: Int = 64,
        maximumNewChainsPerSecond: Int = 50
    ) throws(ConfigurationError) {
        try self.init(
            roots: roots,
            apps: [App(bundleID: bundleID, appAppleID: appAppleID)],
            environments: environments,
            xcode: xcode,
            maximumChains: maximumChains,
            maximumNewChainsPerSecond: maximumNewChainsPerSecond
        )
    }

    /// The bundle ids of the apps, in their order.
    public var bundleIDs: [String] { apps.map(\.bundleID) }

    /// The app with this bundle id.
    public func app(bundleID: String?) throws(AppStore.VerificationError) -> App {
        if let app = apps.first(where: { $0.bundleID == bundleID }) { return app }
        guard apps.count > 1 else { throw AppStore.VerificationError(.bundle) }
        throw AppStore.VerificationError(.unlistedApp, at: bundleID.flatMap(Self.named))
    }

    /// The app with this number in the store, or one whose number is not known.
    public func app(appAppleID: Int64?) throws(AppStore.VerificationError) -> App {
        let app =
            apps.first { $0.appAppleID != nil && $0.appAppleID == appAppleID }
            ?? apps.first { $0.appAppleID == nil }
        guard let app else { throw AppStore.VerificationError(.appAppleID) }
        return app
    }

    /// A bundle id as a message may show it; `nil` for what is none.
    private static func named(_ bundleID: String) -> String? {
        let isID =
            bundleID.utf8.count <= 155
            && bundleID.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        return isID ? bundleID : nil
    }
}

extension AppStore.Notification {
    /// The bundle id of a verified notification: every part that names an app names this one.
    ///
    /// `nil` for tokens and released seats that name none.
    public var bundleID: String? {
        data?.bundleID ?? summary?.bundleID ?? appData?.bundleID ?? externalPurchaseToken?.bundleID
    }

    /// The app's ids in each part of the notification that names an app.
    var identities: [Identity] {
        var identities: [Identity] = []
        if let data { identities.append(data.identity) }
        if let summary { identities.append(summary.identity) }
        if let appData { identities.append(appData.identity) }
        if let externalPurchaseToken, !externalPurchaseToken.namesNoApp {
            identities.append(externalPurchaseToken.identity)
        }
        return identities
    }
}

extension AppStore.Notification.ExternalPurchaseToken {
    var namesNoApp: Bool { bundleID == nil && appAppleID == nil }
}
