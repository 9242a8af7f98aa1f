// SPDX-License-Identifier: Apache-2.0
import Testing
import TollgateCore

@testable import TollgateService

/// A clock of minutes, and what a channel is told then.
@Suite("Alarms are told once")
struct AlertLedgerTests {
    private static let disk = Alarm("disk", "The disk is full.", "Make room.")
    private static let parked = Alarm("parked/Stripe", "One message.", "Look.")

    private static func minute(_ count: Int64) -> Instant {
        Instant(milliseconds: 1_780_272_000_000 + count * 60_000)
    }

    /// The news of each round: its minute and what is an alarm then.
    private static func told(_ rounds: [(Int64, [Alarm])]) -> [String] {
        var ledger = AlertLedger()
        return rounds.flatMap { at, alarms in
            ledger.take(alarms, at: minute(at)).map { "\(at) \($0.kind) \($0.name)" }
        }
    }

    @Test("An alarm that goes on is told once, and again after a day")
    func reminders() {
        let rounds = [0, 1, 60, 1_439, 1_440, 1_441, 2_879, 2_880].map { (Int64($0), [Self.disk]) }
        #expect(
            Self.told(rounds) == ["0 raised disk", "1440 reminder disk", "2880 reminder disk"]
        )
    }

    @Test("An alarm that is over is told once more, after ten minutes without it")
    func allClear() {
        let told = Self.told([
            (0, [Self.disk]), (5, []), (14, []), (15, []), (16, []), (20, [Self.disk]),
        ])
        #expect(told == ["0 raised disk", "15 cleared disk", "20 raised disk"])
    }

    @Test("What comes and goes is one alarm")
    func flapping() {
        let rounds = (0..<60).map { (Int64($0), $0 % 5 == 0 ? [Self.disk] : []) }
        #expect(Self.told(rounds) == ["0 raised disk"])
    }

    @Test("Each cause is an alarm of its own")
    func causes() {
        let told = Self.told([
            (0, [Self.disk]), (1, [Self.parked, Self.disk]), (2, [Self.parked]),
            (12, [Self.parked]),
        ])
        #expect(told == ["0 raised disk", "1 raised parked/Stripe", "12 cleared disk"])
    }

    @Test("Other words about the same cause are no news, until it is told again")
    func words() {
        var ledger = AlertLedger()
        _ = ledger.take([Self.parked], at: Self.minute(0))
        let before = ledger
        let more = Alarm("parked/Stripe", "Two messages.", "Look.")
        #expect(ledger.take([more], at: Self.minute(1)) == [])
        #expect(ledger == before, "nothing is to be kept")
        let news = ledger.take([more], at: Self.minute(1_440))
        #expect(news.map(\.sentence) == ["Two messages."])
        #expect(news.first?.since == Self.minute(0))
    }

    @Test("News that found no room is news again at the next look")
    func noRoom() {
        var ledger = AlertLedger()
        func look(_ minute: Int64, _ alarms: [Alarm], without names: Set<String>) -> [String] {
            let before = ledger
            let news = ledger.take(alarms, at: Self.minute(minute))
            ledger.takeBack(news.filter { names.contains($0.name) }, to: before)
            return news.map { "\($0.kind) \($0.name)" }
        }
        let both = [Self.disk, Self.parked]
        #expect(look(0, both, without: ["disk"]) == ["raised disk", "raised parked/Stripe"])
        #expect(look(1, both, without: []) == ["raised disk"])
        #expect(look(1_440, both, without: ["parked/Stripe"]) == ["reminder parked/Stripe"])
        #expect(look(1_441, both, without: []) == ["reminder disk", "reminder parked/Stripe"])
        #expect(look(1_450, [Self.disk], without: []) == [])
        #expect(look(1_460, [Self.disk], without: ["parked/Stripe"]) == ["cleared parked/Stripe"])
        #expect(look(1_461, [Self.disk], without: []) == ["cleared parked/Stripe"])
        #expect(look(1_462, [Self.disk], without: []) == [])
    }

    @Test("The all-clear says what is over, and since when it was so")
    func lastWords() {
        var ledger = AlertLedger()
        for at in [0, 10, 20] as [Int64] {
            let news = ledger.take(at == 0 ? [Self.parked] : [], at: Self.minute(at))
            guard at == 20 else { continue }
            #expect(
                news == [
                    AlertNews(
                        kind: .cleared,
                        name: "parked/Stripe",
                        sentence: "One message.",
                        since: Self.minute(0)
                    )
                ]
            )
        }
        #expect(ledger == AlertLedger())
    }
}

@Suite("The check-up behind alarms")
struct AlertExaminationTests {
    private static let start = Instant(milliseconds: 1_780_272_000_000)
    private static let broken = Finding.failed("stripe.key", "It is refused.", "Copy the key.")
    private static let fine = Finding.ok("stripe.key", "Stripe takes the key.")

    private static func at(minute: Int64) -> Instant { start.advanced(by: minute * 60_000) }

    @Test("A check counts once it has failed twice in a row")
    func twice() {
        var examination = AlertExamination()
        examination.take([Self.broken], at: Self.start)
        #expect(examination.confirmed.isEmpty)
        examination.take([Self.fine], at: Self.at(minute: 10))
        examination.take([Self.broken], at: Self.at(minute: 20))
        #expect(examination.confirmed.isEmpty)
        examination.take([Self.broken], at: Self.at(minute: 30))
        #expect(examination.confirmed == [Self.broken])
        examination.take([Self.fine], at: Self.at(minute: 40))
        #expect(examination.confirmed.isEmpty)
    }

    @Test("What cannot be judged at the moment is as it was found last")
    func undecided() {
        let undecided = Finding.undecided("stripe.key", "Ask again later.")
        var examination = AlertExamination()
        examination.take([Self.broken], at: Self.start)
        examination.take([undecided], at: Self.at(minute: 10))
        #expect(examination.confirmed.isEmpty)
        examination.take([Self.broken], at: Self.at(minute: 20))
        #expect(examination.confirmed == [Self.broken])
        examination.take([undecided], at: Self.at(minute: 80))
        #expect(examination.confirmed == [Self.broken])
        examination.take([Self.fine], at: Self.at(minute: 140))
        #expect(examination.confirmed.isEmpty)
        examination.take([undecided], at: Self.at(minute: 200))
        #expect(examination.confirmed.isEmpty)
    }

    @Test("It is asked each hour, and after ten minutes where something failed for the first time")
    func pauses() {
        var examination = AlertExamination()
        #expect(examination.isDue(at: Self.start))
        examination.take([Self.fine], at: Self.start)
        #expect(!examination.isDue(at: Self.at(minute: 59)))
        #expect(examination.isDue(at: Self.at(minute: 60)))
        examination.take([Self.broken], at: Self.at(minute: 60))
        #expect(!examination.isDue(at: Self.at(minute: 69)))
        #expect(examination.isDue(at: Self.at(minute: 70)))
        examination.take([Self.broken], at: Self.at(minute: 70))
        #expect(!examination.isDue(at: Self.at(minute: 129)))
        #expect(examination.isDue(at: Self.at(minute: 130)))
        #expect(examination.isDue(at: Self.at(minute: 69)), "the clock was put back")
    }

    @Test("Warnings, and what has a condition of its own, are no alarms of it")
    func others() {
        var examination = AlertExamination()
        let findings = [
            Finding.warning("backups", "There are none.", "Make some."),
            .failed("disk", "It is full.", "Make room."),
            .skipped("google_play", "It is not set up."),
        ]
        examination.take(findings, at: Self.start)
        examination.take(findings, at: Self.at(minute: 10))
        #expect(examination.confirmed.isEmpty)
        #expect(!examination.isDue(at: Self.at(minute: 20)))
    }
}

@Suite("When stores were heard of")
struct HeardStoresTests {
    private static let start = Instant(milliseconds: 1_780_272_000_000)

    @Test("A store that was never heard of is silent from when it was set up")
    func new() {
        var heard = HeardStores()
        #expect(heard.take([:], of: [.stripe], at: Self.start) == true)
        let later = Self.start.advanced(by: 86_400_000)
        #expect(heard.take([:], of: [.stripe], at: later) == false)
        #expect(heard[.stripe] == Self.start)
        #expect(heard[.appStore] == nil)
    }

    @Test("What any server has heard counts, and is kept each five minutes")
    func heard() {
        var kept = HeardStores()
        _ = kept.take([:], of: [.stripe], at: Self.start)
        let soon = Self.start.advanced(by: 299_999)
        #expect(kept.take([.stripe: soon], of: [.stripe], at: soon) == false)
        let later = Self.start.advanced(by: 300_000)
        #expect(kept.take([.stripe: later], of: [.stripe], at: later) == true)
        // Another server has heard nothing since.
        #expect(kept.take([.stripe: soon], of: [.stripe], at: later) == false)
        #expect(kept[.stripe] == later)
    }

    @Test("What a clock noted that was ahead counts as now, and hides no silence")
    func ahead() {
        let tomorrow = Self.start.advanced(by: 86_400_000)
        var heard = HeardStores()
        #expect(heard.take([.stripe: tomorrow], of: [.stripe], at: Self.start) == true)
        #expect(heard[.stripe] == Self.start)
        // The kept time comes from a clock that was ahead.
        _ = heard.take([:], of: [.appStore], at: tomorrow)
        #expect(heard[.appStore] == tomorrow)
        #expect(heard.take([:], of: [.appStore], at: Self.start) == true)
        #expect(heard[.appStore] == Self.start)
    }
}
