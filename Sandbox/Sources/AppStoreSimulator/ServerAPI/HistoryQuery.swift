import Foundation
import Hummingbird

/// The filters of the transaction history; different ones are joined by "and", repeats by "or".
struct HistoryQuery: Sendable {
    /// What a page has at most.
    static let pageSize = 20

    var productIDs: [String]
    var kinds: [SimulatedAppStore.Product.Kind]
    var groups: [String]
    var startDate: Int64?
    var endDate: Int64?
    var isDescending: Bool
    var ownership: SimulatedAppStore.Transaction.Ownership?
    var isRevoked: Bool?
    var revision: Int?

    init(_ parameters: Parameters) throws(APIError) {
        productIDs = parameters.getAll("productId")
        guard !productIDs.contains("") else { throw .parameter(4_000_023, "productId") }
        groups = parameters.getAll("subscriptionGroupIdentifier")
        guard !groups.contains("") else {
            throw .parameter(4_000_024, "subscriptionGroupIdentifier")
        }
        kinds = []
        for name in parameters.getAll("productType") {
            let kind = SimulatedAppStore.Product.Kind.allCases.first { $0.filterName == name }
            guard let kind else { throw .parameter(4_000_022, "productType") }
            kinds.append(kind)
        }
        startDate = try Self.date(
            parameters,
            "startDate",
            orThrow: .init(
                4_000_015,
                "Invalid request. The start date is not a timestamp value represented in milliseconds."
            )
        )
        endDate = try Self.date(
            parameters,
            "endDate",
            orThrow: .init(
                4_000_016,
                "Invalid request. The end date is not a timestamp value represented in milliseconds."
            )
        )
        switch parameters.get("sort") {
        case nil, "ASCENDING": isDescending = false
        case "DESCENDING": isDescending = true
        default: throw .parameter(4_000_021, "sort")
        }
        if let name = parameters.get("inAppOwnershipType") {
            ownership = .init(rawValue: name)
            guard ownership != nil else { throw .parameter(4_000_026, "in-app ownership type") }
        }
        // Apple's own Python library writes "True" and "False".
        switch parameters.get("revoked")?.lowercased() {
        case nil: isRevoked = nil
        case "true": isRevoked = true
        case "false": isRevoked = false
        default: throw .parameter(4_000_030, "revoked")
        }
        switch parameters.get("excludeRevoked")?.lowercased() {
        case nil, "false": break
        case "true": isRevoked = false
        default: throw .parameter(4_000_025, "exclude revoked")
        }
        revision = try parameters.get("revision").map { text throws(APIError) in
            try Self.position(ofRevision: text)
        }
    }

    func includes(_ transaction: SimulatedAppStore.Transaction) -> Bool {
        (productIDs.isEmpty || productIDs.contains(transaction.productID))
            && (kinds.isEmpty || kinds.contains(transaction.kind))
            && (groups.isEmpty || groups.contains(transaction.subscriptionGroup ?? ""))
            && startDate.map { transaction.purchaseDate >= $0 } ?? true
            && endDate.map { transaction.purchaseDate < $0 } ?? true
            && ownership.map { transaction.ownership == $0 } ?? true
            && isRevoked.map { (transaction.revocation != nil) == $0 } ?? true
    }

    /// The opaque token that stands for having read up to `position`.
    static func revision(at position: Int) -> String {
        Data("r1:\(position)".utf8).base64URL
    }

    static func position(ofRevision text: String) throws(APIError) -> Int {
        guard let bytes = Data(base64URL: text),
            case let words = String(decoding: bytes, as: UTF8.self).split(separator: ":"),
            words.count == 2, words[0] == "r1", let position = Int(words[1])
        else { throw .invalidRevision }
        return position
    }

    private static func date(
        _ parameters: Parameters,
        _ name: String,
        orThrow error: APIError
    ) throws(APIError) -> Int64? {
        guard let text = parameters.get(name) else { return nil }
        guard let date = Int64(text), date >= 0 else { throw error }
        return date
    }
}
