/// Coins that one paid thing brought: a credit and the share of it that was taken back since.
///
/// Both are functions of the purchase's record, so a lot is a fact, not an event (RULES §6).
public struct CoinLot: Hashable, Codable, Sendable {
    /// The period or payment it came from; unique within its purchase.
    public var id: String
    public var owner: HolderNames
    public var credit: Int64
    public var clawed: Int64
    public var credited: Instant

    public init(
        id: String,
        owner: HolderNames,
        credit: Int64,
        clawed: Int64,
        credited: Instant
    ) {
        self.id = id
        self.owner = owner
        self.credit = credit
        self.clawed = clawed
        self.credited = credited
    }

    /// What of it counts.
    public var remainder: Int64 { credit - clawed }
}

extension Holder: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let holder = Holder(canonical: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not a holder"
            )
        }
        self = holder
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(canonical)
    }

    /// Reads what `canonical` wrote; `nil` for anything else.
    public init?(canonical text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let name = String(parts[1])
        switch parts[0] {
        case "customer": self = .customer(Customer.ID(name))
        case "token": self = .token(name)
        case "stripe": self = .stripeCustomer(name)
        case "reference": self = .reference(name)
        case "app_user": self = .appUser(name)
        case "erased": self = .erased(name)
        case "unclaimed":
            guard let key = Purchase.Key(canonical: name) else { return nil }
            self = .unclaimed(key)
        default: return nil
        }
    }
}
