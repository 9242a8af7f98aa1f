import AppStoreAPI
import Foundation

/// Payloads as the store writes them; `changes` replaces members by JSON text, nil leaves one out.
enum Payloads {
    static let now: Int64 = 1_760_000_000_000
    static let bundleID = "com.example.app"
    static let appAppleID: Int64 = 1_234_567_890

    static func object(
        _ members: [(String, String)],
        _ changes: KeyValuePairs<String, String?> = [:]
    ) -> String {
        var members = members
        for (name, value) in changes {
            let index = members.firstIndex { $0.0 == name }
            switch (index, value) {
            case (let index?, let value?): members[index].1 = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
        return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    static func transaction(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        object(
            [
                ("transactionId", "\"2000000123456790\""),
                ("originalTransactionId", "\"2000000123456789\""),
                ("webOrderLineItemId", "\"2000000034567890\""),
                ("bundleId", "\"\(bundleID)\""),
                ("productId", "\"pro.monthly\""),
                ("subscriptionGroupIdentifier", "\"20912345\""),
                ("purchaseDate", "1759990000000"),
                ("originalPurchaseDate", "1757398000000"),
                ("expiresDate", "1762582000000"),
                ("quantity", "1"),
                ("type", "\"Auto-Renewable Subscription\""),
                ("appAccountToken", "\"7e3fb20b-4cdb-47cc-936d-99d65f608138\""),
                ("inAppOwnershipType", "\"PURCHASED\""),
                ("signedDate", "1759999999000"),
                ("environment", "\"Production\""),
                ("transactionReason", "\"RENEWAL\""),
                ("storefront", "\"USA\""),
                ("storefrontId", "\"143441\""),
                ("price", "9990"),
                ("currency", "\"USD\""),
                ("appTransactionId", "\"704289572311513293\""),
            ],
            changes
        )
    }

    static func renewalInfo(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        object(
            [
                ("originalTransactionId", "\"2000000123456789\""),
                ("autoRenewProductId", "\"pro.monthly\""),
                ("productId", "\"pro.monthly\""),
                ("autoRenewStatus", "1"),
                ("renewalPrice", "9990"),
                ("currency", "\"USD\""),
                ("signedDate", "1759999999000"),
                ("environment", "\"Production\""),
                ("recentSubscriptionStartDate", "1757398000000"),
                ("renewalDate", "1762582000000"),
                ("appTransactionId", "\"704289572311513293\""),
            ],
            changes
        )
    }

    static func appTransaction(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        object(
            [
                ("receiptType", "\"Production\""), ("appAppleId", "\(appAppleID)"),
                ("bundleId", "\"\(bundleID)\""), ("applicationVersion", "\"1.2.3\""),
                ("versionExternalIdentifier", "512"),
                ("receiptCreationDate", "1759999999000"),
                ("originalPurchaseDate", "1757398000000"),
                ("originalApplicationVersion", "\"1.0\""),
                ("deviceVerification", "\"B0ty41\""),
                ("deviceVerificationNonce", "\"48ccfa42-7431-4f22-9908-7e88983e105a\""),
                ("preorderDate", "1757397000000"),
                ("appTransactionId", "\"704289572311513293\""),
                ("originalPlatform", "\"iOS\""),
            ],
            changes
        )
    }

    static func realtimeRequest() -> String {
        object([
            ("originalTransactionId", "\"2000000123456789\""), ("appAppleId", "\(appAppleID)"),
            ("productId", "\"pro.monthly\""), ("userLocale", "\"en-US\""),
            ("requestIdentifier", "\"48ccfa42-7431-4f22-9908-7e88983e105a\""),
            ("environment", "\"Production\""), ("signedDate", "1759999999000"),
        ])
    }

    static func data(
        _ changes: KeyValuePairs<String, String?> = [:],
        transaction: String? = nil,
        renewalInfo: String? = nil
    ) -> String {
        var members = [
            ("environment", "\"Production\""), ("appAppleId", "\(appAppleID)"),
            ("bundleId", "\"\(bundleID)\""), ("bundleVersion", "\"42\""), ("status", "1"),
        ]
        if let transaction {
            members.append(("signedTransactionInfo", "\"\(inner(transaction))\""))
        }
        if let renewalInfo { members.append(("signedRenewalInfo", "\"\(inner(renewalInfo))\"")) }
        return object(members, changes)
    }

    /// A signed string whose own signature is never looked at.
    static func inner(_ payload: String) -> String {
        "e30.\(base64url(payload.utf8)).\(base64url([UInt8](repeating: 7, count: 64)))"
    }

    static func notification(
        _ changes: KeyValuePairs<String, String?> = [:],
        data: String? = nil
    ) -> String {
        object(
            [
                ("notificationType", "\"DID_RENEW\""), ("subtype", "\"BILLING_RECOVERY\""),
                ("notificationUUID", "\"002e14d5-51f5-4503-b5a8-c3a1af68eb20\""),
                ("data", data ?? self.data(transaction: transaction(), renewalInfo: renewalInfo())),
                ("version", "\"2.0\""), ("signedDate", "1759999999500"),
            ],
            changes
        )
    }

    static func verifier(
        _ chain: SigningChain,
        environments: Set<AppStore.Environment> = [.production],
        maximumChains: Int = 64,
        maximumNewChainsPerSecond: Int = 50
    ) throws -> AppStore.SignedDataVerifier {
        try AppStore.SignedDataVerifier(
            roots: [chain.root],
            bundleID: bundleID,
            appAppleID: appAppleID,
            environments: environments,
            maximumChains: maximumChains,
            maximumNewChainsPerSecond: maximumNewChainsPerSecond
        )
    }
}

/// Runs what should be refused and gives back the refusal.
func refusal(_ body: () throws -> Void) -> AppStore.VerificationError? {
    do {
        try body()
        return nil
    } catch {
        return error as? AppStore.VerificationError
    }
}
