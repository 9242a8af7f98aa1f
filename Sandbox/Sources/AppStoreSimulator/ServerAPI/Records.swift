extension SimulatedAppStore {
    /// What the app answered to a consumption request.
    public struct ConsumptionAnswer: Codable, Hashable, Sendable {
        public var transactionID: String
        /// UNIX milliseconds on the virtual clock.
        public var received: Int64
        /// 1 or 2, the endpoint's version.
        public var version: Int
        /// The body as it came, JSON.
        public var body: String
    }

    /// What an extension of all of a product's subscriptions came to.
    public struct ExtensionSummary: Codable, Hashable, Sendable {
        public var requestIdentifier: String
        public var succeededCount: Int
        public var failedCount: Int

        enum CodingKeys: String, CodingKey {
            case requestIdentifier = "request_identifier"
            case succeededCount = "succeeded_count"
            case failedCount = "failed_count"
        }
    }
}

/// A request to extend all subscriptions to a product.
struct MassExtension: Codable, Sendable {
    var requestIdentifier: String
    var productID: String
    var completeDate: Int64
    var succeededCount: Int
    var failedCount: Int
}
