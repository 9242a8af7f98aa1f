internal import Stores
internal import TollgateAPI

/// One line of a file of purchases.
package struct PurchaseImportLine: Hashable, Sendable {
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

    /// The names of columns, and of members where lines are JSON.
    package enum Column: String, ImportColumn {
        case purchaseToken = "purchase_token"
        case orderID = "order_id"
        case productID = "product_id"
        case kind
        case appUserID = "app_user_id"
        case appAccountToken = "app_account_token"
        case packageName = "package_name"

        package static func areHeading(_ columns: [Self]) -> Bool {
            columns.contains(.purchaseToken) || columns.contains(.orderID)
        }

        package static func usual(_ count: Int) -> [Self] {
            count == 2
                ? [.purchaseToken, .appUserID] : [.purchaseToken, .productID, .kind, .appUserID]
        }
    }

    init(_ line: ImportLine<Column>) throws(ImportProblem) {
        let token = line[.purchaseToken]
        // Whoever exports both under one name means the order by this.
        let order = line[.orderID] ?? token.flatMap { $0.hasPrefix("GPA.") ? $0 : nil }
        if let token, token != order {
            guard DevicePurchases.isToken(token) else {
                throw ImportProblem(
                    "‘\(token.prefix(24))’ is no purchase token; compare the columns"
                )
            }
            subject = .token(token)
        } else if let order {
            guard Self.isOrder(order) else {
                throw ImportProblem(
                    "‘\(order.prefix(24))’ is no order id; they look like GPA.1234-…"
                )
            }
            subject = .order(order)
        } else {
            throw ImportProblem("it has neither purchase_token nor order_id; give one of them")
        }
        productID = line[.productID]
        kind = try line[.kind].map {
            word throws(ImportProblem) -> API.GooglePlayPurchaseRequest.Kind in
            guard let kind = API.GooglePlayPurchaseRequest.Kind(rawValue: word) else {
                throw ImportProblem(
                    "the kind ‘\(word.prefix(24))’ is neither subscription nor one_time"
                )
            }
            return kind
        }
        appUserID = line[.appUserID]
        appAccountToken = line[.appAccountToken]
        packageName = line[.packageName]
    }

    /// The line of an order and its buyer.
    init(order id: String, of request: API.CreateCustomerRequest) throws(ImportProblem) {
        try self.init(
            ImportLine { column in
                switch column {
                case .orderID: id
                case .appUserID: request.appUserID
                case .appAccountToken: request.appAccountToken
                case .purchaseToken, .productID, .kind, .packageName: nil
                }
            }
        )
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
}
