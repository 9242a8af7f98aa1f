extension Fact {
    /// The statement's kind: `period`, `renewal`, `subscription` and so on.
    public var kind: String {
        switch statement {
        case .period: "period"
        case .renewal: "renewal"
        case .status: "status"
        case .refundReversed: "refund_reversed"
        case .subscription: "subscription"
        case .payment: "payment"
        case .invoice: "invoice"
        case .refund: "refund"
        case .dispute: "dispute"
        case .buyer: "buyer"
        case .googlePlaySubscription: "google_play_subscription"
        case .googlePlayPurchase: "google_play_purchase"
        case .googlePlayOrder: "google_play_order"
        case .googlePlayVoid: "google_play_void"
        case .googlePlayUnreadable: "google_play_unreadable"
        case .claim: "claim"
        case .assignment: "assignment"
        case .grant: "grant"
        case .freeSubscription: "free_subscription"
        case .coins: "coins"
        }
    }

    /// The statement as a sentence for people, in the words of `Explanation`.
    public var sentence: Sentence {
        switch statement {
        case .invoice(let invoice):
            return invoice.isPaid
                ? "invoice \(invoice.id) is paid" : "invoice \(invoice.id) is not paid"
        case .buyer(let buyer): return "bought by \(buyer.reference)"
        case .claim(let claim): return "\(claim.mode.rawValue, of: "claim") by \(claim.customer)"
        case .assignment(let assignment): return "assigned to \(assignment.customer) by staff"
        default: break
        }
        // On its own, so that what is said of it is what it said.
        return Purchase(key: purchase, joining: [self])
            .lines(nil, at: stated.instant).first?.sentence ?? Sentence(quoting: kind)
    }

    /// The sentence in English.
    public var summary: String { sentence.text }
}
