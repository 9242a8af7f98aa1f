// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TollgateCore

@testable import TollgateService

@Suite("Quiet hours")
struct QuietHoursTests {
    /// An instant as a text in UTC: `2026-06-01T20:00`.
    private static func at(_ text: String) throws -> Instant {
        let date = try Date.ISO8601FormatStyle().parse(text + ":00Z")
        return Instant(milliseconds: Int64(date.timeIntervalSince1970) * 1000)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var from: String
        var to: String
        var zone: String
        /// In UTC: the first minute of quiet hours, and the first after them.
        var begin: String
        var end: String
    }

    static let rows = [
        Row(
            testDescription: "within one day",
            from: "12:00",
            to: "13:30",
            zone: "UTC",
            begin: "2026-06-01T12:00",
            end: "2026-06-01T13:30"
        ),
        Row(
            testDescription: "across midnight, in summer",
            from: "22:00",
            to: "07:00",
            zone: "Europe/Berlin",
            begin: "2026-06-01T20:00",
            end: "2026-06-02T05:00"
        ),
        Row(
            testDescription: "across midnight, in winter",
            from: "22:00",
            to: "07:00",
            zone: "Europe/Berlin",
            begin: "2026-01-01T21:00",
            end: "2026-01-02T06:00"
        ),
        Row(
            testDescription: "the night in which clocks are put forward is an hour shorter",
            from: "22:00",
            to: "07:00",
            zone: "Europe/Berlin",
            begin: "2026-03-28T21:00",
            end: "2026-03-29T05:00"
        ),
        Row(
            testDescription: "the night in which clocks are put back is an hour longer",
            from: "22:00",
            to: "07:00",
            zone: "Europe/Berlin",
            begin: "2026-10-24T20:00",
            end: "2026-10-25T06:00"
        ),
        Row(
            testDescription: "an end that the clocks skip is the moment of the change",
            from: "22:00",
            to: "02:30",
            zone: "Europe/Berlin",
            begin: "2026-03-28T21:00",
            end: "2026-03-29T01:00"
        ),
        Row(
            testDescription: "an end that comes twice is the first",
            from: "22:00",
            to: "02:30",
            zone: "Europe/Berlin",
            begin: "2026-10-24T20:00",
            end: "2026-10-25T00:30"
        ),
        Row(
            testDescription: "a begin that comes twice is the first",
            from: "02:30",
            to: "06:00",
            zone: "Europe/Berlin",
            begin: "2026-10-25T00:30",
            end: "2026-10-25T05:00"
        ),
        Row(
            testDescription: "far from UTC, with a change of half an hour",
            from: "23:00",
            to: "06:00",
            zone: "Australia/Lord_Howe",
            begin: "2026-04-04T12:00",
            end: "2026-04-04T19:30"
        ),
    ]

    @Test("begin and end once, by the clocks of the zone", arguments: rows)
    func bounds(_ row: Row) throws {
        let hours = try #require(QuietHours(from: row.from, to: row.to, zone: row.zone))
        let (begin, end) = (try Self.at(row.begin), try Self.at(row.end))
        var instant = begin.advanced(by: -3_600_000)
        while instant < end.advanced(by: 3_600_000 * 2) {
            #expect(hours.contains(instant) == (begin..<end).contains(instant), "\(instant)")
            instant = instant.advanced(by: 60_000)
        }
        #expect(!hours.contains(begin.advanced(by: -1)) && hours.contains(end.advanced(by: -1)))
    }

    @Test(
        "know the zones of IANA's database",
        arguments: ["UTC", "Etc/UTC", "Asia/Kolkata", "America/Argentina/Buenos_Aires"]
    )
    func zones(_ name: String) {
        #expect(QuietHours(from: "22:00", to: "07:00", zone: name) != nil)
    }

    @Test(
        "have two different times and a zone",
        arguments: [
            ("22:00", "22:00", "UTC"), ("24:00", "07:00", "UTC"), ("7:00", "08:00", "UTC"),
            ("22:60", "07:00", "UTC"), ("22:00", "07:00", "Europe/Berln"),
            ("22:00", "+7:00", "UTC"), ("22:00", "07:00", ""),
        ]
    )
    func wrong(_ from: String, _ to: String, _ zone: String) {
        #expect(QuietHours(from: from, to: to, zone: zone) == nil)
    }
}

@Suite("Alarms in quiet hours")
struct QuietLedgerTests {
    private static let parked = Alarm("parked/Stripe", "One message.", "Look.")
    private static let paid = Alarm("access/locked_out", "One.", "Look.", isUrgent: true)

    private static func minute(_ count: Int64) -> Instant {
        Instant(milliseconds: 1_780_272_000_000 + count * 60_000)
    }

    /// The news of each round: its minute and what is an alarm then; it is quiet from minute 10 to 500.
    private static func told(_ rounds: [(Int64, [Alarm])]) -> [String] {
        var ledger = AlertLedger()
        return rounds.flatMap { at, alarms in
            ledger.take(alarms, at: minute(at), isQuiet: (10..<500).contains(at))
                .map {
                    "\(at) \($0.kind) \($0.name) since \(($0.since.milliseconds - minute(0).milliseconds) / 60_000)"
                }
        }
    }

    @Test("An alarm that is not urgent waits until their end, and is told once")
    func waits() {
        let rounds = [10, 11, 499, 500, 501].map { (Int64($0), [Self.parked]) }
        #expect(Self.told(rounds) == ["500 raised parked/Stripe since 10"])
    }

    @Test("An alarm that is over by then is told to nobody")
    func over() {
        #expect(Self.told([(10, [Self.parked]), (400, []), (500, []), (520, [])]) == [])
    }

    @Test("An urgent alarm and its all-clear do not wait")
    func urgent() {
        let told = Self.told([(20, [Self.paid]), (30, []), (40, []), (500, [])])
        #expect(
            told == [
                "20 raised access/locked_out since 20", "40 cleared access/locked_out since 20",
            ]
        )
    }

    @Test("The all-clear of an alarm that was told before waits until their end")
    func allClear() {
        let told = Self.told([(0, [Self.parked]), (20, []), (30, []), (499, []), (500, [])])
        #expect(
            told == ["0 raised parked/Stripe since 0", "500 cleared parked/Stripe since 0"]
        )
    }

    @Test("An alarm that becomes urgent meanwhile is told at once")
    func becomesUrgent() {
        var urgent = Self.parked
        urgent.isUrgent = true
        #expect(
            Self.told([(20, [Self.parked]), (30, [urgent]), (500, [urgent])])
                == ["30 raised parked/Stripe since 20"]
        )
    }

    @Test("An alarm that was told and becomes urgent is told once more, also if it comes and goes")
    func toldBeforeItIsUrgent() {
        var urgent = Self.parked
        urgent.isUrgent = true
        #expect(
            Self.told([(0, [Self.parked]), (20, [urgent]), (30, [Self.parked]), (40, [urgent])])
                == ["0 raised parked/Stripe since 0", "20 reminder parked/Stripe since 0"]
        )
    }

    @Test("A reminder waits, too")
    func reminder() {
        var ledger = AlertLedger()
        _ = ledger.take([Self.parked], at: Self.minute(0))
        #expect(ledger.take([Self.parked], at: Self.minute(1_450), isQuiet: true) == [])
        #expect(ledger.take([Self.parked], at: Self.minute(1_900)).map(\.kind) == [.reminder])
    }

    @Test("News that a channel refused for good come again in an hour")
    func refused() {
        var ledger = AlertLedger()
        let news = ledger.take([Self.parked], at: Self.minute(0))
        ledger.postpone(news, at: Self.minute(0))
        #expect(ledger.take([Self.parked], at: Self.minute(59)) == [])
        #expect(ledger.take([Self.parked], at: Self.minute(60)).map(\.kind) == [.reminder])
        #expect(ledger.take([Self.parked], at: Self.minute(61)) == [])
    }
}
