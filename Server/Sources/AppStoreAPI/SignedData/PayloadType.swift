import StrictJSON

/// What the App Store signs with the same key, told apart by members that only one of them has.
enum PayloadType {
    case notification, transaction, renewalInfo, appTransaction, realtimeRequest, unknown

    init(of payload: JSON) {
        func has(_ name: StaticString) -> Bool { payload[name] != nil }

        if has("notificationType") || has("notificationUUID") {
            self = .notification
        } else if has("receiptType") || has("receiptCreationDate") {
            self = .appTransaction
        } else if has("requestIdentifier") || has("userLocale") {
            self = .realtimeRequest
        } else if has("transactionId") {
            self = .transaction
        } else if has("autoRenewStatus") || has("autoRenewProductId") || has("renewalDate") {
            self = .renewalInfo
        } else {
            self = .unknown
        }
    }
}
