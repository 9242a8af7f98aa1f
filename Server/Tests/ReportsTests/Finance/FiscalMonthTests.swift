import Reports
import Testing
import TollgateCore

@Suite("Apple's fiscal calendar")
struct FiscalMonthTests {
    private static let spans: [(month: String, first: String, last: String, payment: String)] = [
        // A year that begins with October itself: September 2023 ended with its last Saturday.
        ("2024-01", "2023-10-01", "2023-11-04", "2023-12-07"),
        ("2024-02", "2023-11-05", "2023-12-02", "2024-01-04"),
        ("2024-03", "2023-12-03", "2023-12-30", "2024-02-01"),
        ("2024-12", "2024-09-01", "2024-09-28", "2024-10-31"),
        // A year of 53 weeks: its third month has five.
        ("2023-01", "2022-09-25", "2022-10-29", "2022-12-01"),
        ("2023-03", "2022-11-27", "2022-12-31", "2023-02-02"),
        ("2023-12", "2023-09-03", "2023-09-30", "2023-11-02"),
        ("2026-09", "2026-05-31", "2026-06-27", "2026-07-30"),
    ]

    @Test("Months begin, end and are paid on these days", arguments: spans)
    func months(_ span: (month: String, first: String, last: String, payment: String)) throws {
        let month = try #require(Finance.FiscalMonth(span.month))
        #expect("\(month.first)" == span.first)
        #expect("\(month.last)" == span.last)
        #expect("\(month.payment)" == span.payment)
        #expect("\(month)" == span.month)
    }

    @Test("Every day of sixty years lies in exactly one month, and months follow one another")
    func everyDay() throws {
        var day = try #require(Finance.Day("2000-01-01"))
        var month = try #require(Finance.FiscalMonth(containing: day))
        for _ in 0..<60 * 365 {
            let found = try #require(Finance.FiscalMonth(containing: day))
            #expect(found.first <= day && day <= found.last)
            if found != month {
                #expect(month.next == found && found.previous == month)
                #expect(month.last.advanced(by: 1) == found.first)
                #expect(found.first.weekday == 0 && month.last.weekday == 6)
                month = found
            }
            day = day.advanced(by: 1)
        }
    }

    @Test("A day in Cupertino begins seven or eight hours later than in UTC")
    func pacific() throws {
        // 2026-03-08 10:00 UTC is when summer time begins, 2026-11-01 09:00 UTC when it ends.
        for (instant, day) in [
            ("2026-06-02T06:59", "2026-06-01"), ("2026-06-02T07:00", "2026-06-02"),
            ("2026-01-02T07:59", "2026-01-01"), ("2026-01-02T08:00", "2026-01-02"),
            ("2026-03-08T07:59", "2026-03-07"), ("2026-03-08T08:00", "2026-03-08"),
            ("2026-03-09T06:59", "2026-03-08"), ("2026-03-09T07:00", "2026-03-09"),
            ("2026-11-01T06:59", "2026-10-31"), ("2026-11-02T07:59", "2026-11-01"),
        ] {
            let parts = instant.split(separator: "T")
            let time = parts[1].split(separator: ":").compactMap { Int64($0) }
            let start = try #require(Finance.Day(parts[0])).start
            let at = start.advanced(by: (time[0] * 60 + time[1]) * 60_000)
            #expect("\(Finance.Day(pacific: at))" == day, "\(instant)")
        }
    }

    @Test("What is no month is none", arguments: ["2026-13", "2026-00", "26-01", "2026", "x", ""])
    func refused(_ text: String) {
        #expect(Finance.FiscalMonth(text) == nil)
    }
}
