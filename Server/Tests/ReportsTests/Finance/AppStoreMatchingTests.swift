import AppStoreConnector
import Reports
import Testing
import TollgateCore

/// The worked examples of docs/reconciliation.md.
@Suite("Matching with the App Store's reports")
struct AppStoreMatchingTests {
    static let plan = "com.example.app.pro.monthly"
    static let june = Finance.Day(utc: Instant(milliseconds: 1_780_272_000_000))
    static let covered = Set((-60...60).map { june.advanced(by: $0) })

    /// A sale at noon in UTC, some days after 2026-06-01.
    static func sale(
        _ id: String = "1",
        day: Int64 = 0,
        hour: Int64 = 12,
        price: Int64 = 9_990,
        currency: String = "USD",
        kind: Finance.Movement.Kind = .charge,
        environment: StoreEnvironment = .production,
        isFamilyShared: Bool = false,
        isOffer: Bool = false,
        isAfterOneYear: Bool = false,
        product: String = plan,
        quantity: Int64 = 1
    ) -> Finance.Movement {
        Finance.Movement(
            store: .appStore,
            environment: environment,
            kind: kind,
            id: id,
            product: product,
            at: june.advanced(by: day).start.advanced(by: hour * 3_600_000),
            quantity: quantity,
            amount: Finance.Money(milliunits: price * quantity, currency: currency),
            isFamilyShared: isFamilyShared,
            isOffer: isOffer,
            isAfterOneYear: isAfterOneYear
        )
    }

    /// A line of a daily report; proceeds are 70 % unless stated.
    static func line(
        day: Int64 = 0,
        price: Int64 = 9_990,
        proceeds: Int64? = nil,
        currency: String = "USD",
        paidOut: String? = nil,
        isRefund: Bool = false,
        country: String = "US",
        units: Int64 = 1,
        product: String = plan
    ) -> Finance.AppStoreLine {
        Finance.AppStoreLine(
            source: "SALES",
            place: "SALES DAILY \(june.advanced(by: day)), line 2",
            isRefund: isRefund,
            product: product,
            first: june.advanced(by: day),
            last: june.advanced(by: day),
            units: units,
            price: Finance.Money(milliunits: price, currency: currency),
            proceeds: Finance.Money(
                milliunits: proceeds ?? price * 7 / 10,
                currency: paidOut ?? currency
            ),
            country: country
        )
    }

    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var movements: [Finance.Movement]
        var lines: [Finance.AppStoreLine]
        var expected: [Finance.Reason]
    }

    static let stories: [Story] = [
        Story(
            testDescription: "both sides agree",
            movements: [sale()],
            lines: [line()],
            expected: []
        ),
        Story(
            testDescription: "three units in one line are three sales",
            movements: [sale("1"), sale("2", hour: 13), sale("3", hour: 14)],
            lines: [line(units: 3)],
            expected: []
        ),
        Story(
            testDescription: "03:00 in UTC is the day before in Cupertino",
            movements: [sale(hour: 3)],
            lines: [line(day: -1)],
            expected: [.timeZone]
        ),
        Story(
            testDescription: "days overlap: each sale finds a day of its own",
            movements: [sale("1", day: 1, hour: 3), sale("2", day: 2, hour: 3)],
            lines: [line(day: 0), line(day: 1)],
            expected: [.timeZone, .timeZone]
        ),
        Story(
            testDescription: "booked three days later",
            movements: [sale()],
            lines: [line(day: 3)],
            expected: [.settlementDate]
        ),
        Story(
            testDescription: "a sale and another's refund that were never told are two, not none",
            movements: [sale()],
            lines: [line(units: 2), line(isRefund: true)],
            expected: [.missingHere, .missingHere]
        ),
        Story(
            testDescription: "booked after more days than a settlement takes",
            movements: [sale()],
            lines: [line(day: 20)],
            expected: [.missingHere, .missingThere]
        ),
        Story(
            testDescription: "the refund is booked five days later",
            movements: [sale(), sale(day: 2, kind: .refund)],
            lines: [line(), line(day: 7, isRefund: true)],
            expected: [.refundTiming]
        ),
        Story(
            testDescription: "paid in euros, paid out in dollars",
            movements: [sale(currency: "EUR")],
            lines: [line(proceeds: 7_552, currency: "EUR", paidOut: "USD", country: "FR")],
            expected: [.exchangeRate]
        ),
        Story(
            testDescription: "19 % of tax in a German price: 9.99 / 1.19 × 70 % = 5.88",
            movements: [sale(currency: "EUR")],
            lines: [line(proceeds: 5_880, currency: "EUR", country: "DE")],
            expected: [.tax]
        ),
        Story(
            testDescription: "85 % without a year of service",
            movements: [sale()],
            lines: [line(proceeds: 8_492)],
            expected: [.commissionRate]
        ),
        Story(
            testDescription: "85 % after a year of service is what was expected",
            movements: [sale(isAfterOneYear: true)],
            lines: [line(proceeds: 8_490)],
            expected: []
        ),
        Story(
            testDescription: "tax and another share at once: 9.99 / 1.19 × 85 % = 7.14",
            movements: [sale(currency: "EUR")],
            lines: [line(proceeds: 7_140, currency: "EUR", country: "DE")],
            expected: [.tax, .commissionRate]
        ),
        Story(
            testDescription: "proceeds that nothing explains",
            movements: [sale()],
            lines: [line(proceeds: 5_000)],
            expected: [.amountDiffers]
        ),
        Story(
            testDescription: "another price",
            movements: [sale()],
            lines: [line(price: 10_990)],
            expected: [.amountDiffers]
        ),
        Story(
            testDescription: "an offer at 4.99 is booked at zero",
            movements: [sale(price: 4_990, isOffer: true)],
            lines: [line(price: 0)],
            expected: [.freeOffer]
        ),
        Story(
            testDescription: "a trial costs nothing on both sides",
            movements: [sale(price: 0, currency: "", isOffer: true)],
            lines: [line(price: 0)],
            expected: []
        ),
        Story(
            testDescription: "a member of the family is no sale of its own",
            movements: [sale("1"), sale("2", price: 0, isFamilyShared: true)],
            lines: [line()],
            expected: [.familySharing]
        ),
        Story(
            testDescription: "TestFlight is in no report",
            movements: [sale("1"), sale("2", environment: .sandbox)],
            lines: [line()],
            expected: [.sandbox]
        ),
        Story(
            testDescription: "taken back a week later and booked at another price",
            movements: [sale()],
            lines: [line(), line(day: 7, isRefund: true), line(day: 7, price: 8_990)],
            expected: [.lateCorrection]
        ),
        Story(
            testDescription: "nobody here knows of it",
            movements: [],
            lines: [line()],
            expected: [.missingHere]
        ),
        Story(
            testDescription: "no report tells of it",
            movements: [sale()],
            lines: [],
            expected: [.missingThere]
        ),
        Story(
            testDescription: "no report of that day has come",
            movements: [sale(day: 100)],
            lines: [],
            expected: []
        ),
    ]

    @Test("Every difference has its reason", arguments: stories)
    func reasons(_ story: Story) {
        let result = Finance.AppStoreMatching.match(
            story.movements,
            with: story.lines,
            source: "SALES",
            covering: Self.covered
        )
        #expect(result.differences.map(\.reason).sorted() == story.expected.sorted())
    }

    @Test("In the Small Business Program 85 % is what was expected, and 70 % is not")
    func smallBusiness() {
        let terms = AppStoreTerms(isSmallBusiness: true)
        for (proceeds, expected) in [(8_492, []), (6_993, [Finance.Reason.commissionRate])] {
            let result = Finance.AppStoreMatching.match(
                [Self.sale()],
                with: [Self.line(proceeds: Int64(proceeds))],
                source: "SALES",
                covering: Self.covered,
                terms: terms
            )
            #expect(result.differences.map(\.reason) == expected)
        }
    }

    @Test("A finance report covers a fiscal month; a sale of its last evening belongs to the next")
    func fiscalMonth() throws {
        let month = try #require(Finance.FiscalMonth("2026-09"))
        var line = Self.line(units: 2)
        line.first = month.first
        line.last = month.last
        var next = Self.line()
        next.first = month.last.advanced(by: 1)
        next.last = month.last.advanced(by: 28)
        let result = Finance.AppStoreMatching.match(
            [Self.sale("1"), Self.sale("2", day: 20), Self.sale("3", day: 26)],
            with: [line, next],
            source: "FINANCIAL",
            covering: Self.covered
        )
        #expect(result.differences.map(\.reason) == [.settlementDate])
        #expect(result.pairs.count == 3)
    }

    @Test(
        "However sales and lines are shuffled, the same is found",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func order(_ seed: UInt64) {
        var random = Seeded(state: seed)
        let hours: [Int64] = [1, 3, 5, 9, 15, 23]
        let movements = (0..<60).map { number in
            Self.sale("\(number)", day: Int64(number / 6), hour: hours[number % 6])
        }
        var units: [Int64: Int64] = [:]
        for movement in movements {
            units[Finance.Day(pacific: movement.at).number - Self.june.number, default: 0] += 1
        }
        let lines = units.map { Self.line(day: $0.key, units: $0.value) }
        let result = Finance.AppStoreMatching.match(
            movements.shuffled(using: &random),
            with: lines.shuffled(using: &random),
            source: "SALES",
            covering: Self.covered
        )
        #expect(result.pairs.count == 60)
        // Three of six hours are before seven in the morning.
        #expect(result.differences.map(\.reason) == Array(repeating: .timeZone, count: 30))
    }

    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }
}
