import Testing
import TollgateCore

@Suite("Which lot was spent")
struct SpentLotsTests {
    @Test("spends draw from the oldest lot first")
    func oldestFirst() {
        let lots = SpentLots([("a", 100), ("b", 200), ("c", 50)], spent: 150)
        #expect(lots.share(of: "a") == 100_000)
        #expect(lots.share(of: "b") == 25_000)
        #expect(lots.share(of: "c") == 0)
    }

    @Test("a share is rounded down, and never more than all of it")
    func rounding() {
        #expect(SpentLots([("a", 3)], spent: 1).share(of: "a") == 33_333)
        #expect(SpentLots([("a", 3)], spent: 9).share(of: "a") == 100_000)
        let largest = SpentLots([("a", Int64.max)], spent: .max)
        #expect(largest.share(of: "a") == 100_000)
    }

    @Test("nothing is spent of what nobody spent, and no lot is in debt")
    func nothingSpent() {
        for spent in [0, -5] as [Int64] {
            let lots = SpentLots([("a", 100), ("b", -50)], spent: spent)
            #expect(lots.share(of: "a") == 0)
            #expect(lots.share(of: "b") == nil)
        }
        let debt = SpentLots([("a", -50), ("b", 100)], spent: 25)
        #expect(debt.share(of: "b") == 25_000)
    }

    @Test("a lot that was taken back, or is not there, has no share")
    func nothing() {
        let lots = SpentLots([("a", 0)], spent: 10)
        #expect(lots.share(of: "a") == nil)
        #expect(lots.share(of: "b") == nil)
    }
}
