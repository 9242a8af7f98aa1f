import Foundation
import Testing
import TollgateCore

@Suite("The newest statement")
struct NewestTests {
    static func statement(
        _ value: String,
        _ day: Double,
        read: Bool = false,
        _ source: String = "a"
    ) -> Newest<String> {
        Newest(value, stated: Stated(.day(day), isRead: read), source: source)
    }

    /// From the one that yields to all others to the one that yields to none: the later clock, then
    /// what was read, then the larger bytes, then the smaller name of the message.
    static let ordered = [
        statement("z", 0, "b"), statement("z", 0, "a"), statement("a", 1, "a"),
        statement("b", 1, "c"), statement("b", 1, "b"), statement("a", 1, read: true, "z"),
        statement("a", 1, read: true, "y"), statement("", 2, "z"),
    ]

    @Test("of any statements one stays, in whatever order they come and however often")
    func join() {
        for (index, winner) in Self.ordered.enumerated() {
            for other in Self.ordered[...index] {
                for pair in [[winner, other], [other, winner], [winner, other, winner]] {
                    #expect(Self.joined(pair) == winner, "\(pair)")
                }
            }
        }
        for order in permutations(Array(Self.ordered.suffix(6))) {
            #expect(Self.joined(order) == Self.ordered.last)
        }
    }

    private static func joined(_ statements: [Newest<String>]) -> Newest<String>? {
        statements.dropFirst().reduce(into: statements.first) { $0?.join($1) }
    }

    @Test("of many periods, invoices, refunds and claims none is lost", arguments: 1...20)
    func many(seed: Int) {
        var random = Seeded(UInt64(seed))
        let ids = (0..<17).map { String(UnicodeScalar(UInt8(97 + $0))) }
        let facts = ids.flatMap { id in
            [
                Fact.paid(id, 0, 30), .refund(id, 1, "succeeded", 0),
                .dispute(id, 1, "lost", 0), .invoice(id, 0), .claimed(id, .purchased, 0),
            ]
        }
        for record in World((facts + facts).shuffled(using: &random)).records {
            switch record.key {
            case .appStore():
                #expect(record.periods.map(\.period.id) == ids)
                #expect(record.claims.map(\.customer.rawValue) == ids)
            case .stripe("pi_1"):
                #expect(record.refunds.map(\.value.id) == ids)
                #expect(record.disputes.map(\.value.id) == ids)
            default: #expect(record.invoices.map(\.value.id) == ids)
            }
        }
    }
}
