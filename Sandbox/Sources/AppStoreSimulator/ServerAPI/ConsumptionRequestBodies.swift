import Foundation

/// The current answer to a consumption request, checked as Apple checks it.
struct ConsumptionRequestV2: Decodable {
    var customerConsented: Bool?
    var deliveryStatus: String?
    var sampleContentProvided: Bool?
    var consumptionPercentage: Int?
    var refundPreference: String?

    static func check(_ json: Data, kind: SimulatedAppStore.Product.Kind) throws(APIError) {
        guard let request = try? JSONDecoder().decode(Self.self, from: json) else {
            throw .badRequest
        }
        guard request.customerConsented == true else {
            throw .customerConsented
        }
        let statuses = [
            "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
            "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
        ]
        guard let status = request.deliveryStatus, statuses.contains(status) else {
            throw .field(4_000_036, "delivery status")
        }
        guard request.sampleContentProvided != nil else {
            throw .field(4_000_041, "sample content provided")
        }
        if let preference = request.refundPreference,
            !["DECLINE", "GRANT_FULL", "GRANT_PRORATED"].contains(preference)
        {
            throw .field(4_000_044, "refund preference")
        }
        guard let percentage = request.consumptionPercentage else { return }
        guard kind != .autoRenewable else {
            throw APIError(
                4_000_209,
                "Invalid request. The consumption percentage field is not supported for auto-renewable subscription transactions."
            )
        }
        guard (0...100_000).contains(percentage), status == "DELIVERED" || percentage == 0 else {
            throw .badRequest  // Apple has codes of their own for these; their numbers are unknown.
        }
    }
}

/// The old answer to a consumption request: all fields required, numbers within their ranges.
struct ConsumptionRequestV1: Decodable {
    var customerConsented: Bool?
    var appAccountToken: String?
    var sampleContentProvided: Bool?
    var consumptionStatus: Int?
    var platform: Int?
    var deliveryStatus: Int?
    var accountTenure: Int?
    var playTime: Int?
    var lifetimeDollarsRefunded: Int?
    var lifetimeDollarsPurchased: Int?
    var userStatus: Int?
    var refundPreference: Int?

    static func check(_ json: Data) throws(APIError) {
        guard let request = try? JSONDecoder().decode(Self.self, from: json) else {
            throw .badRequest
        }
        guard request.customerConsented == true else {
            throw .customerConsented
        }
        guard let token = request.appAccountToken, token.isEmpty || UUID(uuidString: token) != nil
        else { throw .field(4_000_033, "app account token") }
        guard request.sampleContentProvided != nil else {
            throw .field(4_000_041, "sample content provided")
        }
        let ranges: [(Int?, ClosedRange<Int>, Int64, String)] = [
            (request.accountTenure, 0...7, 4_000_032, "account tenure"),
            (request.consumptionStatus, 0...3, 4_000_034, "consumption status"),
            (request.deliveryStatus, 0...5, 4_000_036, "delivery status"),
            (
                request.lifetimeDollarsPurchased, 0...7, 4_000_037, "lifetime dollars purchased"
            ),
            (request.lifetimeDollarsRefunded, 0...7, 4_000_038, "lifetime dollars refunded"),
            (request.platform, 0...2, 4_000_039, "platform"),
            (request.playTime, 0...7, 4_000_040, "play time"),
            (request.userStatus, 0...4, 4_000_042, "user status"),
            (request.refundPreference ?? 0, 0...3, 4_000_044, "refund preference"),
        ]
        for (value, range, code, name) in ranges {
            guard let value, range.contains(value) else { throw .field(code, name) }
        }
    }
}

extension APIError {
    fileprivate static let customerConsented = Self(
        4_000_035,
        "Invalid request. The customer consented field is required and must indicate the customer consented."
    )
}
