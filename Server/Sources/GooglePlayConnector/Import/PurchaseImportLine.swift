internal import Foundation
internal import StrictJSON
internal import TextFormats
internal import TollgateAPI

/// One line of a file of purchases.
struct PurchaseImportLine: Hashable, Sendable {
    /// The id by which Google finds the purchase.
    enum Subject: Hashable, Sendable {
        case token(String)
        case order(String)
    }

    var subject: Subject
    var productID: String?
    /// `nil`: it is found out by reading.
    var kind: API.GooglePlayPurchaseRequest.Kind?
    /// The owner; `nil`: the customer whose account id the purchase bears.
    var appUserID: String?
    var appAccountToken: String?
    var packageName: String?

    /// The reason for which a line is no purchase, with what to do.
    struct Problem: Error, Hashable {
        var reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// The names of columns, and of members where lines are JSON.
    enum Column: String, CaseIterable, Sendable {
        case purchaseToken = "purchase_token"
        case orderID = "order_id"
        case productID = "product_id"
        case kind
        case appUserID = "app_user_id"
        case appAccountToken = "app_account_token"
        case packageName = "package_name"
    }

    /// The columns that a first line names; `nil` where it is no heading.
    static func columns(ofHeading bytes: [UInt8]) -> [Column]? {
        guard bytes.first != UInt8(ascii: "{"), let fields = try? fields(of: bytes) else {
            return nil
        }
        let columns = fields.compactMap { field in
            Column(rawValue: field.trimmingCharacters(in: .whitespaces).lowercased())
        }
        let isHeading = columns.contains(.purchaseToken) || columns.contains(.orderID)
        return isHeading && columns.count == fields.count ? columns : nil
    }

    /// Reads a line.
    ///
    /// - Parameter columns: those that the heading names; `nil` where there is none.
    /// - Returns: `nil` for an empty line.
    static func read(
        _ bytes: [UInt8],
        _ columns: [Column]?
    ) throws(Problem) -> PurchaseImportLine? {
        guard bytes.contains(where: { $0 > 0x20 }) else { return nil }
        if bytes.first == UInt8(ascii: "{") {
            guard let json = try? JSON(bytes) else {
                throw Problem("this is no JSON; write one object a line")
            }
            return try PurchaseImportLine { json[named: $0.rawValue]?.string }
        }
        let fields = try fields(of: bytes)
        let usual: [Column] =
            fields.count == 2
            ? [.purchaseToken, .appUserID] : [.purchaseToken, .productID, .kind, .appUserID]
        let columns = columns ?? usual
        guard fields.count == columns.count else {
            throw Problem(
                "it has \(fields.count) fields and not \(columns.count); write "
                    + columns.map(\.rawValue).joined(separator: ",")
            )
        }
        return try PurchaseImportLine { column in
            columns.firstIndex(of: column).map { fields[$0] }
        }
    }

    private init(_ value: (Column) -> String?) throws(Problem) {
        func text(_ column: Column) -> String? {
            let text = value(column)?.trimmingCharacters(in: .whitespaces)
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
        let token = text(.purchaseToken)
        // Whoever exports both under one name means the order by this.
        let order = text(.orderID) ?? token.flatMap { $0.hasPrefix("GPA.") ? $0 : nil }
        if let token, token != order {
            guard DevicePurchases.isToken(token) else {
                throw Problem("‘\(token.prefix(24))’ is no purchase token; compare the columns")
            }
            subject = .token(token)
        } else if let order {
            guard Self.isOrder(order) else {
                throw Problem("‘\(order.prefix(24))’ is no order id; they look like GPA.1234-…")
            }
            subject = .order(order)
        } else {
            throw Problem("it has neither purchase_token nor order_id; give one of them")
        }
        productID = text(.productID)
        kind = try text(.kind).map { word throws(Problem) -> API.GooglePlayPurchaseRequest.Kind in
            guard let kind = API.GooglePlayPurchaseRequest.Kind(rawValue: word) else {
                throw Problem("the kind ‘\(word.prefix(24))’ is neither subscription nor one_time")
            }
            return kind
        }
        appUserID = text(.appUserID)
        appAccountToken = text(.appAccountToken)
        packageName = text(.packageName)
    }

    /// The line of an order and its buyer.
    init(order id: String, of request: API.CreateCustomerRequest) throws(Problem) {
        try self.init { column in
            switch column {
            case .orderID: id
            case .appUserID: request.appUserID
            case .appAccountToken: request.appAccountToken
            case .purchaseToken, .productID, .kind, .packageName: nil
            }
        }
    }

    /// Google's order ids: `GPA.3345-1234-5678-90123..0`.
    static func isOrder(_ text: String) -> Bool {
        text.hasPrefix("GPA.") && text.utf8.count <= 100
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The fields of a line of CSV (RFC 4180).
    private static func fields(of bytes: [UInt8]) throws(Problem) -> [String] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Problem("this is no UTF-8; save the file as UTF-8")
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
