import StrictJSON

extension AppStore {
    /// A notification of version 1, deprecated since 2023.
    ///
    /// It is not signed, only accompanied by the app's shared secret, so nothing it says of a
    /// purchase is believed: it says whom to ask the App Store about.
    public struct VersionOneNotification: Hashable, Sendable {
        /// What happened: `DID_RENEW`.
        public let notificationType: String
        /// The app's shared secret, as the sender knows it.
        public let password: String?
        /// The app.
        public let bundleID: String?
        /// `Sandbox` or `PROD`.
        public let environment: Environment?
        /// The purchase; only auto-renewable subscriptions have it here.
        public let originalTransactionID: String?
        /// The newest transactions of the receipt that came with it.
        public let transactionIDs: [String]

        /// Reads the body of a request; nil if it is none of version 1.
        public init?(_ body: [UInt8]) {
            guard let json = try? JSON(body), json.kind == .object, json["signedPayload"] == nil,
                let type = json["notification_type"]?.string
            else { return nil }
            notificationType = type
            password = json["password"]?.string ?? json["unified_receipt"]?["password"]?.string
            bundleID = json["bid"]?.string
            environment =
                switch json["environment"]?.string?.lowercased() {
                case "prod", "production": .production
                case "sandbox": .sandbox
                default: nil
                }
            originalTransactionID = json["original_transaction_id"].flatMap(Self.identifier)
            let entries = json["unified_receipt"]?["latest_receipt_info"]
            transactionIDs =
                entries?.kind == .array
                ? entries?.elements.prefix(100).compactMap {
                    $0["transaction_id"].flatMap(Self.identifier)
                } ?? [] : []
        }

        /// A transaction to ask about.
        public var anyTransactionID: String? { originalTransactionID ?? transactionIDs.first }

        /// Some of these came as numbers.
        private static func identifier(_ json: JSON) -> String? {
            guard let text = json.string ?? json.number, (1...32).contains(text.utf8.count),
                text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            return text
        }
    }
}

extension AppStore.VersionOneNotification {
    /// The types of version 2 that say the same, as Apple's tables of events have it.
    ///
    /// The order is by likelihood; several where version 1 has one word for several things.
    public var versionTwoTypes: [AppStore.NotificationType] {
        switch notificationType {
        case "INITIAL_BUY": [.subscribed]
        case "INTERACTIVE_RENEWAL": [.subscribed, .didChangeRenewalPref, .offerRedeemed]
        case "DID_RENEW", "DID_RECOVER", "RENEWAL": [.didRenew]
        case "DID_FAIL_TO_RENEW": [.didFailToRenew]
        case "DID_CHANGE_RENEWAL_PREF": [.didChangeRenewalPref]
        case "DID_CHANGE_RENEWAL_STATUS": [.didChangeRenewalStatus, .expired]
        case "PRICE_INCREASE_CONSENT": [.priceIncrease]
        case "CANCEL", "REFUND": [.refund]
        case "REVOKE": [.revoke]
        case "CONSUMPTION_REQUEST": [.consumptionRequest]
        default: []
        }
    }
}
