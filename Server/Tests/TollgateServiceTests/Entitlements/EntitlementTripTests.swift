import Storage
import Stores
import Synchronization
import Testing
import TollgateAPI
import TollgateCore
import TollgateSimulation

@testable import TollgateService

/// On PostgreSQL each read by key is a trip to the database.
@Suite("How often an answer asks the database")
struct EntitlementTripTests {
    /// Counts reads by key; answers none without suspension, as PostgreSQL.
    private struct Counted: StorageDriver {
        let driver: any StorageDriver
        let reads = Counter()

        final class Counter: Sendable {
            private let count = Mutex(0)
            func add() { count.withLock { $0 += 1 } }
            func take() -> Int {
                count.withLock { count in
                    defer { count = 0 }; return count
                }
            }
        }

        var dialect: Dialect { driver.dialect }
        var commits: CommitSignal { driver.commits }

        func write<R: Sendable>(
            _ body: @escaping @Sendable (any StorageConnection) throws -> R
        ) async throws -> R {
            try await driver.write(body)
        }

        func read<R: Sendable>(
            _ body: @escaping @Sendable (any StorageConnection) throws -> R
        ) async throws -> R {
            try await driver.read(body)
        }

        func readNow(
            _ sql: String,
            _ parameters: [SQLValue]
        ) async throws(StorageError) -> [Row] {
            reads.add()
            return try await driver.readNow(sql, parameters)
        }

        func close() async { await driver.close() }
    }

    @Test("Once by our id where something was bought, else twice", arguments: Backend.allCases)
    func trips(_ backend: Backend) async throws {
        let driver = Counted(driver: try await backend.open())
        let records = try await RecordStore(driver)
        let catalog = Catalog(entitlements: [.init(lookupKey: "pro", name: "Pro")])
        try await records.adopt(catalog, at: Instant(milliseconds: 0))
        let clocks = Clocks(
            now: { Instant(milliseconds: 10) },
            wall: { Instant(milliseconds: 10) }
        )
        let entitlements = Entitlements(
            records: records,
            clocks: clocks,
            directory: CustomerDirectory(records: records),
            signer: AnswerSigner(),
            defaultEnvironment: .sandbox
        )
        for name in ["buyer", "visitor"] {
            let customer = API.Customer(
                id: "cus_tg_\(name)",
                appUserID: name,
                appAccountToken: "token-\(name)",
                created: 0
            )
            try await records.register(
                Profile(customer: customer),
                dedupeKey: RowKey("customer", name),
                at: Instant(milliseconds: 0)
            )
        }
        let key = Purchase.Key(
            store: .tollgate,
            environment: .sandbox,
            application: "-",
            id: "grant_1"
        )
        let grant = StaffGrant(
            customer: Customer.ID("cus_tg_buyer"),
            lookupKey: "pro",
            since: Instant(milliseconds: 1),
            until: nil
        )
        try await records.journal(
            Fact(
                purchase: key,
                source: "grant_1",
                stated: Stated(Instant(milliseconds: 1)),
                statement: .grant(grant)
            ),
            dedupeKey: RowKey("grant", "1")
        )
        for (name, holds, trips) in [
            ("cus_tg_buyer", ["pro"], 1), ("buyer", ["pro"], 2), ("cus_tg_visitor", [], 2),
            ("visitor", [], 2),
        ] as [(String, [String], Int)] {
            _ = driver.reads.take()
            let list = try await entitlements.active(of: name)
            #expect(list.data.map(\.lookupKey) == holds, "\(name)")
            #expect(driver.reads.take() == trips, "\(name)")
        }
        for name in ["cus_tg_nobody", "nobody"] {
            await #expect(throws: Refusal.self) { try await entitlements.active(of: name) }
            #expect(driver.reads.take() == 2, "\(name)")
        }
        await driver.close()
    }
}
