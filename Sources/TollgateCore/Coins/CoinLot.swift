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
    /// When its money came, where that is known to differ from `credited`.
    public var paid: Instant?

    public init(
        id: String,
        owner: HolderNames,
        credit: Int64,
        clawed: Int64,
        credited: Instant,
        paid: Instant? = nil
    ) {
        self.id = id
        self.owner = owner
        self.credit = credit
        self.clawed = clawed
        self.credited = credited
        self.paid = paid
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

extension CoinLot {
    /// `coins × quantity`, or `nil` where the quantity is nonsense: no sum of lots may overflow.
    static func coins(_ coins: Int64, times quantity: Int64) -> Int64? {
        let (credit, overflow) = coins.multipliedReportingOverflow(by: max(0, quantity))
        return overflow || credit > largestCredit ? nil : credit
    }

    /// A trillion coins: nine million such lots still fit into a balance.
    private static let largestCredit: Int64 = 1_000_000_000_000

    /// `floor(credit × part / whole)`, never more than the credit.
    static func share(_ credit: Int64, _ part: Int64, of whole: Int64) -> Int64 {
        guard whole > 0 else { return 0 }
        let bounded = max(0, min(part, whole))
        let (high, low) = credit.multipliedFullWidth(by: bounded)
        return whole.dividingFullWidth((high, low)).quotient
    }
}
