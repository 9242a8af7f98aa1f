internal import TollgateCore

extension Finance {
    /// The movements of money that sales tell: one for all lines that were paid, or given back,
    /// together, such as those of an invoice, and of any other sale its own.
    public static func movements(of sales: some Sequence<Reports.Sale>) -> [Movement] {
        var list = MovementList()
        for sale in sales { list.add(sale) }
        return list.movements
    }

    /// The same for sales that come one after the other, so that they need not all be held.
    public struct MovementList: Sendable {
        public private(set) var movements: [Movement] = []
        /// Where the movement of each payment of several lines is among them.
        private var places: [String: Int] = [:]

        public init() {}

        public mutating func add(_ sale: Reports.Sale) {
            let movement = Movement(sale)
            guard sale.payment != nil else { return movements.append(movement) }
            let key = "\(sale.environment.rawValue) \(movement.kind.rawValue) \(movement.id)"
            guard let place = places[key] else {
                places[key] = movements.count
                return movements.append(movement)
            }
            movements[place].add(movement)
        }
    }
}

extension Finance.Movement {
    init(_ sale: Reports.Sale) {
        let payment = sale.payment ?? sale.transaction
        self.init(
            store: sale.store,
            environment: sale.environment,
            kind: Kind(sale.kind),
            id: sale.refund ?? payment,
            payment: payment,
            product: sale.storeProduct,
            at: sale.at,
            quantity: sale.quantity,
            amount: Finance.Money(milliunits: sale.amount, currency: sale.currency),
            isFamilyShared: sale.isFamilyShared,
            isOffer: sale.offer != .none,
            isAfterOneYear: sale.isAfterOneYear,
            customer: sale.customer.isEmpty ? nil : sale.customer,
            country: sale.country.isEmpty ? nil : sale.country,
            app: sale.app
        )
        tax = sale.tax.map { Finance.Money(milliunits: $0, currency: sale.currency) }
        proceeds = sale.proceeds.map { Finance.Money(milliunits: $0, currency: sale.currency) }
    }

    /// Takes in another line of the same payment.
    fileprivate mutating func add(_ other: Finance.Movement) {
        guard other.amount.currency == amount.currency else { return }
        amount = amount + other.amount
        tax = tax.flatMap { tax in other.tax.map { tax + $0 } }
        proceeds = proceeds.flatMap { proceeds in other.proceeds.map { proceeds + $0 } }
        quantity = 1
        if product != other.product { product += "," + other.product }
    }
}

extension Finance.Movement.Kind {
    init(_ kind: Reports.Sale.Kind) {
        switch kind {
        case .charge: self = .charge
        case .refund: self = .refund
        case .chargeback: self = .dispute
        }
    }
}
