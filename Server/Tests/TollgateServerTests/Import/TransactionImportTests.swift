import AppStoreSimulator
import AppStoreAPI
import AppStoreConnector
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// A team that comes from a hosted service has no receipts, but transaction ids.
@Suite("Importing App Store customers by transaction ids")
struct TransactionImportTests {
    /// Without notifications: only the import says what was bought.
    static func setup() -> AppStoreWorld.Setup {
        var setup = AppStoreWorld.Setup()
        setup.notifies = false
        return setup
    }

    static func run(
        _ lines: [String],
        _ world: AppStoreWorld,
        file: String = "file"
    ) async throws -> ReceiptImport.Report {
        var rest = lines[...]
        let report = try await world.tollgate.receiptImport(file: file).run {
            rest.popFirst().map { Array($0.utf8) }
        }
        return try #require(report)
    }

    @Test(
        "Any transaction leads to the full history, without consumables, and repeating changes nothing",
        arguments: Backend.allCases
    )
    func fullHistory(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend, Self.setup()) { world in
            let buyer = try await world.appStore.createCustomer().id
            let coins = try await world.appStore.buy(AppStoreWorld.coins, customer: buyer)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            await world.pass(days: 10)
            // The columns stand in any order.
            let lines = ["transaction_id,app_user_id", "\(coins.transactionID),anna"]
            let report = try await Self.run(lines, world)
            #expect(report.customers == 1 && report.purchases == 2)
            #expect(report.new >= 3, "two weeks and for ever")
            #expect(report.unmatched.isEmpty)
            #expect(try await world.isEntitled("anna"))
            #expect(try await world.isEntitled("anna", "archive"))
            let id = try await world.customer("anna").id
            #expect(try await world.balance(id) == 0, "old coins were credited elsewhere")
            let rows = try await world.count("journal")
            #expect(try await Self.run(lines, world) == report, "it was done, and says so again")
            #expect(try await Self.run(lines, world, file: "another").new == 0)
            #expect(try await world.count("journal") == rows)
            #expect(try await world.isRebuilt())
        }
    }

    @Test("A run that was broken off goes on, and still knows its heading")
    func interruption() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            var lines = ["app_user_id,transaction_id"]
            for number in 0..<20 {
                let buyer = try await world.appStore.createCustomer().id
                let bought = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
                lines.append("old-\(number),\(bought.transactionID)")
            }
            world.calls.fail(Set(20..<60))
            await #expect(throws: AppStore.ServerAPIError.self) {
                _ = try await Self.run(lines, world)
            }
            world.calls.fail([])
            world.calls.forget()
            #expect(try await Self.run(lines, world).customers == 20)
            for number in 0..<20 { #expect(try await world.isEntitled("old-\(number)")) }
            #expect(world.calls.all.count < 20 * 2, "whoever was done was asked about again")
        }
    }

    @Test("A line that leads to nothing is named with its number and the reason")
    func badLines() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            let buyer = try await world.appStore.createCustomer().id
            let bought = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            let other = try await world.appStore.createCustomer().id
            let coins = try await world.appStore.buy(AppStoreWorld.coins, customer: other)
            let id = bought.transactionID
            let report = try await Self.run(
                [
                    "app_user_id,transaction_id",
                    #"{"app_user_id":"anna","transaction_id":"\#(id)"}"#, "ben,../v1/history",
                    "carl",
                    "dora,999", "eve,\(coins.transactionID)",
                    #"{"app_user_id":"gina","transaction_id":"\#(id)","bundle_id":"com.example.no"}"#,
                ],
                world
            )
            #expect(report.customers == 1)
            #expect(report.unmatched.map(\.line) == [3, 4, 5, 6, 7])
            let reasons = report.unmatched.map(\.reason)
            for (reason, part) in zip(
                reasons,
                [
                    "no transaction id", "app_user_id,transaction_id", "knows no transaction",
                    "only consumables", "",
                ]
            ) {
                #expect(part.isEmpty || reason.contains(part), "\(reason)")
            }
            await world.pass(days: 0.01)
            let second = try await Self.run(
                ["app_user_id,transaction_id", "frank,\(id)"],
                world,
                file: "another"
            )
            let reason = second.unmatched.first?.reason ?? ""
            #expect(reason.contains("belongs to another customer"), "\(second)")
            #expect(try await world.isEntitled("anna", "archive"))
            #expect(try await !world.isEntitled("frank", "archive"))
        }
    }

    @Test("A last line over which Apple fails for ever is listed, and the import ends")
    func lastLine() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            world.calls.refuse(["/history/"], with: 5_000_000)
            let report = try await Self.run(
                ["app_user_id,transaction_id", "anna,450000100000001"],
                world
            )
            #expect(report.unmatched.map(\.line) == [2])
            #expect(
                report.unmatched.first?.reason.hasSuffix("import this line again later") == true
            )
        }
    }

    @Test("Transaction ids without a heading are not taken for receipts")
    func noHeading() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            let report = try await Self.run(["anna,450000100000001"], world)
            #expect(report.customers == 0)
            let reason = try #require(report.unmatched.first?.reason)
            #expect(reason.contains("app_user_id,transaction_id"), "\(reason)")
        }
    }
}
