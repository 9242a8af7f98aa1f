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
        var findings: [Finance.Finding?] = []
        if booking.charged.map({ !$0.isAbout(movement.amount) }) ?? true {
            let detail =
                booking.charged.map { "\(movement.amount) here, \($0) there" }
                ?? "\(movement.amount) here, several currencies there"
            findings.append(.init(.amountDiffers, detail, movement.gross, booking.amount))
        }
        findings.append(day(of: movement, booking))
        differ(findings, movement, booking, GooglePlayReports.sales)
    }

    // MARK: - Earnings

    /// - Parameter tax: the tax that the estimated sales name; `nil`: unknown.
    mutating func compare(
        _ movement: Finance.Movement,
        with booking: GooglePlayEarnings,
        taxed tax: Finance.Money?
    ) {
        var findings = [day(of: movement, booking)]
        if let split = booking.split, let earned = booking.earned,
            split.price.currency == movement.gross.currency
        {
            findings += [
                price(of: movement, split, taxed: tax), fee(of: movement, split),
                exchange(of: booking, split, earned),
            ]
        } else {
            let detail = "in another currency, or in several"
            let paid = booking.lines.first?.paid
            findings.append(.init(.amountDiffers, detail, movement.gross, paid))
        }
        differ(findings, movement, booking, GooglePlayReports.earnings)
    }

    /// The charge is the price with tax or without it; tax that Google has taken out is a line of its own.
    private func price(
        of movement: Finance.Movement,
        _ split: GooglePlayEarnings.Split,
        taxed tax: Finance.Money?
    ) -> Finance.Finding? {
        let (gross, told) = (movement.gross, split.price + split.tax)
        let deducted = gross - split.price - split.tax
        if let tax, tax.currency == gross.currency {
            let expected = movement.kind == .charge ? tax : -tax
            guard !deducted.isAbout(expected) else { return nil }
            let detail = "\(gross - expected) without tax here, \(told) there"
            return .init(.amountDiffers, detail, gross - expected, told)
        }
        guard !deducted.isZero else { return nil }
        let isTax =
            (deducted.millionths < 0) == (gross.millionths < 0)
            && deducted.millionths.magnitude
                <= gross.scaled(by: Finance.Ratio(Self.highestTax, over: 10_000 + Self.highestTax))
                .millionths.magnitude
        let detail =
            isTax ? "\(deducted) of tax are not paid out" : "\(gross) here, \(split.price) there"
        return .init(isTax ? .tax : .amountDiffers, detail, gross, told)
    }

    private func fee(
        of movement: Finance.Movement,
        _ split: GooglePlayEarnings.Split
    ) -> Finance.Finding? {
        let expected = terms.fee(of: split.price + split.tax)
        let fee = -split.fee
        guard !fee.isAbout(expected) else { return nil }
        let detail =
            movement.kind == .charge
            ? "a fee of \(fee) where \(expected) was expected"
            : "\(split.fee) of the fee came back where \(-expected) was expected"
        return .init(.commissionRate, detail, expected, fee)
    }

    private func exchange(
        of booking: GooglePlayEarnings,
        _ split: GooglePlayEarnings.Split,
        _ earned: Finance.Money
    ) -> Finance.Finding? {
        let paid = split.price + split.fee + split.tax
        guard paid.currency != earned.currency else {
            guard !paid.isAbout(earned) else { return nil }
            let detail = "its lines sum to \(paid) for the buyer and to \(earned) for us"
            return .init(.amountDiffers, detail, paid, earned)
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
            let detail =
                "\(wrong.type): \(wrong.paid) at the rate of \(wrong.rate ?? "") is not \(wrong.earned)"
            return .init(.amountDiffers, detail, wrong.paid, wrong.earned)
        }
        let rate = booking.lines.first?.rate
        let detail = rate.map { "converted at \($0)" } ?? "converted at a rate that is not said"
        return .init(.exchangeRate, detail, paid, earned)
    }

    // MARK: - Both

    private func day(
        of movement: Finance.Movement,
        _ booking: some GooglePlayBooking
    ) -> Finance.Finding? {
        let days = [movement.day, Finance.Day(pacific: movement.at)]
        guard days.allSatisfy({ abs($0.number - booking.day.number) > 1 }) else { return nil }
        let isCharge = movement.kind == .charge
        return .init(
            isCharge ? .settlementDate : .refundTiming,
            isCharge
                ? "sold on \(movement.day), booked on \(booking.day)"
                : "granted on \(movement.day), booked on \(booking.day)",
            movement.gross,
            booking.amount
        )
    }

    private mutating func differ(
        _ findings: [Finance.Finding?],
        _ movement: Finance.Movement,
        _ booking: some GooglePlayBooking,
        _ source: String
    ) {
        differences += findings.compactMap(\.self).map {
            Finance.Difference(
                $0,
                store: .googlePlay,
                source: source,
                movement,
                line: booking.place,
                on: booking.day
            )
        }
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
