internal import Stores

/// One line of a file of App Store customers.
package struct ReceiptImportLine: Hashable, Sendable {
    /// What leads to the customer's purchases.
    enum Subject: Hashable, Sendable {
        /// A legacy receipt, in Base64.
        case receipt(String)
        /// Any transaction of theirs.
        case transaction(String)
    }

    var appUserID: String
    var appAccountToken: String?
    /// The app, where several are set up; `nil` asks each.
    var bundleID: String?
    var subject: Subject

    /// The names of columns, and of members where lines are JSON.
    package enum Column: String, ImportColumn {
        case appUserID = "app_user_id"
        case receiptData = "receipt_data"
        case transactionID = "transaction_id"
        case appAccountToken = "app_account_token"
        case bundleID = "bundle_id"

        package static func areHeading(_ columns: [Self]) -> Bool {
            columns.contains(.appUserID)
                && (columns.contains(.receiptData) || columns.contains(.transactionID))
        }

        package static func usual(_ count: Int) -> [Self] { [.appUserID, .receiptData] }
    }

    init(_ line: ImportLine<Column>) throws(ImportProblem) {
        guard let user = line[.appUserID] else { throw ImportProblem("the line lacks app_user_id") }
        appUserID = user
        appAccountToken = line[.appAccountToken]
        bundleID = line[.bundleID]
        if let id = line[.transactionID] {
            guard Self.isTransactionID(id) else {
                throw ImportProblem(
                    "‘\(id.prefix(24))’ is no transaction id; they are digits",
                    user
                )
            }
            subject = .transaction(id)
        } else if let receipt = line[.receiptData] {
            guard !Self.isTransactionID(receipt) else {
                throw ImportProblem(
                    "‘\(receipt)’ is a transaction id and no receipt; begin the file with the line app_user_id,transaction_id",
                    user
                )
            }
            subject = .receipt(receipt)
        } else {
            throw ImportProblem("the line lacks receipt_data or transaction_id")
        }
    }

    /// Returns whether a text can be an id of the App Store's: it becomes part of an address.
    static func isTransactionID(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
