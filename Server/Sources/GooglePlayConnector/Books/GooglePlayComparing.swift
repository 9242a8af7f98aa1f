internal import Reports
internal import TollgateCore

/// Compares what is paired: amounts, taxes, fees, rates of exchange, days.
struct GooglePlayComparing {
    private let terms: GooglePlayTerms
    private(set) var differences: [Finance.Difference] = []

    init(_ terms: GooglePlayTerms) { self.terms = terms }

    /// The highest tax that a price may have in it, in hundredths of a percent of the price without it.
    private static let highestTax: Int64 = 3_000

    // MARK: - Estimated sales

    mutating func compare(_ movement: Finance.Movement, with booking: GooglePlaySales) {
        let source = GooglePlayReports.sales
        if booking.charged.map({ !$0.isAbout(movement.amount) }) ?? true {
            let said = booking.charged.map { "\($0) there" } ?? "several currencies there"
            differ(
                .amountDiffers,
                movement,
                booking,
                source,
                movement.gross,
                booking.amount,
                "\(movement.amount) here, \(said)"
            )
        }
        compareDay(movement, booking, source)
    }

    // MARK: - Earnings

    /// - Parameter tax: the tax that the estimated sales name; `nil`: unknown.
    mutating func compare(
        _ movement: Finance.Movement,
        with booking: GooglePlayEarnings,
        taxed tax: Finance.Money?
    ) {
        let source = GooglePlayReports.earnings
        compareDay(movement, booking, source)
        guard let split = booking.split, let earned = booking.earned,
            split.price.currency == movement.gross.currency
        else {
            return differ(
                .amountDiffers,
                movement,
                booking,
                source,
                movement.gross,
                booking.lines.first?.paid,
                "in another currency, or in several"
            )
        }
        comparePrice(movement, booking, split, taxed: tax)
        compareFee(movement, booking, split)
        compareExchange(movement, booking, split, earned)
    }

    /// The charge is the price with tax or without it; tax that Google has taken out is a line of its own.
    private mutating func comparePrice(
        _ movement: Finance.Movement,
        _ booking: GooglePlayEarnings,
        _ split: GooglePlayEarnings.Split,
        taxed tax: Finance.Money?
    ) {
        let (source, gross) = (GooglePlayReports.earnings, movement.gross)
        let deducted = gross - split.price - split.tax
        if let tax, tax.currency == gross.currency {
            let expected = movement.kind == .charge ? tax : -tax
            guard !deducted.isAbout(expected) else { return }
            return differ(
                .amountDiffers,
                movement,
                booking,
                source,
                gross - expected,
                split.price + split.tax,
                "\(gross - expected) without tax here, \(split.price + split.tax) there"
            )
        }
        guard !deducted.isZero else { return }
        let isTax =
            (deducted.millionths < 0) == (gross.millionths < 0)
            && deducted.millionths.magnitude
                <= gross.scaled(by: Finance.Ratio(Self.highestTax, over: 10_000 + Self.highestTax))
                .millionths.magnitude
        differ(
            isTax ? .tax : .amountDiffers,
            movement,
            booking,
            source,
            gross,
            split.price + split.tax,
            isTax
                ? "\(deducted) of tax are not paid out" : "\(gross) here, \(split.price) there"
        )
    }

    private mutating func compareFee(
        _ movement: Finance.Movement,
        _ booking: GooglePlayEarnings,
        _ split: GooglePlayEarnings.Split
    ) {
        let expected = terms.fee(of: split.price + split.tax)
        let fee = -split.fee
        guard !fee.isAbout(expected) else { return }
        differ(
            .commissionRate,
            movement,
            booking,
            GooglePlayReports.earnings,
            expected,
            fee,
            movement.kind == .charge
                ? "a fee of \(fee) where \(expected) was expected"
                : "\(split.fee) of the fee came back where \(-expected) was expected"
        )
    }

    private mutating func compareExchange(
        _ movement: Finance.Movement,
        _ booking: GooglePlayEarnings,
        _ split: GooglePlayEarnings.Split,
        _ earned: Finance.Money
    ) {
        let paid = split.price + split.fee + split.tax
        guard paid.currency != earned.currency else {
            guard !paid.isAbout(earned) else { return }
            return differ(
                .amountDiffers,
                movement,
                booking,
                GooglePlayReports.earnings,
                paid,
                earned,
                "its lines sum to \(paid) for the buyer and to \(earned) for us"
            )
        }
        let wrong = booking.lines.first { line in
            guard let rate = line.rate.flatMap({ Finance.Ratio(decimal: $0) }) else { return false }
            let converted = Finance.Money(
                millionths: line.paid.scaled(by: rate).millionths,
                currency: earned.currency
            )
            return !converted.isAbout(line.earned)
        }
        if let wrong {
            return differ(
                .amountDiffers,
                movement,
                booking,
                GooglePlayReports.earnings,
                wrong.paid,
                wrong.earned,
                "\(wrong.type): \(wrong.paid) at the rate of \(wrong.rate ?? "") is not \(wrong.earned)"
            )
        }
        differ(
            .exchangeRate,
            movement,
            booking,
            GooglePlayReports.earnings,
            paid,
            earned,
            booking.lines.first?.rate.map { "converted at \($0)" }
                ?? "converted at a rate that is not said"
        )
    }

    // MARK: - Both

    private mutating func compareDay(
        _ movement: Finance.Movement,
        _ booking: some GooglePlayBooking,
        _ source: String
    ) {
        let days = [movement.day, Finance.Day(pacific: movement.at)]
        guard days.allSatisfy({ abs($0.number - booking.day.number) > 1 }) else { return }
        let isCharge = movement.kind == .charge
        differ(
            isCharge ? .settlementDate : .refundTiming,
            movement,
            booking,
            source,
            movement.gross,
            booking.amount,
            "\(isCharge ? "sold" : "granted") on \(movement.day), booked on \(booking.day)"
        )
    }

    private mutating func differ(
        _ reason: Finance.Reason,
        _ movement: Finance.Movement,
        _ booking: some GooglePlayBooking,
        _ source: String,
        _ expected: Finance.Money,
        _ reported: Finance.Money?,
        _ detail: String
    ) {
        differences.append(
            Finance.Difference(
                reason,
                store: .googlePlay,
                source: source,
                product: movement.product,
                movement: movement,
                line: booking.place,
                reportedDay: booking.day,
                units: movement.quantity,
                expected: expected,
                reported: reported,
                detail: detail
            )
        )
    }

    // MARK: - Lines of no order

    /// Lines of which no order tells, such as a tax of the whole month, and words that are not known.
    mutating func note(
        unmatched earnings: [GooglePlayReports.Placed<GooglePlayEarning>],
        _ sales: [GooglePlayReports.Placed<GooglePlaySale>],
        packages: Set<String>?
    ) {
        for placed in earnings where placed.line.order.isEmpty {
            let line = placed.line
            let reason: Finance.Reason =
                switch line.kind {
                case "fee": .commissionRate
                case "tax": .tax
                default: .lateCorrection
                }
            differences.append(
                Finance.Difference(
                    reason,
                    store: .googlePlay,
                    source: GooglePlayReports.earnings,
                    product: line.product,
                    line: placed.place,
                    reportedDay: line.day,
                    units: 1,
                    reported: line.earned,
                    detail: "‘\(line.type)’, which belongs to no order"
                )
            )
        }
        for placed in sales
        where ![GooglePlaySale.charge, GooglePlaySale.refund].contains(placed.line.status)
            && !placed.line.product.isEmpty && packages?.contains(placed.line.package) ?? true
        {
            differences.append(
                Finance.Difference(
                    .missingHere,
                    store: .googlePlay,
                    source: GooglePlayReports.sales,
                    product: placed.line.product,
                    line: placed.place,
                    reportedDay: placed.line.day,
                    units: 1,
                    reported: placed.line.charged,
                    detail:
                        "‘\(placed.line.status)’, which says neither charged nor refunded, of the order \(placed.line.order)"
                )
            )
        }
    }
}
