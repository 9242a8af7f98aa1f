/// Bodies of the Retention Messaging API, in Apple's spelling.
struct ImageListResponse: Encodable, Sendable {
    struct Item: Encodable, Sendable {
        var imageIdentifier: String
        var imageState: String
        var imageSize: String
    }

    var imageIdentifiers: [Item]
}

struct MessageListResponse: Encodable, Sendable {
    struct Item: Encodable, Sendable {
        var messageIdentifier: String
        var messageState: String
    }

    var messageIdentifiers: [Item]
}

/// `DefaultConfigurationRequest` and `DefaultConfigurationResponse`.
struct DefaultMessage: Codable, Sendable {
    var messageIdentifier: String?
}

/// `RealtimeUrlRequest` and `RealtimeUrlResponse`.
struct RealtimeURL: Codable, Sendable {
    var realtimeURL: String
}

struct PerformanceTestRequest: Decodable, Sendable {
    var originalTransactionId: String
}

struct PerformanceTestConfig: Encodable, Sendable {
    var maxConcurrentRequests: Int
    var totalRequests: Int
    /// In milliseconds.
    var totalDuration: Int64
    /// In milliseconds.
    var responseTimeThreshold: Int64
    /// In percent.
    var successRateThreshold: Int
}

struct PerformanceTestResponse: Encodable, Sendable {
    var config: PerformanceTestConfig
    var requestId: String
}

struct PerformanceTestResultResponse: Encodable, Sendable {
    /// In milliseconds.
    struct ResponseTimes: Encodable, Sendable {
        var average: Int64
        var p50: Int64
        var p90: Int64
        var p95: Int64
        var p99: Int64
    }

    var config: PerformanceTestConfig
    var target: String
    var result: String
    /// In percent.
    var successRate: Int
    var numPending: Int
    var responseTimes: ResponseTimes?
    var failures: [String: Int]
}

/// `DecodedRealtimeRequestBody`: what the App Store asks when a customer is about to cancel.
struct RealtimeRequestPayload: Encodable, Sendable {
    var originalTransactionId: String
    var appAppleId: Int64
    var productId: String
    var userLocale: String
    var requestIdentifier: String
    var environment: String
    var signedDate: Int64
}

/// `RealtimeResponseBody`: the app's choice, one of four.
struct RealtimeReply: Decodable, Sendable {
    struct Message: Decodable, Sendable {
        var messageIdentifier: String
    }

    struct AlternateProduct: Decodable, Sendable {
        var messageIdentifier: String
        var productId: String
        var billingPlanType: String?
    }

    struct PromotionalOffer: Decodable, Sendable {
        struct SignatureV1: Decodable, Sendable {
            var encodedSignature: String
            var productId: String
            var nonce: String
            var timestamp: Int64
            var keyId: String
            var offerIdentifier: String
            var appAccountToken: String?
        }

        var messageIdentifier: String
        var promotionalOfferSignatureV2: String?
        var promotionalOfferSignatureV1: SignatureV1?
    }

    struct AdvancedCommerceInfo: Decodable, Sendable {
        var messageIdentifier: String?
        var advancedCommerceData: String?
    }

    var message: Message?
    var alternateProduct: AlternateProduct?
    var promotionalOffer: PromotionalOffer?
    var advancedCommerceInfo: AdvancedCommerceInfo?

    /// Each of them excludes the others.
    var isOne: Bool {
        [
            message != nil, alternateProduct != nil, promotionalOffer != nil,
            advancedCommerceInfo != nil,
        ].count { $0 } == 1
    }
}
