import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Rebuild")
struct RebuildTests {
    /// A history in which everything happens, on few names so that they meet.
    static func history(seed: UInt64, count: Int) -> [JournalItem] {
        var random = SplitMix64(seed: seed)
        func chance(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        return (0..<count).map { number in
            let id = "\(chance(12))"
            let name = "\(chance(6))"
            let day = Double(chance(100))
            let token: String? = chance(3) == 0 ? nil : name
            let key = Purchase.Key.appStore(id)
            let environment: StoreEnvironment = chance(5) == 0 ? .sandbox : .production
            switch chance(16) {
            case 0:
                return .register("c\(name)", .token(name), number: number)
            case 1:
                return .register(
                    "c\(name)",
                    .stripeCustomer("cus_\(name)"),
                    .reference("user_\(name)"),
                    number: number
                )
            case 2, 3:
                return .message(
                    "\(number)",
                    .month(
                        Double(chance(4) * 30),
                        of: id,
                        token: token,
                        said: day,
                        in: environment
                    ),
                    .said(
                        .renewal(RenewalTerms(willRenew: chance(2) == 0)),
                        on: day,
                        about: .appStore(id, environment)
                    )
                )
            case 4:
                return .message(
                    "\(number)",
                    .bought(
                        ["coins", "pass", "novelty"][chance(3)],
                        [Period.Kind.consumable, .nonRenewing][chance(2)],
                        "n\(id)",
                        on: day,
                        token: token,
                        revoked: chance(4) == 0 ? day + 1 : nil,
                        in: environment
                    )
                )
            case 5:
                return .message(
                    "\(number)",
                    .claimed(
                        "c\(name)",
                        [.purchased, .restored, .observed][chance(3)],
                        day,
                        key
                    )
                )
            case 6, 7:
                return .message(
                    "\(number)",
                    .checkout(
                        "pi_\(id)",
                        customer: chance(3) == 0 ? nil : "cus_\(name)",
                        on: day,
                        reference: chance(3) == 0 ? nil : "user_\(name)"
                    )
                )
            case 8:
                return .message(
                    "\(number)",
                    .refund(
                        Int64(chance(1200)),
                        of: "pi_\(id)",
                        ["pending", "succeeded", "failed"][chance(3)],
                        on: day
                    )
                )
            case 9: return .message("nothing \(number)")
            case 10: return .message("\(chance(40))", .month(0, of: id))
            case 11, 12: return .message("\(number)", googlePlay(chance(12), token, day, chance))
            case 13:
                let void = GooglePlayVoid(order: "GPA.\(chance(4))", at: .day(day))
                return .message(
                    "\(number)",
                    .said(.googlePlayVoid(void), on: day, about: .play("\(chance(12))"))
                )
            default:
                return .spend(
                    "c\(name)",
                    Int64(chance(120)),
                    key: "\(chance(60))",
                    in: environment
                )
            }
        }
    }

    /// A read of one of twelve tokens, in four chains of three.
    private static func googlePlay(
        _ number: Int,
        _ account: String?,
        _ day: Double,
        _ chance: (Int) -> Int
    ) -> Fact {
        .play(
            "\(number)",
            from: Double(number * 5),
            order: "GPA.\(chance(4))",
            linked: number % 3 == 0 ? nil : "\(number - 1)",
            account: account,
            state: ["ACTIVE", "CANCELED", "ON_HOLD", "EXPIRED"][chance(4)],
            product: ["premium", "novelty"][chance(2)],
            said: day
        )
    }

    @Test(
        "what was derived is derived again to the same bytes",
        arguments: Backend.allCases,
        UInt64(1)...3
    )
    func identical(_ backend: Backend, seed: UInt64) async throws {
        let store = try await RecordStore.open(backend)
        var random = SplitMix64(seed: seed)
        var rest = Self.history(seed: seed, count: 300)[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 1...25, using: &random))
            rest = rest.dropFirst(chunk.count)
            let isLate = rest.count < 150
            async let adopted: Void =
                isLate ? store.adopt(Shop.nextCatalog, at: .day(30)) : ()
            try await store.submitTogether(Array(chunk))
            try await adopted
        }
        let report = try await store.rebuilt()
        #expect(report.isIdentical, "\(report.differences)")
        #expect(report.replayed > 200)
        #expect(report.digests.allSatisfy { $0.rows > 0 })
    }

    @Test(
        "a derived row that was tampered with is found",
        arguments: Backend.allCases,
        [
            "UPDATE customer SET balance = balance + 1 WHERE sequence > 0",
            "UPDATE customer SET answer = purchase.record FROM purchase WHERE sequence > 0",
            "UPDATE purchase SET record = posted WHERE posted IS NOT NULL",
            "UPDATE transfer SET amount = amount + 1",
            "DELETE FROM holding",
            "DELETE FROM alias",
        ]
    )
    func tampered(_ backend: Backend, sql: String) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        #expect(try await store.rebuilt().differences.map(\.table) == [])
        try await store.driver.write { connection in _ = try connection.execute(sql) }
        let report = try await store.rebuilt()
        #expect(report.differences.count == 1)
    }
}
