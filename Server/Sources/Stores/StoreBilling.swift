internal import TollgateAPI
public import TollgateCore

/// The plans of one store that customers see and change on pages of this server.
///
/// Most stores have pages of their own for that: `StoreConnector.managementURL`.
public protocol StoreBilling: Sendable {
    var store: Store { get }
    var isSetUp: Bool { get }

    /// The newest invoices of customers, as far as the store can be asked now.
    ///
    /// - Parameter customers: by the store's ids.
    func invoices(of customers: [String]) async -> StoreInvoices

    /// A link to the store's own page for payment methods and invoices.
    ///
    /// - Parameters:
    ///   - customers: by the store's ids; the first whom the store knows.
    ///   - changesPaymentMethod: whether the page begins there.
    ///   - returnURL: where the page leads back to.
    /// - Returns: `nil` where the store knows none of them.
    /// - Throws: a refusal 503 `store_unavailable`.
    func page(
        of customers: [String],
        changingPaymentMethod changesPaymentMethod: Bool,
        returnURL: String
    ) async throws -> String?

    /// The payments for a purchase of which it is known what they bought.
    func payments(of purchase: Purchase) -> [StorePayment]

    /// The start of the period that is to be paid for, where renewing a plan failed; `nil`: it did not,
    /// or the store reminds of it.
    func unpaidPeriod(of purchase: Purchase) -> Instant?

    /// Changes a plan at the store.
    ///
    /// What the store answers is recorded at once, so that the next page shows it before any message.
    ///
    /// - Throws: refusals 402 `payment_failed`, 409 `change_not_possible`, 503 `store_unavailable`.
    func change(_ purchase: Purchase, _ change: PlanChange) async throws
}

/// What a customer may do to a plan of theirs.
public enum PlanChange: Hashable, Sendable {
    /// It ends with its period.
    case cancel
    /// It goes on after all.
    case resume
    /// To another plan of its group, at once; what was paid for is credited.
    case switchPlan(product: String)
}

/// A payment for a purchase.
public struct StorePayment: Hashable, Sendable {
    /// The store's id of what was paid.
    public var id: String
    public var at: Instant
    public var amount: Catalog.Product.Price

    /// `nil` where no money was paid.
    public init?(_ id: String, at: Instant?, _ amount: Int64, _ currency: String) {
        guard let at, amount > 0 else { return nil }
        (self.id, self.at) = (id, at)
        self.amount = Catalog.Product.Price(amount: amount, currency: currency)
    }
}

/// Invoices of one customer.
public struct StoreInvoices: Sendable {
    /// Newest first.
    public var invoices: [StoreInvoice] = []
    /// Whether the store could not be asked for all of them.
    public var isIncomplete = false

    public init() {}
}

/// One invoice of a store's, for its customer.
public struct StoreInvoice: Sendable {
    public var number: String
    public var created: Instant
    public var amount: Catalog.Product.Price
    /// `paid`, `open`, `void`, `uncollectible`.
    public var status: String
    /// The store's page of it.
    public var url: String?

    public init(
        number: String,
        created: Instant,
        amount: Catalog.Product.Price,
        status: String,
        url: String?
    ) {
        (self.number, self.created, self.amount) = (number, created, amount)
        (self.status, self.url) = (status, url)
    }
}

extension Refusal {
    /// 409: a plan can no longer be changed so.
    public static var changeNotPossible: Refusal {
        conflict(
            "change_not_possible",
            "This can no longer be changed in that way; load the page again."
        )
    }
}
