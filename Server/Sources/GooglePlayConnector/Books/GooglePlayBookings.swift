internal import Reports
internal import TollgateCore

/// The lines of a report about one charge or refund, together.
protocol GooglePlayBooking: Sendable {
    var order: String { get }
    var isRefund: Bool { get }
    var day: Finance.Day { get }
    var at: Instant? { get }
    var package: String { get }
    var product: String { get }
    /// The place of its first line.
    var place: String { get }
    /// The amount to show where the booking stands alone.
    var amount: Finance.Money? { get }

    /// Returns `true` if it states the amount of the movement.
    func isAbout(_ movement: Finance.Movement) -> Bool
}

/// The lines of estimated sales of one charge or refund: those of a bundle are several.
struct GooglePlaySales: GooglePlayBooking, Hashable {
    var order: String
    var isRefund: Bool
    var day: Finance.Day
    var at: Instant?
    var package: String
    var product: String
    var place: String
    var country: String?
    /// The amount paid or refunded with tax, and the tax in it, never negative; `nil` where lines are in
    /// several currencies.
    var charged: Finance.Money?
    var tax: Finance.Money?

    var amount: Finance.Money? { charged.map { isRefund ? -$0 : $0 } }

    func isAbout(_ movement: Finance.Movement) -> Bool { charged == movement.amount }

    /// The bookings that lines make: all charges of an order are one, and so is what went back of it at
    /// one time.
    static func of(_ lines: [GooglePlayReports.Placed<GooglePlaySale>]) -> [GooglePlaySales] {
        var bookings = GooglePlayGroups<GooglePlaySales>()
        for placed in lines {
            let line = placed.line
            let isRefund = line.status == GooglePlaySale.refund
            guard isRefund || line.status == GooglePlaySale.charge else { continue }
            bookings.add(
                .init(order: line.order, refundedAt: isRefund ? (line.day, line.at) : nil)
            ) {
                GooglePlaySales(
                    order: line.order,
                    isRefund: isRefund,
                    day: line.day,
                    at: line.at,
                    package: line.package,
                    product: line.product,
                    place: placed.place,
                    country: line.country,
                    charged: line.charged,
                    tax: line.tax
                )
            } join: { booking in
                booking.charged = booking.charged.plus(line.charged)
                booking.tax = booking.tax.plus(line.tax)
            }
        }
        return bookings.all
    }
}

/// The lines of earnings of one charge or refund: what was paid, Google's fee, taxes.
struct GooglePlayEarnings: GooglePlayBooking, Hashable {
    /// The sums of the lines in the buyer's currency, signed from our side.
    struct Split: Hashable, Sendable {
        var price: Finance.Money
        var fee: Finance.Money
        var tax: Finance.Money
    }

    var order: String
    var isRefund: Bool
    var day: Finance.Day
    var at: Instant?
    var package: String
    var product: String
    var place: String
    var country: String?
    var lines: [GooglePlayEarning]

    /// The amount that Google pays for it; `nil` where lines are in several currencies.
    var earned: Finance.Money? {
        lines.dropFirst().reduce(lines.first?.earned) { $0.plus($1.earned) }
    }

    var amount: Finance.Money? { earned }

    /// `nil` where lines are in several currencies.
    var split: Split? {
        guard let currency = lines.first?.paid.currency else { return nil }
        let zero = Finance.Money.zero(currency)
        var split = Split(price: zero, fee: zero, tax: zero)
        for line in lines {
            guard line.paid.currency == currency else { return nil }
            switch line.kind {
            case "fee": split.fee = split.fee + line.paid
            case "tax": split.tax = split.tax + line.paid
            default: split.price = split.price + line.paid
            }
        }
        return split
    }

    func isAbout(_ movement: Finance.Movement) -> Bool {
        guard let price = split?.price else { return false }
        return price == movement.gross
    }

    /// The bookings that lines make; lines of no order make none.
    static func of(
        _ lines: [GooglePlayReports.Placed<GooglePlayEarning>]
    ) -> [GooglePlayEarnings] {
        var bookings = GooglePlayGroups<GooglePlayEarnings>()
        for placed in lines where !placed.line.order.isEmpty {
            let line = placed.line
            bookings.add(
                .init(order: line.order, refundedAt: line.isRefund ? (line.day, line.at) : nil)
            ) {
                GooglePlayEarnings(
                    order: line.order,
                    isRefund: line.isRefund,
                    day: line.day,
                    at: line.at,
                    package: line.package,
                    product: line.product,
                    place: placed.place,
                    country: line.country,
                    lines: [line]
                )
            } join: { booking in
                booking.lines.append(line)
            }
        }
        return bookings.all
    }
}

/// Lines gathered under what they are about, in the order in which that came first.
private struct GooglePlayGroups<Booking> {
    struct Key: Hashable {
        var order: String
        var day: Finance.Day?
        var at: Instant?

        init(order: String, refundedAt time: (day: Finance.Day, at: Instant?)?) {
            (self.order, day, at) = (order, time?.day, time?.at)
        }
    }

    private(set) var all: [Booking] = []
    private var places: [Key: Int] = [:]

    mutating func add(
        _ key: Key,
        _ make: () -> Booking,
        join: (inout Booking) -> Void
    ) {
        if let place = places[key] { return join(&all[place]) }
        places[key] = all.count
        all.append(make())
    }
}

extension Finance.Money? {
    /// The sum; `nil` for two currencies.
    fileprivate func plus(_ other: Finance.Money) -> Self {
        guard let self, self.currency == other.currency else { return nil }
        return self + other
    }
}
