internal import Reports
internal import Storage
internal import TollgateCore

/// What the bodies of figures are.
enum FigureKind: Int64 {
    case sale = 0
    case period = 1
    case coins = 2
    /// What a customer adds to the sums of the day on which they were first seen.
    case customer = 3
    /// That a customer saw an offering.
    case shown = 4
}

extension Figure {
    init(
        _ kind: FigureKind,
        of subject: RowKey,
        number: Int,
        in environment: StoreEnvironment,
        at instant: Instant,
        customer: String,
        _ body: some Encodable
    ) throws {
        self.init(
            place: Place(subject: subject, kind: kind.rawValue, number: Int64(number)),
            environment: environment,
            day: Reports.Day(instant).number,
            customer: RowKey(hex: customer) ?? RowKey("nobody"),
            body: try RecordEncoder.encodeCodable(body)
        )
    }

    func sale() throws -> Reports.Sale {
        try RecordDecoder.decode(Reports.Sale.self, from: body)
    }

    func period() throws -> Reports.PaidPeriod {
        try RecordDecoder.decode(Reports.PaidPeriod.self, from: body)
    }

    func showing() throws -> Reports.Showing {
        try RecordDecoder.decode(Reports.Showing.self, from: body)
    }

    func coinMove() throws -> Reports.CoinMove {
        try RecordDecoder.decode(Reports.CoinMove.self, from: body)
    }
}

extension Reports.PurchaseRows {
    /// Rows as they were kept.
    init(_ figures: [Figure]) throws {
        self.init()
        for figure in figures {
            switch FigureKind(rawValue: figure.place.kind) {
            case .sale?: sales.append(try figure.sale())
            case .period?: periods.append(try figure.period())
            case .coins?: coins.append(try figure.coinMove())
            case .customer?, .shown?, nil: break
            }
        }
    }

    /// Rows as they are to be kept.
    func figures(of subject: RowKey) throws -> [Figure] {
        var figures: [Figure] = []
        for (number, sale) in sales.enumerated() {
            let figure = try Figure(
                .sale,
                of: subject,
                number: number,
                in: sale.environment,
                at: sale.at,
                customer: sale.customer,
                sale
            )
            figures.append(figure)
        }
        for (number, period) in periods.enumerated() {
            let figure = try Figure(
                .period,
                of: subject,
                number: number,
                in: period.environment,
                at: period.start,
                customer: period.customer,
                period
            )
            figures.append(figure)
        }
        for (number, move) in coins.enumerated() {
            let figure = try Figure(
                .coins,
                of: subject,
                number: number,
                in: move.environment,
                at: move.at,
                customer: move.customer,
                move
            )
            figures.append(figure)
        }
        return figures
    }
}
