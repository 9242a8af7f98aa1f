import Foundation
import Testing
import TollgateCore

@Suite("Calendar durations")
struct CalendarDurationTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let anchor: String
        let duration: String
        var times = 1
        let result: String
        var testDescription: String { "\(anchor) + \(times) × \(duration)" }
    }

    static let cases = [
        Case(anchor: "2025-01-15T12:34:56Z", duration: "P1M", result: "2025-02-15T12:34:56Z"),
        Case(anchor: "2025-01-31T23:59:59Z", duration: "P1M", result: "2025-02-28T23:59:59Z"),
        Case(anchor: "2024-01-31T00:00:00Z", duration: "P1M", result: "2024-02-29T00:00:00Z"),
        Case(
            anchor: "2025-01-31T00:00:00Z",
            duration: "P1M",
            times: 2,
            result: "2025-03-31T00:00:00Z"
        ),
        Case(anchor: "2024-02-29T00:00:00Z", duration: "P1Y", result: "2025-02-28T00:00:00Z"),
        Case(
            anchor: "2024-02-29T00:00:00Z",
            duration: "P1Y",
            times: 4,
            result: "2028-02-29T00:00:00Z"
        ),
        Case(anchor: "2025-12-31T00:00:00Z", duration: "P1W", result: "2026-01-07T00:00:00Z"),
        Case(anchor: "2025-02-01T00:00:00Z", duration: "P30D", result: "2025-03-03T00:00:00Z"),
        Case(anchor: "2025-01-31T00:00:00Z", duration: "P1M1D", result: "2025-03-01T00:00:00Z"),
        Case(
            anchor: "2025-03-31T00:00:00Z",
            duration: "P1M",
            times: -1,
            result: "2025-02-28T00:00:00Z"
        ),
        Case(
            anchor: "1969-12-31T23:00:00Z",
            duration: "P1M",
            times: 0,
            result: "1969-12-31T23:00:00Z"
        ),
        Case(anchor: "1900-01-31T00:00:00Z", duration: "P1M", result: "1900-02-28T00:00:00Z"),
        Case(anchor: "1969-12-31T23:00:00Z", duration: "P1M", result: "1970-01-31T23:00:00Z"),
        Case(anchor: "2000-02-28T00:00:00Z", duration: "P1D", result: "2000-02-29T00:00:00Z"),
        Case(anchor: "2000-02-29T00:00:00Z", duration: "P1D", result: "2000-03-01T00:00:00Z"),
        Case(anchor: "2100-02-28T00:00:00Z", duration: "P1D", result: "2100-03-01T00:00:00Z"),
        Case(anchor: "2025-02-01T00:00:00Z", duration: "P2W1D", result: "2025-02-16T00:00:00Z"),
    ]

    @Test("a duration is added to its anchor by the calendar, in UTC", arguments: cases)
    func adding(_ example: Case) throws {
        let duration = try #require(CalendarDuration(iso8601: example.duration))
        let anchor = try milliseconds(example.anchor)
        #expect(
            duration.adding(to: anchor, times: example.times)
                == (try milliseconds(example.result))
        )
    }

    @Test(
        "what is written is read back",
        arguments: ["P1W", "P1M", "P1Y", "P30D", "P1Y2M3W4D", "P9999Y9999M9999W9999D"]
    )
    func roundTrip(text: String) throws {
        let duration = try #require(CalendarDuration(iso8601: text))
        #expect(duration.iso8601 == text)
        let json = try JSONEncoder().encode([duration])
        #expect(String(decoding: json, as: UTF8.self) == #"["\#(text)"]"#)
        #expect(try JSONDecoder().decode([CalendarDuration].self, from: json) == [duration])
    }

    @Test(
        "what is no duration is refused",
        arguments: [
            "", "P", "1M", "Q1M", "PM", "P0D", "P1", "P1M1Y", "P1M1M", "PT1H", "P1.5M", "P-1M",
            "p1m",
            "P12345D", "P1M ", "P１M", "P99999999999999999999D",
        ]
    )
    func refused(text: String) {
        #expect(CalendarDuration(iso8601: text) == nil)
    }

    @Test("each part is between 0 and 9999, and not all are 0")
    func parts() {
        #expect(CalendarDuration(years: 9999, months: 9999, weeks: 9999, days: 9999) != nil)
        #expect(CalendarDuration(months: 1, days: -1) == nil)
        #expect(CalendarDuration(years: 10_000, days: 1) == nil)
        #expect(CalendarDuration() == nil)
    }

    @Test("absurd instants and counts give nil and no trap")
    func absurd() throws {
        let month = try #require(CalendarDuration(months: 1))
        for anchor in [Int64.min, .min + 1, -8_640_000_000_000_001, 8_640_000_000_000_001, .max] {
            #expect(month.adding(to: anchor) == nil)
        }
        for times in [Int.min, -100_000_001, 100_000_001, .max] {
            #expect(month.adding(to: 0, times: times) == nil)
        }
        // Twice these counts would be a small number, or a trap, if nobody looked.
        for text in ["P2M", "P2D"] {
            let two = try #require(CalendarDuration(iso8601: text))
            #expect(two.adding(to: 0, times: .max) == nil)
            #expect(two.adding(to: 0, times: .min) == nil)
        }
        let day = try #require(CalendarDuration(days: 1))
        #expect(day.adding(to: 86_400_000, times: .max) == nil)
        #expect(day.adding(to: 0, times: 100_000_000) == 8_640_000_000_000_000)
        #expect(day.adding(to: 86_400_000, times: 100_000_000) == nil)
        #expect(day.adding(to: 0, times: -100_000_000) == -8_640_000_000_000_000)
        let longest = try #require(
            CalendarDuration(years: 9999, months: 9999, weeks: 9999, days: 9999)
        )
        #expect(longest.adding(to: 8_640_000_000_000_000) == nil)
        #expect(longest.adding(to: 0) != nil)
        #expect(longest.adding(to: 0, times: .max) == nil)
    }

    @Test("every day of eight centuries is where Foundation's calendar has it")
    func agreesWithFoundation() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        let month = try #require(CalendarDuration(months: 1))
        // From 1800: Foundation's Gregorian calendar switches to the Julian one before 1582.
        for day in stride(from: Int64(-62_091), to: 230_000, by: 97) {
            let anchor = day * 86_400_000
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let expected = try #require(calendar.date(byAdding: .month, value: 1, to: date))
            #expect(
                month.adding(to: anchor) == Int64(expected.timeIntervalSince1970) * 1000,
                "day \(day)"
            )
        }
    }

    private func milliseconds(_ text: String) throws -> Int64 {
        let date = try #require(ISO8601DateFormatter().date(from: text))
        return Int64(date.timeIntervalSince1970) * 1000
    }
}
