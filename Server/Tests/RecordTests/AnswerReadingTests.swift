import Testing
import TollgateCore
import TollgateSimulation

@testable import Storage

@Suite("A customer's answer, as it is kept")
struct AnswerReadingTests {
    private static let grounds: [Ground] = [.payment, .renewal, .status, .grace, .family, .grant]

    private static func answer(_ random: inout SplitMix64) -> CustomerAnswer {
        let holdings = (0..<Int.random(in: 0...4, using: &random)).map { index in
            let product = StoreProduct(.appStore, "com.example.app.\(index)")
            let since = Instant(
                milliseconds: Int64.random(in: -5...2_000_000_000_000, using: &random)
            )
            let interval = AccessInterval(
                product: product,
                since: since,
                until: Bool.random(using: &random) ? since.advanced(by: 86_400_000) : nil,
                ground: grounds[Int.random(in: grounds.indices, using: &random)],
                evidence: "e\(index)",
                stop: Bool.random(using: &random) ? since.advanced(by: 1) : nil,
                offer: (OfferKind.allCases + [nil]).randomElement(using: &random) ?? nil,
                lacksRenewalTerms: Bool.random(using: &random)
            )
            let pass = Pass(
                product: product,
                purchased: since,
                duration: Bool.random(using: &random) ? CalendarDuration(iso8601: "P30D") : nil,
                cut: Bool.random(using: &random) ? since : nil,
                evidence: "p\(index)"
            )
            let key = Purchase.Key(
                store: .appStore,
                environment: .sandbox,
                application: "com.example.app",
                id: "\(index)"
            )
            return CustomerAnswer.Holding(
                purchase: key,
                access: PurchaseAccess(intervals: [interval], passes: [pass])
            )
        }
        return CustomerAnswer(holdings: holdings)
    }

    @Test("What was written is read again", arguments: UInt64(1)...200)
    func same(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let answer = Self.answer(&random)
        #expect(try CustomerAnswer(reading: answer.bytes) == answer)
        #expect(throws: StorageError.self) { try CustomerAnswer(reading: answer.bytes + [0]) }
    }

    @Test("Another offer or unknown terms are the same access, another end is not")
    func sameAccess() {
        func bytes(
            until day: Int64 = 1,
            _ offer: OfferKind? = nil,
            lacksTerms: Bool = false
        ) -> [UInt8] {
            let interval = AccessInterval(
                product: StoreProduct(.appStore, "monthly"),
                since: Instant(milliseconds: 0),
                until: Instant(milliseconds: day),
                ground: .payment,
                evidence: "e",
                offer: offer,
                lacksRenewalTerms: lacksTerms
            )
            let key = Purchase.Key(
                store: .appStore,
                environment: .sandbox,
                application: "com.example.app",
                id: "1"
            )
            let access = PurchaseAccess(intervals: [interval])
            return CustomerAnswer(holdings: [.init(purchase: key, access: access)]).bytes
        }
        #expect(bytes() != bytes(.trial))
        #expect(CustomerAnswer.giveSameAccess(bytes(), bytes(.trial, lacksTerms: true)))
        #expect(!CustomerAnswer.giveSameAccess(bytes(), bytes(until: 2)))
        #expect(!CustomerAnswer.giveSameAccess(bytes(), CustomerAnswer.erasedBytes))
    }

    @Test("Damaged bytes are refused, never trapped on", arguments: UInt64(1)...200)
    func damaged(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var bytes = Self.answer(&random).bytes
        for _ in 0..<20 {
            let index = Int.random(in: bytes.indices, using: &random)
            bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            _ = try? CustomerAnswer(reading: bytes)
            _ = try? CustomerAnswer(reading: Array(bytes[..<index]))
        }
    }
}
