extension AppStore {
    /// The kinds of offers: 1 is introductory, 2 promotional, 3 an offer code, 4 win-back.
    public struct OfferType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
    }
}

extension AppStore {
    /// How an offer is paid.
    public struct OfferDiscountType: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
