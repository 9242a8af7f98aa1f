public import Reports

/// Apple's expected commission, and the taxes that prices contain.
public struct AppStoreTerms: Hashable, Sendable {
    /// Whether the App Store Small Business Program holds: 15 % of everything.
    public var isSmallBusiness: Bool
    /// Hundredths of a percent of tax that a price in the App Store contains, by country
    /// (ISO 3166-1 alpha-2); where a country is missing, prices contain none.
    public var taxes: [String: Int64]

    public init(isSmallBusiness: Bool = false, taxes: [String: Int64] = AppStoreTerms.usualTaxes) {
        self.isSmallBusiness = isSmallBusiness
        self.taxes = taxes
    }

    /// Standard rates of value-added and sales taxes that prices contain.
    public static let usualTaxes: [String: Int64] = [
        "AT": 2000, "AU": 1000, "BE": 2100, "BG": 2000, "CH": 810, "CL": 1900, "CY": 1900,
        "CZ": 2100, "DE": 1900, "DK": 2500, "EE": 2400, "ES": 2100, "FI": 2550, "FR": 2000,
        "GB": 2000, "GR": 2400, "HR": 2500, "HU": 2700, "IE": 2300, "IN": 1800, "IS": 2400,
        "IT": 2200, "JP": 1000, "KR": 1000, "LT": 2100, "LU": 1700, "LV": 2100, "MT": 1800,
        "MX": 1600, "NL": 2100, "NO": 2500, "NZ": 1500, "PL": 2300, "PT": 2300, "RO": 2100,
        "SA": 1500, "SE": 2500, "SG": 900, "SI": 2200, "SK": 2300, "TR": 2000, "ZA": 1500,
    ]

    /// The developer's share of a price without tax, in hundredths of a percent.
    static let fullRate: Int64 = 7000
    static let reducedRate: Int64 = 8500

    /// Apple pays out 70 %, or 85 % after a year of paid service and in the Small Business Program
    /// (https://developer.apple.com/app-store/small-business-program/), and returns its commission
    /// with a refund.
    public var fee: Finance.Terms.StoreFee {
        Finance.Terms.StoreFee(
            left: isSmallBusiness ? Self.reducedRate : Self.fullRate,
            leftAfterOneYear: Self.reducedRate,
            isReturned: true
        )
    }

    /// The expected share of one sale that is paid out, in hundredths of a percent.
    func left(of movement: Finance.Movement) -> Int64 {
        movement.isAfterOneYear ? fee.leftAfterOneYear : fee.left
    }

    /// A price without the tax that it contains.
    func net(_ price: Finance.Money, of country: String) -> Finance.Money {
        price.scaled(by: Finance.Ratio(10_000, over: 10_000 + (taxes[country] ?? 0)))
    }

    /// Tax, commission and proceeds of a sale or refund, by the report's line or by the usual shares.
    package func settlement(
        of movement: Finance.Movement,
        reportedBy line: Finance.AppStoreLine?
    ) -> Finance.Settlement {
        let gross = movement.gross
        guard let line else {
            let net = gross.scaled(by: Finance.Ratio(basisPoints: left(of: movement))).rounded
            return Finance.Settlement(net: net, tax: .zero(gross.currency), commission: gross - net)
        }
        let sign: Int64 = movement.kind == .charge ? 1 : -1
        var settlement = Finance.Settlement(
            net: line.proceeds.times(movement.quantity * sign),
            line: line.place,
            country: line.country.isEmpty ? nil : line.country
        )
        guard settlement.net.currency == gross.currency else { return settlement }
        let taxed = net(line.price, of: line.country)
        let shares = [Self.fullRate, Self.reducedRate].map { Finance.Ratio(basisPoints: $0) }
        if shares.contains(where: { line.price.scaled(by: $0).isAbout(line.proceeds) }) {
            settlement.tax = .zero(gross.currency)
        } else if shares.contains(where: { taxed.scaled(by: $0).isAbout(line.proceeds) }) {
            settlement.tax = gross - net(gross, of: line.country).rounded
        }
        settlement.commission = settlement.tax.map { gross - $0 - settlement.net }
        return settlement
    }
}
