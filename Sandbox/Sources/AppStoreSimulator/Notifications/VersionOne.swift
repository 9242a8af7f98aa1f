import Foundation

/// Version 1 notifications, deprecated in 2023 and never signed.
struct VersionOne {
    let world: World
    let signer: StoreSigner

    /// Version 1's name for a version 2 type, as far as it has one.
    private static func type(_ announcement: Announcement) -> String? {
        switch (announcement.type, announcement.subtype) {
        case ("SUBSCRIBED", "INITIAL_BUY"): "INITIAL_BUY"
        case ("SUBSCRIBED", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("OFFER_REDEEMED", _):
            "INTERACTIVE_RENEWAL"
        case ("DID_RENEW", "BILLING_RECOVERY"): "DID_RECOVER"
        case ("DID_RENEW", _): "DID_RENEW"
        case ("DID_FAIL_TO_RENEW", _): "DID_FAIL_TO_RENEW"
        case ("DID_CHANGE_RENEWAL_PREF", _): "DID_CHANGE_RENEWAL_PREF"
        case ("DID_CHANGE_RENEWAL_STATUS", _): "DID_CHANGE_RENEWAL_STATUS"
        case ("PRICE_INCREASE", _): "PRICE_INCREASE_CONSENT"
        case ("REFUND", _): announcement.subscription == nil ? "REFUND" : "CANCEL"
        case ("REVOKE", _): "REVOKE"
        case ("CONSUMPTION_REQUEST", _): "CONSUMPTION_REQUEST"
        default: nil
        }
    }

    /// The JSON body of a version 1 notification; `nil` when it has no name for it.
    func body(_ announcement: Announcement, at now: Int64) -> String? {
        guard let type = Self.type(announcement),
            let customer = announcement.transaction.flatMap({ world.customers[$0.customer] })
        else { return nil }
        let legacy = LegacyReceipt(world: world)
        let name = signer.environment == .sandbox ? "Sandbox" : "PROD"
        let latest = try? AppReceipt.sign(customer, in: world, created: now, by: signer.authority)
        var body: [String: LegacyJSON] = [
            "notification_type": .string(type), "password": .string(world.sharedSecret),
            "environment": .string(name), "bid": .string(world.bundleID), "bvrs": .string("1"),
            "unified_receipt": .object([
                "environment": .string(signer.environment.rawValue), "status": .number(0),
                "latest_receipt": .string(latest?.base64EncodedString() ?? ""),
                "latest_receipt_info": .list(
                    legacy.latestReceiptInfo(customer.id).prefix(100).map(LegacyJSON.strings)
                ),
                "pending_renewal_info": .list(
                    legacy.pendingRenewalInfo(customer.id).map(LegacyJSON.strings)
                ),
            ]),
        ]
        if let subscription = announcement.subscription {
            body["original_transaction_id"] = .string(subscription.originalTransactionID)
            body["auto_renew_status"] = .string(subscription.autoRenews ? "true" : "false")
            body["auto_renew_product_id"] = .string(subscription.nextProductID)
            if let intent = subscription.expirationIntent, subscription.state != .active {
                body["expiration_intent"] = .string(String(intent))
            }
            if type == "DID_CHANGE_RENEWAL_STATUS" {
                body.merge(
                    LegacyDate.entries("auto_renew_status_change_date", now)
                        .mapValues(LegacyJSON.string)
                ) { $1 }
            }
        }
        return (try? PayloadSigner.encoder.encode(LegacyJSON.object(body)))
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
