import Foundation
import Testing
import TollgateCore

@Suite("Instants and identifiers")
struct InstantTests {
    @Test(
        "an instant is written in UTC, to the second",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (999, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"), (-86_400_000, "1969-12-31T00:00:00Z"),
            (-62_162_035_200_000, "0-03-01T00:00:00Z"),
            (-62_162_035_200_001, "0-02-29T23:59:59Z"),
        ]
    )
    func description(milliseconds: Int64, text: String) {
        #expect(Instant(milliseconds: milliseconds).description == text)
    }

    @Test("every day of eight centuries is called as Foundation calls it")
    func agreesWithFoundation() {
        let formatter = ISO8601DateFormatter()
        // 29 February and its neighbours too, in years that have it and in years that have not.
        let leaps = [-25_509, 11_016, 11_017, 47_541, 47_540, 157_113, 157_112, 157_114].map(
            Int64.init
        )
        for day in Array(stride(from: Int64(-62_091), to: 230_000, by: 97)) + leaps {
            for time in [0, 36_610, 86_399] as [Int64] {
                let seconds = day * 86_400 + time
                let date = Date(timeIntervalSince1970: Double(seconds))
                #expect(Instant(seconds: seconds).description == formatter.string(from: date))
            }
        }
    }

    @Test(
        "a day is one that the calendar has, in the years 1 to 9999",
        arguments: [
            (1, 1, 1, true), (9999, 12, 31, true), (2024, 2, 29, true), (2000, 2, 29, true),
            (2025, 2, 29, false), (1900, 2, 29, false), (2025, 4, 31, false),
            (0, 12, 31, false), (10_000, 1, 1, false), (2025, 0, 1, false), (2025, 13, 1, false),
            (2025, 1, 0, false), (2025, 1, 32, false), (.max, 1, 1, false), (.min, 1, 1, false),
            (2025, .max, 1, false), (2025, .min, 1, false), (2025, 1, .max, false),
            (2025, 1, .min, false),
        ] as [(Int64, Int64, Int64, Bool)]
    )
    func day(year: Int64, month: Int64, day: Int64, isThere: Bool) {
        let checked = CivilDay(checking: year, month: month, day: day)
        #expect(checked == (isThere ? CivilDay(year: year, month: month, day: day) : nil))
    }

    @Test("arithmetic ends at the last instant that there is, and does not trap")
    func saturation() {
        let (first, last) = (Instant(milliseconds: .min), Instant(milliseconds: .max))
        #expect(last.advanced(by: 1) == last && last.advanced(by: -1) < last)
        #expect(first.advanced(by: -1) == first && first < first.advanced(by: 1))
        #expect(Instant(seconds: .max) == last && Instant(seconds: .min) == first)
        #expect(Instant(seconds: -2) == Instant(milliseconds: -2000))
    }

    @Test("nothing comes before itself")
    func irreflexive() {
        let (early, late) = (Instant(milliseconds: 1), Instant(milliseconds: 2))
        #expect(early < late && !(late < early) && !(early < early))
        let (ann, bob) = (Customer.ID("ann"), Customer.ID("bob"))
        #expect(ann < bob && !(bob < ann) && !(ann < ann))
    }

    @Test("a read beats the messages of its own second, and no later one")
    func clocks() {
        let clocks = [
            Stated(.day(0)), Stated(.day(0), isRead: true), Stated(.day(0, plus: 1)),
            Stated(.day(0, plus: 1), isRead: true),
        ]
        for (i, left) in clocks.enumerated() {
            for (j, right) in clocks.enumerated() { #expect((left < right) == (i < j)) }
        }
        #expect(!Stated(.day(0)).isRead)
    }

    @Test("an identifier is coded as a bare text, also as a key")
    func identifiers() throws {
        let ids = [Customer.ID("ann"): Customer.ID("bob")]
        let json = try JSONEncoder().encode(ids)
        #expect(String(decoding: json, as: UTF8.self) == #"{"ann":"bob"}"#)
        #expect(try JSONDecoder().decode([Customer.ID: Customer.ID].self, from: json) == ids)
        #expect("\(Customer.ID("ann"))" == "ann")
    }

    @Test("what stores sell is in order of the store, then of the id")
    func products() {
        let ordered = [
            StoreProduct(.appStore, "b"), StoreProduct(.stripe, "a"), StoreProduct(.stripe, "b"),
            StoreProduct(.tollgate, "a"),
        ]
        #expect(ordered.reversed().sorted() == ordered)
        #expect(!(ordered[0] < ordered[0]))
    }

    @Test("only the App Store's purchases may be Xcode's, whatever another store calls its own")
    func xcode() {
        #expect(Purchase.Key.appStore("xcode-1").isOfXcode)
        #expect(!Purchase.Key.appStore("1").isOfXcode)
        for key in [Purchase.Key.play("xcode-1"), .stripe("xcode-1"), .free("xcode-1")] {
            #expect(!key.isOfXcode)
        }
    }

    @Test("a purchase's key is one line of text that is read back")
    func keys() {
        let key = Purchase.Key(
            store: .appStore,
            environment: .sandbox,
            application: "com.example.app",
            id: "odd/id"
        )
        #expect(key.canonical == "app_store/sandbox/com.example.app/odd/id")
        #expect(Purchase.Key(canonical: key.canonical) == key)
        for text in [
            "", "app_store/sandbox/com.example.app", "appstore/sandbox/app/1",
            "app_store/beta/app/1",
        ] {
            #expect(Purchase.Key(canonical: text) == nil, "\(text)")
        }
        let others: [Purchase.Key] = [.appStore("1"), .appStore("2"), .stripe("1")]
        #expect(others.reversed().sorted() == others)
        #expect(!(key < key))
        for text in ["", "customer", "friend:1", "unclaimed:nobody"] {
            #expect(Holder(canonical: text) == nil, "\(text)")
        }
    }
}
