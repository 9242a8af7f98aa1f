import Foundation
import Reports
import Testing

@Suite("Amounts of money")
struct MoneyTests {
    @Test("Minor units follow the currency, milliunits do not")
    func units() {
        #expect(Finance.Money(minorUnits: 999, currency: "usd").description == "9.99 USD")
        #expect(Finance.Money(minorUnits: 1200, currency: "jpy").description == "1200 JPY")
        #expect(Finance.Money(minorUnits: 1234, currency: "kwd").description == "1.234 KWD")
        #expect(Finance.Money(milliunits: 9990, currency: "USD").description == "9.99 USD")
        #expect(Finance.Money(milliunits: -6993, currency: "USD").description == "-6.993 USD")
        #expect(Finance.Money(milliunits: 500_000, currency: "JPY").description == "500 JPY")
    }

    @Test("Rates are exact, and halves are rounded away from zero")
    func rates() throws {
        let price = Finance.Money(minorUnits: 999, currency: "USD")
        #expect(price.scaled(by: .init(basisPoints: 7000)).decimal == "6.993")
        #expect(price.scaled(by: .init(basisPoints: 7000)).rounded.decimal == "6.99")
        #expect(Finance.Money(millionths: 5_000, currency: "USD").rounded.decimal == "0.01")
        #expect(Finance.Money(millionths: -5_000, currency: "USD").rounded.decimal == "-0.01")
        let rate = try #require(Finance.Ratio(decimal: "1.0832"))
        #expect(price.scaled(by: rate).decimal == "10.821168")
        #expect(rate.description == "1.0832")
        let third = Finance.Ratio(1, over: 3)
        #expect(price.scaled(by: third).times(3) == price)
    }

    @Test(
        "Rates of exchange are read as JSON writes numbers",
        arguments: [
            // 1,000,000 VND are 38.12 USD at 0.00003812.
            ("3.812e-05", "38.12", "0.00003812"), ("3.812E-5", "38.12", "0.00003812"),
            ("0.00003812", "38.12", "0.00003812"), ("1.5e+01", "15000000", "15.0000"),
            ("2e3", "2000000000", "2000.0000"), ("0", "0", "0.0000"), ("0.0", "0", "0.0000"),
            // What is behind the eighteenth decimal changes nothing.
            ("0.00003812000000000000001", "38.12", "0.00003812"),
            ("3.8120000000000000001e-05", "38.12", "0.00003812"),
        ]
    )
    func exponents(text: String, converted: String, shown: String) throws {
        let rate = try #require(Finance.Ratio(decimal: text))
        let price = Finance.Money(minorUnits: 1_000_000, currency: "VND")
        let booked = Finance.Money(
            millionths: price.scaled(by: rate).millionths,
            currency: "USD"
        )
        #expect(booked == Finance.Money(decimal: converted, currency: "USD"))
        #expect(rate.description == shown)
    }

    @Test(
        "What is no rate is none",
        arguments: [
            "", ".", "1.", ".5", "-1", "1e", "e5", "1e5e5", "1e99", "1e-99", "1,5", "x",
            "99999999999999999999",
        ]
    )
    func noRates(_ text: String) {
        #expect(Finance.Ratio(decimal: text) == nil)
    }

    @Test("What no account holds stays at the limit")
    func limits() {
        let most = Finance.Money(minorUnits: .max, currency: "USD")
        #expect((most + most).millionths == .max)
        #expect((-most - most).millionths == .min)
        #expect(most.scaled(by: .init(.max, over: 1)).millionths == .max)
        #expect((-most).times(.max).millionths == .min)
    }

    @Test("They are written as decimals and read back", arguments: ["0.00", "-12.5", "7", "6.993"])
    func coding(_ text: String) throws {
        let money = try #require(Finance.Money(decimal: text, currency: "EUR"))
        let copy = try JSONDecoder().decode(
            Finance.Money.self,
            from: JSONEncoder().encode(money)
        )
        #expect(copy == money)
    }

    @Test(
        "What is no amount is none",
        arguments: ["", "-", ".5", "1.", "1,5", "1.2345678", "1e3", "99999999999999"]
    )
    func refused(_ text: String) {
        #expect(Finance.Money(decimal: text, currency: "EUR") == nil)
    }

    @Test("A spreadsheet takes no text for a formula")
    func sheet() {
        let sheet = Finance.Sheet(
            ["name", "amount"],
            [["=1+1", "-5.00"], ["a \"b\", c", "1"]]
        )
        #expect(sheet.csv == "name,amount\r\n'=1+1,-5.00\r\n\"a \"\"b\"\", c\",1\r\n")
        #expect(sheet.text == "name      amount\n=1+1       -5.00\na \"b\", c       1\n")
    }
}
