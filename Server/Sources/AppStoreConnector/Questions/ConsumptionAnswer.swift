/// What became of a CONSUMPTION_REQUEST, as the journal keeps it.
struct ConsumptionAnswer: Codable, Hashable, Sendable {
    enum Outcome: String, Codable, Sendable {
        /// The App Store has taken it.
        case sent
        /// The customer did not consent, or is not known, so nothing may be said.
        case withheld
        /// The twelve hours were over.
        case late
        /// The App Store did not want it.
        case refused
    }

    var transaction: String
    var outcome: Outcome
    /// Why it was not sent.
    var reason: String?
    /// What was sent, in Apple's words.
    var deliveryStatus: String?
    var sampleContentProvided: Bool?
    /// In thousandths of a percent.
    var consumptionPercentage: Int64?
    var refundPreference: String?

    enum CodingKeys: String, CodingKey {
        case transaction, outcome, reason
        case deliveryStatus = "delivery_status"
        case sampleContentProvided = "sample_content_provided"
        case consumptionPercentage = "consumption_percentage"
        case refundPreference = "refund_preference"
    }
}
