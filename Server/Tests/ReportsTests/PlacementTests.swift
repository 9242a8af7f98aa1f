import Foundation
import Reports
import Storage
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("What customers bought after they saw a placement")
struct PlacementTests {
    /// One customer: what they saw on which day, and the facts of each of their purchases.
    typealias Person = (seen: [(String, String, Double)], purchases: [[Fact]])

    /// A history and the lines of its report, which covers the days 0 to 59.
    struct Story: CustomTestStringConvertible {
        var testDescription: String
        var people: [Person]
        var filters = Reports.Filters()
        var lines: [String]
    }

    /// Coins for 10.00 USD.
    private static func coins(
        _ id: String,
        on day: Double,
        refunds: [(amount: Int64, day: Double)] = []
    ) -> [Fact] {
        [.checkout(id, amount: 1_000, on: day)]
            + refunds.enumerated().map { number, refund in
                .refund("re_\(id)_\(number)", of: id, amount: refund.amount, on: refund.day)
            }
    }

    /// Saw the first variant of the paywall on a day.
    private static func saw(_ day: Double, _ purchases: [Fact]...) -> Person {
        ([("paywall", "standard", day)], purchases)
    }

    // placement, offering, currency, customers, bought, conversion, open, net, net per customer
    static let counted: [Story] = [
        Story(
            testDescription: "one of two customers bought",
            people: [saw(5, coins("a", on: 6)), saw(5)],
            lines: ["paywall,standard,USD,2,1,0.500000,0,10.000,5.000"]
        ),
        Story(
            testDescription: "a purchase before the showing is none",
            people: [saw(5, coins("a", on: 4.99))],
            lines: ["paywall,standard,,1,0,0.000000,0,,"]
        ),
        Story(
            testDescription: "a purchase in the same instant counts, and one within the 30th day",
            people: [saw(5, coins("a", on: 5)), saw(5, coins("b", on: 34.99))],
            lines: ["paywall,standard,USD,2,2,1.000000,0,20.000,10.000"]
        ),
        Story(
            testDescription: "a purchase after exactly 30 days is none, nor is one after 31",
            people: [saw(5, coins("a", on: 35)), saw(5, coins("b", on: 36))],
            lines: ["paywall,standard,,2,0,0.000000,0,,"]
        ),
        Story(
            testDescription: "a refund takes the money back, not the purchase",
            people: [
                saw(5, coins("a", on: 6, refunds: [(400, 8)])),
                saw(5, coins("b", on: 6, refunds: [(1_000, 9)])),
            ],
            lines: ["paywall,standard,USD,2,2,1.000000,0,6.000,3.000"]
        ),
        Story(
            testDescription: "a refund after the 30 days does not count",
            people: [saw(5, coins("a", on: 6, refunds: [(1_000, 40)]))],
            lines: ["paywall,standard,USD,1,1,1.000000,0,10.000,10.000"]
        ),
        Story(
            testDescription: "a refund of what was bought before does not count",
            people: [saw(5, coins("a", on: 4, refunds: [(1_000, 6)]))],
            lines: ["paywall,standard,,1,0,0.000000,0,,"]
        ),
        Story(
            testDescription: "several purchases are one customer who bought",
            people: [saw(5, coins("a", on: 6), coins("b", on: 7)), saw(5), saw(5), saw(5)],
            lines: ["paywall,standard,USD,4,1,0.250000,0,20.000,5.000"]
        ),
        Story(
            testDescription: "a free trial counts once it is paid for",
            people: [
                saw(5, [.period("t1", of: "1", from: 6, to: 13, trial: true)]),
                saw(
                    5,
                    [
                        .period("t2", of: "2", from: 6, to: 13, trial: true, currency: "USD"),
                        .period("a2", of: "2", from: 13, to: 43, currency: "USD"),
                        .period("b2", of: "2", from: 43, to: 73, currency: "USD"),
                    ]
                ),
            ],
            lines: ["paywall,standard,USD,2,1,0.500000,0,9.990,4.995"]
        ),
    ]

    static let variants: [Story] = [
        Story(
            testDescription: "who saw two variants counts for the first one",
            people: [
                (
                    [("paywall", "lifetime", 7), ("paywall", "standard", 5)],
                    [coins("a", on: 8)]
                ), ([("paywall", "lifetime", 5), ("paywall", "standard", 7)], []),
            ],
            lines: [
                "paywall,lifetime,,1,0,0.000000,0,,",
                "paywall,standard,USD,1,1,1.000000,0,10.000,10.000",
            ]
        ),
        Story(
            testDescription: "who saw the first variant before the range counts for none",
            people: [([("paywall", "standard", -1), ("paywall", "lifetime", 5)], [])],
            lines: []
        ),
        Story(
            testDescription: "each placement counts for itself",
            people: [
                ([("paywall", "standard", 5), ("settings", "gift", 7)], [coins("a", on: 6)])
            ],
            lines: [
                "paywall,standard,USD,1,1,1.000000,0,10.000,10.000",
                "settings,gift,,1,0,0.000000,0,,",
            ]
        ),
        Story(
            testDescription: "each currency has a row, with the same counts",
            people: [
                saw(5, coins("a", on: 6), [.period("p", of: "1", from: 7, to: 37)]), saw(5),
            ],
            lines: [
                "paywall,standard,JPY,2,1,0.500000,0,9.990,4.995",
                "paywall,standard,USD,2,1,0.500000,0,10.000,5.000",
            ]
        ),
        Story(
            testDescription: "whose 30 days end after the last day is still open",
            people: [
                saw(30, coins("a", on: 31)), saw(30.01, coins("b", on: 31)),
                saw(40, coins("c", on: 60)), saw(59.9), saw(60, coins("d", on: 60)),
            ],
            lines: ["paywall,standard,USD,4,2,0.500000,3,20.000,5.000"]
        ),
        Story(
            testDescription: "a filter chooses purchases, not customers",
            people: [
                saw(5, coins("a", on: 6)), saw(5, [.period("p", of: "1", from: 7, to: 37)]),
            ],
            filters: Reports.Filters(store: .appStore),
            lines: ["paywall,standard,JPY,2,1,0.500000,0,9.990,4.995"]
        ),
    ]

    private static func request(_ filters: Reports.Filters = .init()) -> Reports.Request {
        Reports.Request(
            .placements,
            from: .story(0),
            to: .story(59),
            by: .day,
            filters: filters,
            environment: .production,
            today: .story(100),
            terms: Shop.terms()
        )
    }

    /// The lines of a report without its head.
    private static func lines(
        _ request: Reports.Request,
        _ material: Reports.Material
    ) throws -> [String] {
        try Reports.table(request, from: material).csv.split(separator: "\r\n").dropFirst()
            .map(String.init)
    }

    @Test("Stories", arguments: counted + variants, UInt64(1)...3)
    func story(_ story: Story, _ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let request = Self.request(story.filters)
        var material = Reports.Material()
        for person in story.people.shuffled(using: &random) {
            let sales = person.purchases.flatMap { facts -> [Reports.Sale] in
                facts.first.map { Shop.rows(Purchase(key: $0.purchase, joining: facts)).sales }
                    ?? []
            }
            material.placements.add(
                person.seen.shuffled(using: &random).map {
                    Reports.Showing(placement: $0.0, offering: $0.1, at: .day($0.2))
                },
                sales.shuffled(using: &random),
                request
            )
        }
        #expect(try Self.lines(request, material) == story.lines)
    }

    // MARK: - From the journal

    /// Ann and Dan see two variants each, Ben one before sessions' environments were kept, and Cyd
    /// one in the sandbox; Ann buys.
    private static let journal: [JournalItem] = [
        .registered("ann", token: "a"), .registered("ben", token: "b"),
        .registered("cyd", token: "c"),
        .shown("ann", "standard", "production", on: 1), .shown("ben", "lifetime", nil, on: 2),
        .message(1, .period("p", of: "1", from: 2, to: 32, token: "a")),
        .shown("ann", "lifetime", "production", on: 3),
        .shown("cyd", "standard", "sandbox", on: 2),
        .shown("dan", "lifetime", "production", on: 4),
        .shown("dan", "standard", "production", on: 4.5),
        .message(2, .period("q", of: "2", from: 3, to: 33, price: 4_990, token: "b")),
    ]

    @Test(
        "figures are those of the journal, in pages of whatever size, and an erasure removes them",
        arguments: Backend.allCases
    )
    func derived(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalog, at: .day(-1000))
        let derivation = FigureDerivation(store, rows: Tollgate.storeRows)
        for item in Self.journal {
            _ = try await store.submit(item)
            _ = try await derivation.follow(limit: 1, now: .day(0))
        }
        try await derivation.followToTheEnd(now: .day(0))
        let ben = "paywall,lifetime,JPY,2,1,0.500000,0,4.990,2.495"
        try await Self.expect(
            store,
            [ben, "paywall,standard,JPY,1,1,1.000000,0,9.990,9.990"],
            sandbox: ["paywall,lifetime,,1,0,0.000000,0,,", "paywall,standard,,1,0,0.000000,0,,"]
        )
        #expect(try await Self.shown(store) == 7)
        for customer in ["ann", "cyd"] {
            _ = try await store.submit(.erased(customer))
        }
        try await derivation.followToTheEnd(now: .day(0))
        try await Self.expect(store, [ben], sandbox: ["paywall,lifetime,,1,0,0.000000,0,,"])
        #expect(try await Self.shown(store) == 4)
        await store.driver.close()
    }

    /// Expects lines, the same in pages of any size, after a new derivation and after a rebuild.
    private static func expect(
        _ store: RecordStore,
        _ production: [String],
        sandbox: [String]
    ) async throws {
        var request = request()
        for (environment, expected) in [
            (StoreEnvironment.production, production), (.sandbox, sandbox),
        ] {
            request.environment = environment
            let material = try await store.material(of: request)
            #expect(try lines(request, material) == expected)
            for size: Int64 in 1...3 {
                let paged = try await store.placements(request, pages: size)
                #expect(paged == material.placements, "pages of \(size)")
            }
        }
        let followed = try await DerivationTests.contents(store)
        try await store.figures.dropAll()
        try await FigureDerivation(store, rows: Tollgate.storeRows).followToTheEnd(now: .day(0))
        #expect(try await DerivationTests.contents(store) == followed)
        let scratch = try Backend.sqlite.makeDatabase().open()
        let report = try await Rebuild(of: store.driver, into: scratch) { rebuilt in
            try await FigureDerivation(rebuilt, rows: Tollgate.storeRows).followToTheEnd(
                now: .day(0)
            )
        }.verify()
        #expect(report.isIdentical, "\(report.differences)")
        await scratch.close()
    }

    /// How many figures of showings there are.
    private static func shown(_ store: RecordStore) async throws -> Int64? {
        let rows = try await store.driver.readNow("SELECT count(*) FROM figure WHERE kind = 4", [])
        return try rows.first?.int64(0)
    }
}

extension JournalItem {
    fileprivate static func registered(_ customer: String, token: String) -> JournalItem {
        let id = Customer.ID(customer)
        return JournalItem(
            dedupeKey: RowKey("register", customer),
            subject: RecordStore.subject(of: id),
            kind: .command,
            stated: .day(0),
            content: .register(Registration(customer: id, aliases: [.token(token)], profile: [1]))
        )
    }

    /// The bytes are written here by hand: rows of the journal stay as they are.
    fileprivate static func shown(
        _ customer: String,
        _ offering: String,
        _ environment: String?,
        on day: Double
    ) -> JournalItem {
        let more = environment.map { #""environment":"\#($0)","# } ?? ""
        let body = #"{\#(more)"offering":"\#(offering)","placement":"paywall"}"#
        return .message(
            dedupeKey: RowKey("shown", customer, offering),
            subject: RecordStore.subject(of: Customer.ID(customer)),
            kind: .command,
            stated: .day(day),
            facts: [],
            received: Array(body.utf8)
        )
    }

    fileprivate static func erased(_ customer: String) -> JournalItem {
        let id = Customer.ID(customer)
        return JournalItem(
            dedupeKey: RowKey("erase", customer),
            subject: RecordStore.subject(of: id),
            kind: .command,
            stated: .day(60),
            content: .erase(id)
        )
    }
}
