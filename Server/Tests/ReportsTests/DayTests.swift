import Reports
import Testing
import TollgateCore

@Suite("Days, weeks and months")
struct DayTests {
    @Test("a day is written and read again, leap days and the ends of years too")
    func spelling() {
        for number in Int64(-1000)...30_000 {
            let day = Reports.Day(number: number)
            #expect(number < 0 || Reports.Day(day.description) == day)
            #expect(Reports.Day(day.start) == day)
            #expect(Reports.Day(day.start.advanced(by: -1)) == day.advanced(by: -1))
        }
        #expect(Reports.Day("2024-02-29")?.description == "2024-02-29")
        for text in ["2023-02-29", "2024-13-01", "2024-1-1", "20240101", "", "x-y-z"] {
            #expect(Reports.Day(text) == nil)
        }
    }

    @Test("pieces cover a range without gaps, weeks from Monday")
    func pieces() throws {
        let first = try #require(Reports.Day("2026-01-30"))
        let last = try #require(Reports.Day("2026-03-02"))
        let months = Reports.Step.month.pieces(from: first, to: last)
        #expect(
            months.map { "\($0.lowerBound) \($0.upperBound)" } == [
                "2026-01-30 2026-01-31", "2026-02-01 2026-02-28", "2026-03-01 2026-03-02",
            ]
        )
        let weeks = Reports.Step.week.pieces(from: first, to: last)
        #expect(weeks.map(\.upperBound.description).prefix(2) == ["2026-02-01", "2026-02-08"])
        #expect(weeks.dropFirst().allSatisfy { $0.lowerBound.startOfWeek == $0.lowerBound })
    }

    @Test("fractions stay exact and are rounded only when they are written")
    func fractions() {
        let third = Reports.Fraction(1, 3)
        #expect(third + third + third == Reports.Fraction(Int128(1)))
        #expect(Reports.Fraction(2, -4) == Reports.Fraction(-1, 2))
        #expect((-third).text(decimals: 2) == "-0.33")
        #expect(Reports.Fraction(5, 1000).text(decimals: 2) == "0.01")
        #expect(Reports.Fraction(-1, 1000).text(decimals: 2) == "0.00")
        #expect(Reports.Fraction(199_999, 100).text(decimals: 0) == "2000")
    }
}
