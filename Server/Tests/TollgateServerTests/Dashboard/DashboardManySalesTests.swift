import Dispatch
import Reports
import Storage
import Stores
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// What would take long is not done while somebody waits for a page.
@Suite("The dashboard with many sales")
struct DashboardManySalesTests {
    private static let reconciliation = "/dashboard/reconciliation"

    /// Six thousand sales of this month, as far as sums tell.
    private static func sellMuch(
        _ server: TestServer,
        isFree: Bool = false
    ) async throws {
        let today = Finance.Day(utc: await server.tollgate.clocks.now())
        try await server.tollgate.store.driver.write { connection in
            _ = try connection.execute(
                """
                INSERT INTO rollup (
                    environment, measure, grain, day, store, product, country, currency, offer,
                    app, detail, extra, items, units, amount
                ) VALUES (1, 1, $2, $1, 'app_store', '', '', 'USD', '', '', 0, 0, $3, 6000, 1)
                """,
                [
                    .integer(today.advanced(by: 1 - today.civil.day).number),
                    .integer(Rollup.Grain.monthTotal.rawValue), .integer(isFree ? 0 : 6000),
                ]
            )
        }
    }

    @Test("What cost nothing has to be looked at too")
    func free() async throws {
        try await TestServer.run { server in
            try await Self.sellMuch(server, isFree: true)
            let today = Finance.Day(utc: await server.tollgate.clocks.now())
            #expect(
                try await server.tollgate.accounts.salesToCompare(from: today, to: today) == 6000
            )
        }
    }

    @Test("They are compared when somebody asks, and what was found is shown from then on")
    func reconciliation() async throws {
        try await TestServer.run { server in
            _ = try await server.customerWithCoins()
            var viewer = try await server.staff(.viewer)
            var browser = try await server.staff(.support)
            let small = try await browser.open(Self.reconciliation)
            #expect(!small.text.contains("Compare now"))
            #expect(small.text.contains("What was compared"))

            try await Self.sellMuch(server)
            let before = try await browser.open(Self.reconciliation)
            #expect(before.status == 200)
            #expect(before.text.contains("About 6,00") && before.text.contains("Compare now"))
            #expect(!before.text.contains("What was compared"))

            // Asking anew is a form like all others, so no link and no reload does it.
            _ = try await browser.open("\(Self.reconciliation)?now=1")
            let forged = try await browser.open("\(Self.reconciliation)/compare", form: [:])
            #expect(forged.status == 403)
            #expect(try await server.tollgate.accounts.keptReconciliation(in: .sandbox) == nil)
            // It takes long, and replaces what everybody sees.
            #expect(try await !viewer.open(Self.reconciliation).text.contains("Compare now"))
            let now = try await browser.press("\(Self.reconciliation)/compare")
            #expect(now.text.contains("Compared on") && now.text.contains("What was compared"))
            let after = try await browser.open(Self.reconciliation)
            #expect(after.text.contains("Compared on"))
            #expect(after.text.contains("What was compared"))
            let file = try await browser.open("\(Self.reconciliation)?format=csv")
            #expect(file.text.hasPrefix("reason,"))
        }
    }

    /// How many have been answered.
    private final class Answers: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    private static func answer(
        to path: String,
        sentAsForm isForm: Bool = false,
        _ browser: StaffBrowser,
        _ answers: Answers
    ) async throws -> StaffBrowser.Page {
        defer { answers.add() }
        var browser = browser
        return try await isForm ? browser.press(path) : browser.open(path)
    }

    /// How many transactions wait until they may read sales.
    private static func waiters(_ server: TestServer) async -> Int64 {
        let rows = try? await server.tollgate.store.driver.readNow(
            """
            SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
            WHERE relation = CAST('figure' AS regclass) AND NOT granted
            AND datname = current_database()
            """,
            []
        )
        return (try? rows?.first?.int64(0)) ?? .max
    }

    @Test("All sales are read for two at a time; the next one is sent away, not made to wait")
    func fewAtOnce() async throws {
        try await TestServer.run(on: .postgres) { server in
            var signedIn = try await server.staff(.support)
            _ = try await signedIn.open("/dashboard/account")
            let browser = signedIn
            let answers = Answers()
            // Until the test lets go of them, sales can be read by nobody.
            let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
            let release = DispatchSemaphore(value: 0)
            async let holding: Void = server.tollgate.store.driver.write { connection in
                try connection.define("LOCK TABLE figure IN ACCESS EXCLUSIVE MODE")
                isHeld.finish()
                release.wait()
                release.signal()
            }
            for await _ in held {}

            async let statement = Self.answer(
                to: "/dashboard/statement?month=2026-06&format=csv",
                browser,
                answers
            )
            async let payments = Self.answer(
                to: "/dashboard/payments?format=csv",
                browser,
                answers
            )
            while await Self.waiters(server) < 2, answers.count == 0 {}
            let file = "\(Self.reconciliation)?format=csv"
            async let third = Self.answer(to: file, browser, answers)
            async let fourth = Self.answer(
                to: "\(Self.reconciliation)/compare",
                sentAsForm: true,
                browser,
                answers
            )
            // Both have their answer while the first two still wait for the sales.
            while await Self.waiters(server) < 3, answers.count < 2 {}
            release.signal()
            try await holding
            for page in [try await third, try await fourth] {
                #expect(page.status == 429 && page.text.contains("rate_limited"))
                #expect(page.words.contains("Try again in a minute"))
            }
            #expect(try await statement.status == 200)
            #expect(try await payments.status == 200)
            let log = try await server.tollgate.store.audit.entries(actor: "support@example.com")
            let compared = log.first { $0.action == "reconciliation.compare" }
            #expect(compared?.outcome == "refused: rate_limited")
            // Whoever is done makes room.
            #expect(try await Self.answer(to: file, browser, answers).status == 200)
        }
    }

    @Test("While figures are far behind the journal, or somebody compares, nothing is kept")
    func unfinished() async throws {
        try await TestServer.run { server in
            let tollgate = server.tollgate
            let today = Finance.Day(utc: await tollgate.clocks.now())
            func compare() async throws -> Accounts.KeptReconciliation? {
                try await tollgate.accounts.reconcileAndKeep(from: today, to: today, in: .sandbox)
            }
            func take(_ name: String, until: Int64) async throws {
                let now = tollgate.clocks.wall()
                let lease = Lease(
                    name: name,
                    holder: "another server",
                    until: now.advanced(by: until)
                )
                _ = try await tollgate.store.leases.take(lease, now: now)
            }
            _ = try await server.customerWithCoins()
            #expect(try await compare() != nil)
            try await take("reconciliation/sandbox", until: 60_000)
            #expect(try await compare() == nil)
            server.wall.advance(seconds: 61)
            try await take("figures", until: 60_000)
            let now = await tollgate.clocks.now()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<1_100 {
                    let name = RowKey("somebody", "\(number)")
                    let item = JournalItem(
                        dedupeKey: name,
                        subject: name,
                        kind: .command,
                        stated: now,
                        content: .register(
                            Registration(
                                customer: Customer.ID("c\(number)"),
                                aliases: [],
                                profile: []
                            )
                        )
                    )
                    group.addTask { _ = try await tollgate.store.submit(item) }
                }
                try await group.waitForAll()
            }
            #expect(try await compare() == nil)
            server.wall.advance(seconds: 61)
            // Nobody holds the figures up any more, but they are as far behind until they go on.
            #expect(try await compare() == nil)
            while try await !tollgate.figures.followOnce() {}
            #expect(try await compare() != nil)
        }
    }

    @Test("The newest payments are shown without the stores' reports")
    func payments() async throws {
        try await TestServer.run { server in
            let customer = try await server.customerWithCoins()
            while try await !server.tollgate.figures.followOnce() {}
            var browser = try await server.staff(.viewer)
            let small = try await browser.open("/dashboard/payments")
            try await Self.sellMuch(server)
            let many = try await browser.open("/dashboard/payments")
            #expect(many.status == 200 && many.text.contains("There are many payments"))
            let link = "/dashboard/customers/\(customer)"
            #expect(small.text.contains(link) && many.text.contains(link))
            #expect(!small.text.contains("There are many payments"))
        }
    }
}
