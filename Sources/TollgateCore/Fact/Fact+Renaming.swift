/// Puts hashes in the place of a customer's names, after their erasure.
///
/// A hash is a name as good as the one it is made from: it leads to the same row, and is equal where
/// the name was. So whose a purchase is stays what it was, and nobody can read who that is.
public struct Renaming {
    /// The hash of a name that must go, 32 hexadecimal digits; `nil`: it stays.
    private let hash: (Holder) throws -> String?

    public init(_ hash: @escaping (Holder) throws -> String?) {
        self.hash = hash
    }

    func token(_ text: String?) throws -> String? {
        try text.map { try renamed($0, [.name(ofToken: $0)]) }
    }

    func customer(_ text: String) throws -> String {
        try renamed(text, [.name(ofStripeCustomer: text)])
    }

    func reference(_ text: String) throws -> String {
        try renamed(text, Holder.names(ofReference: text))
    }

    private func renamed(_ text: String, _ names: [Holder]) throws -> String {
        for name in names {
            if let hash = try hash(name) { return Holder.erasedText(hash) }
        }
        return text
    }
}

extension Fact {
    /// The same fact without the names that must go.
    public func renamed(_ renaming: Renaming) throws -> Fact {
        var fact = self
        switch statement {
        case .period(var period):
            try period.rename(renaming)
            fact.statement = .period(period)
        case .subscription(var subscription):
            try subscription.rename(renaming)
            fact.statement = .subscription(subscription)
        case .payment(var payment):
            try payment.rename(renaming)
            fact.statement = .payment(payment)
        case .buyer(var buyer):
            try buyer.rename(renaming)
            fact.statement = .buyer(buyer)
        case .googlePlaySubscription(var subscription):
            try subscription.rename(renaming)
            fact.statement = .googlePlaySubscription(subscription)
        case .googlePlayPurchase(var purchase):
            try purchase.rename(renaming)
            fact.statement = .googlePlayPurchase(purchase)
        // Our own name for a customer leads to nobody once they are erased.
        case .claim, .assignment, .grant, .freeSubscription, .coins: break
        case .renewal, .status, .refundReversed, .invoice, .refund, .dispute, .googlePlayOrder,
            .googlePlayVoid, .googlePlayUnreadable:
            break
        }
        return fact
    }
}

extension Period {
    mutating func rename(_ renaming: Renaming) throws { token = try renaming.token(token) }
}

extension StripeSubscription {
    mutating func rename(_ renaming: Renaming) throws { customer = try renaming.customer(customer) }
}

extension StripePayment {
    mutating func rename(_ renaming: Renaming) throws {
        customer = try customer.map { try renaming.customer($0) }
        reference = try reference.map { try renaming.reference($0) }
    }
}

extension StripeBuyer {
    mutating func rename(_ renaming: Renaming) throws {
        reference = try renaming.reference(reference)
    }
}

extension GooglePlaySubscription {
    mutating func rename(_ renaming: Renaming) throws {
        account = try renaming.token(account)
        try resubscription?.rename(renaming)
    }
}

extension GooglePlaySubscription.Resubscription {
    mutating func rename(_ renaming: Renaming) throws { account = try renaming.token(account) }
}

extension GooglePlayPurchase {
    mutating func rename(_ renaming: Renaming) throws { account = try renaming.token(account) }
}

extension Newest {
    /// The same statement by the same clock, without the names that must go.
    mutating func amend(_ change: (inout Value) throws -> Void) rethrows {
        var value = value
        try change(&value)
        amend(value)
    }
}
