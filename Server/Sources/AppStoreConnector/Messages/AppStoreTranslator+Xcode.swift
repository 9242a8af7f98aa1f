internal import AppStoreAPI
internal import Stores
internal import TollgateCore

extension AppStoreTranslator {
    /// The facts of a verified transaction that a device presents: the App Store's or, on a test server,
    /// that of StoreKit testing in Xcode.
    static func message(presented transaction: AppStore.Transaction) -> Translation.Meaning {
        guard transaction.environment == .xcode else { return message(transaction) }
        guard let id = transaction.transactionID,
            let original = transaction.originalTransactionID,
            let first = transaction.originalPurchaseDate
        else {
            return .parked(
                reason: "a transaction of Xcode without its ids or the date of its first purchase"
            )
        }
        return message(
            transaction,
            named: Names(
                environment: .sandbox,
                original: name(ofXcode: original, since: first),
                transaction: name(ofXcode: id, since: first),
                // Xcode documents no id that two transactions of one period share.
                period: nil,
                previous: nil
            ),
            source: nil
        )
    }

    /// `xcode-0-1697679936049`: Xcode counts from 0 again after its transactions were deleted, on each
    /// device, so the first purchase's date keeps purchases apart (RULES §1).
    private static func name(ofXcode id: String, since first: Int64) -> String {
        "\(Purchase.Key.xcodePrefix)\(id)-\(first)"
    }
}
