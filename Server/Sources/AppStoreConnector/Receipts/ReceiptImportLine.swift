internal import StrictJSON
internal import TextFormats

/// One line of a file of App Store customers.
struct ReceiptImportLine: Hashable, Sendable {
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

    /// The reason for which a line names no customer.
    struct Problem: Error, Hashable {
        var reason: String
        var appUserID: String?

        init(_ reason: String, _ appUserID: String? = nil) {
            (self.reason, self.appUserID) = (reason, appUserID)
        }
    }

    /// The names of columns, and of members where lines are JSON.
    enum Column: String, CaseIterable, Sendable {
        case appUserID = "app_user_id"
        case receiptData = "receipt_data"
        case transactionID = "transaction_id"
        case appAccountToken = "app_account_token"
        case bundleID = "bundle_id"
    }

    /// The columns of a file without a heading.
    static let usual: [Column] = [.appUserID, .receiptData]

    /// The columns that a first line names; `nil` where it is no heading.
    static func columns(ofHeading bytes: [UInt8]) -> [Column]? {
        guard let fields = try? fields(of: bytes) else { return nil }
        let columns = fields.compactMap { Column(rawValue: $0) }
        let isHeading =
            columns.contains(.appUserID)
            && (columns.contains(.receiptData) || columns.contains(.transactionID))
        return isHeading && columns.count == fields.count ? columns : nil
    }

    /// Reads a line.
    ///
    /// - Returns: `nil` for an empty line.
    static func read(
        _ bytes: [UInt8],
        _ columns: [Column]
    ) throws(Problem) -> ReceiptImportLine? {
        guard bytes.contains(where: { $0 > 0x20 }) else { return nil }
        if bytes.first == UInt8(ascii: "{") {
            guard let json = try? JSON(bytes) else { throw Problem("the line is no JSON") }
            return try ReceiptImportLine { json[named: $0.rawValue]?.string }
        }
        let fields = try fields(of: bytes)
        guard fields.count == columns.count else {
            let names = columns.map(\.rawValue).joined(separator: ",")
            throw Problem("the line is not \(names)")
        }
        return try ReceiptImportLine { column in
            columns.firstIndex(of: column).map { fields[$0] }
        }
    }

    private init(_ value: (Column) -> String?) throws(Problem) {
        func text(_ column: Column) -> String? {
            value(column).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let user = text(.appUserID) else { throw Problem("the line lacks app_user_id") }
        appUserID = user
        appAccountToken = text(.appAccountToken)
        bundleID = text(.bundleID)
        if let id = text(.transactionID) {
            guard Self.isTransactionID(id) else {
                throw Problem("‘\(id.prefix(24))’ is no transaction id; they are digits", user)
            }
            subject = .transaction(id)
        } else if let receipt = text(.receiptData) {
            guard !Self.isTransactionID(receipt) else {
                throw Problem(
                    "‘\(receipt)’ is a transaction id and no receipt; begin the file with the line app_user_id,transaction_id",
                    user
                )
            }
            subject = .receipt(receipt)
        } else {
            throw Problem("the line lacks receipt_data or transaction_id")
        }
    }

    /// Returns whether a text can be an id of the App Store's: it becomes part of an address.
    static func isTransactionID(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The fields of a line of CSV.
    private static func fields(of bytes: [UInt8]) throws(Problem) -> [String] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Problem("the line is no UTF-8")
        }
        var line = SeparatedValues(bytes)
        let fields = line.next() ?? []
        guard !line.isUnclosed else { throw Problem("a quote is opened and not closed") }
        guard line.next() == nil else {
            throw Problem("it has a line end within (CR); save the file with line ends LF or CRLF")
        }
        return fields
    }
}
