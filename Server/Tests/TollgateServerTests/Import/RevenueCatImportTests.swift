import AppStoreAPI
import AppStoreSimulator
import Foundation
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Importing from RevenueCat")
struct RevenueCatImportTests {
    /// In production, as exports are; without notifications, so that only the import says what was bought.
    static func setup() -> AppStoreWorld.Setup {
        var setup = AppStoreWorld.Setup()
        setup.environment = .production
        setup.notifies = false
        return setup
    }

    private static func file() -> RevenueCatFile { RevenueCatFile(origin: AppStoreWorld.start) }

    /// Buys for somebody whom no account token names, as apps of before did.
    private static func buy(
        _ product: String,
        _ world: AppStoreWorld,
        for buyer: String? = nil
    ) async throws -> String {
        var buyer = buyer
        if buyer == nil { buyer = try await world.appStore.createCustomer().id }
        return try await world.appStore.buy(product, customer: buyer ?? "").transactionID
    }

    // MARK: - Who has what

    @Test(
        "Customers have what Apple says they bought, no coins, and repeating changes nothing",
        arguments: Backend.allCases
    )
    func appStore(_ backend: Backend) async throws {
        var setup = Self.setup()
        setup.coinsSince = Instant(milliseconds: AppStoreWorld.start + 5 * AppStoreWorld.day)
        try await AppStoreWorld.run(on: backend, setup) { world in
            let buyer = try await world.appStore.createCustomer().id
            let plan = try await Self.buy(AppStoreWorld.weekly, world, for: buyer)
            let lifetime = try await Self.buy(AppStoreWorld.lifetime, world, for: buyer)
            let coins = try await Self.buy(AppStoreWorld.coins, world, for: buyer)
            // A plan that credits coins for each period.
            let yearly = try await Self.buy(AppStoreWorld.yearly, world)
            await world.pass(days: 10)
            var file = Self.file()
            file.add(AppStoreWorld.weekly, plan, of: "anna", ends: 7)
            file.add(AppStoreWorld.weekly, "1", of: "anna", original: plan, starts: 7, ends: 14)
            file.add(AppStoreWorld.lifetime, lifetime, of: "anna", ends: nil)
            file.add(AppStoreWorld.coins, coins, of: "anna", ends: nil, unlocks: [])
            // The app's own id is the newer of the two.
            let anonymous = "$RCAnonymousID:87c6049c58069238dce29853916d624c"
            file.add(
                AppStoreWorld.yearly,
                yearly,
                of: "ben",
                originalUser: anonymous,
                ends: 365
            )
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.rows == 5 && report.customers == 2)
            #expect(report.purchases == 3 && report.consumables == 1)
            #expect(report.unmatched.isEmpty && report.differences.isEmpty)
            #expect(!report.lacksCoinsSince)
            #expect(try await world.isEntitled("anna"))
            #expect(try await world.isEntitled("anna", "archive"))
            #expect(try await world.isEntitled("ben"))
            #expect(try await world.isEntitled("ben", "archive"))
            for user in ["anna", "ben"] {
                let id = try await world.customer(user).id
                #expect(try await world.balance(id) == 0, "\(user)")
            }
            let rows = try await world.count("journal")
            let again = try #require(try await file.bringIn(to: world.tollgate))
            #expect(again.purchases == 3 && again.new == 0)
            #expect(try await world.count("journal") == rows)
            #expect(try await world.isRebuilt())
        }
    }

    @Test("One answer of Apple's says what a customer bought, so Apple is asked once for all of it")
    func oneQuestion() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            let buyer = try await world.appStore.createCustomer().id
            var file = Self.file()
            let plan = try await Self.buy(AppStoreWorld.weekly, world, for: buyer)
            let lifetime = try await Self.buy(AppStoreWorld.lifetime, world, for: buyer)
            file.add(AppStoreWorld.weekly, plan, of: "anna", ends: 7)
            for number in 0..<8 {
                let id = try await Self.buy(AppStoreWorld.weekly, world)
                file.add(AppStoreWorld.weekly, id, of: "user-\(number)", ends: 7)
            }
            file.add(AppStoreWorld.lifetime, lifetime, of: "anna", ends: nil)
            world.calls.forget()
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.purchases == 10)
            #expect(world.calls.all.filter { $0.contains("/history/") }.count == 9)
        }
    }

    @Test("A purchase of a customer who is here already stays theirs, and the line says so")
    func owners() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            let (id, buyer) = try await world.customer("owner")
            let lifetime = try await Self.buy(AppStoreWorld.lifetime, world, for: buyer)
            try await world.show(lifetime, .purchased, by: id)
            var file = Self.file()
            file.add(AppStoreWorld.lifetime, lifetime, of: "anna", ends: nil)
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.unmatched.map(\.line) == [2])
            #expect(report.unmatched.first?.reason.contains("belongs to another customer") == true)
            #expect(report.differences.map(\.appUserID) == ["anna"])
            #expect(try await world.isEntitled(id, "archive"))
            #expect(try await !world.isEntitled("anna", "archive"))
        }
    }

    @Test(
        "A user id that is a UUID is the account token too: old apps' purchases find their customer"
    )
    func accountTokens() async throws {
        var setup = Self.setup()
        setup.notifies = true
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let user = UUID().uuidString
            let buyer = try await world.appStore.createCustomer(
                appAccountToken: user.lowercased()
            ).id
            let plan = try await Self.buy(AppStoreWorld.weekly, world, for: buyer)
            var file = Self.file()
            file.add(AppStoreWorld.weekly, plan, of: user, ends: 7)
            _ = try await file.bringIn(to: world.tollgate)
            // The app of before, which knows nothing of this server, sells on.
            _ = try await Self.buy(AppStoreWorld.lifetime, world, for: buyer)
            #expect(try await world.isEntitled(user, "archive"))
        }
    }

    // MARK: - What is left out

    @Test("Each row that comes to nothing is counted, or named with its line")
    func leftOut() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            var file = Self.file()
            let anonymous = "$RCAnonymousID:87c6049c58069238dce29853916d624c"
            file.add(AppStoreWorld.lifetime, "1", of: anonymous, ends: nil)
            file.add(AppStoreWorld.weekly, "2", of: anonymous, ends: -1)
            file.add(AppStoreWorld.lifetime, "3", of: "tester", ends: nil, isSandbox: true)
            file.add("sku", "4", of: "anna", store: "amazon", ends: nil)
            file.add("rc_promo_pro_monthly", "a4", of: "ben", store: "promotional", ends: 30)
            file.add(AppStoreWorld.lifetime, "5", of: "carl", ends: nil, unlocks: ["archive"])
            file.lines.append("dora,dora,DE,product,yesterday")
            file.lines.append(file.lines[1].replacing("2026-06-01", with: "1 June"))
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.rows == 6)
            #expect(report.anonymous.customers == 1 && report.anonymous.rows == 2)
            #expect(report.anonymous.active == 1)
            #expect(report.sandbox == 1)
            #expect(report.unsupported == ["amazon": 1])
            #expect(report.unmatched.map(\.line) == [6, 7, 8, 9])
            #expect(report.unmatched.first?.reason.contains("--grants") == true)
            #expect(report.unmatched[1].reason.contains("knows no transaction"))
            #expect(report.unmatched[3].reason.contains("start_time"))
            // Whoever would lose something is named, whatever the reason.
            #expect(report.differences.map(\.appUserID) == ["anna", "ben", "carl"])
            #expect(report.differences.map(\.line) == [5, 6, 7])
            #expect(report.lacksCoinsSince)
        }
    }

    @Test("Anonymous users and the sandbox come in if that is asked for, and a store may stay out")
    func options() async throws {
        var setup = Self.setup()
        setup.environment = .sandbox
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let plan = try await Self.buy(AppStoreWorld.weekly, world)
            let anonymous = "$RCAnonymousID:87c6049c58069238dce29853916d624c"
            var file = Self.file()
            file.add(AppStoreWorld.weekly, plan, of: anonymous, ends: 7, isSandbox: true)
            file.add("premium", "GPA.1", of: "ben", store: "play_store", ends: 7, isSandbox: true)
            // Google Play is not set up, which is said before anything is done.
            let whole = file
            await #expect {
                _ = try await whole.bringIn(to: world.tollgate) { $0.includesSandbox = true }
            } throws: { Refusal(telling: $0).error.message.contains("--without play_store") }
            let report = try #require(
                try await whole.bringIn(to: world.tollgate) {
                    $0.includesSandbox = true
                    $0.includesAnonymous = true
                    $0.without = ["Play_Store", "mac_app_shop"]
                }
            )
            #expect(report.purchases == 1)
            #expect(report.leftOut == ["play_store": 1, "mac_app_shop": 0])
            #expect(try await world.isEntitled(anonymous))
        }
    }

    @Test("A grant of RevenueCat's becomes one here, once, until its end")
    func grants() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            var file = Self.file()
            file.add("rc_promo_pro_monthly", "a1", of: "anna", store: "promotional", ends: 30)
            // Without the list of entitlements the product names its own.
            file.add(
                "rc_promo_pro_two_week",
                "a2",
                of: "ben",
                store: "promotional",
                ends: 14,
                unlocks: []
            )
            file.add("rc_promo_pro_daily", "a3", of: "carl", store: "promotional", ends: -1)
            file.add(
                "rc_promo_gold_lifetime",
                "a4",
                of: "dora",
                store: "promotional",
                ends: 73_000,
                unlocks: ["gold"]
            )
            for _ in 0..<2 {
                let report = try #require(
                    try await file.bringIn(to: world.tollgate) { $0.makesGrants = true }
                )
                #expect(report.grants == 2 && report.ended == 1)
                #expect(report.granted.map(\.appUserID) == ["anna", "ben"])
                #expect(report.granted.map(\.keys) == [["pro"], ["pro"]])
                #expect(report.unmatched.map(\.line) == [5], "the catalog has no such entitlement")
                #expect(report.differences.map(\.appUserID) == ["dora"])
            }
            #expect(try await world.count("purchase") == 2)
            #expect(try await world.isEntitled("anna"))
            #expect(try await world.isEntitled("ben"))
            await world.pass(days: 20)
            #expect(try await world.isEntitled("anna"))
            #expect(try await !world.isEntitled("ben"))
        }
    }

    // MARK: - What Apple says counts

    @Test("What is active there and not here is listed: a refund that the export does not know")
    func differences() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            let refunded = try await Self.buy(AppStoreWorld.lifetime, world)
            let kept = try await Self.buy(AppStoreWorld.lifetime, world)
            try await world.appStore.refund(refunded)
            var file = Self.file()
            file.add(AppStoreWorld.lifetime, refunded, of: "anna", ends: nil)
            file.add(AppStoreWorld.lifetime, kept, of: "ben", ends: nil, refunded: 0.5)
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.unmatched.isEmpty && report.purchases == 2)
            #expect(try await !world.isEntitled("anna", "archive"))
            #expect(try await world.isEntitled("ben", "archive"), "Apple knows of no refund")
            let difference = try #require(report.differences.first)
            #expect(report.differences.count == 1)
            #expect(difference.appUserID == "anna" && difference.line == 2)
            #expect(difference.lacking.contains("archive") && difference.until == nil)
        }
    }

    @Test("A run that was broken off goes on", arguments: Backend.allCases)
    func interruption(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend, Self.setup()) { world in
            var file = Self.file()
            for number in 0..<20 {
                let plan = try await Self.buy(AppStoreWorld.weekly, world)
                file.add(AppStoreWorld.weekly, plan, of: "user-\(number)", ends: 7)
            }
            let whole = file
            world.calls.fail(Set(20..<60))
            await #expect(throws: AppStore.ServerAPIError.self) {
                _ = try await whole.bringIn(to: world.tollgate)
            }
            world.calls.fail([])
            world.calls.forget()
            let report = try #require(try await whole.bringIn(to: world.tollgate))
            #expect(report.purchases == 20 && report.differences.isEmpty)
            #expect(world.calls.all.count < 20 * 2, "whoever was done was asked about again")
        }
    }

    @Test("A customer over whom Apple fails is listed and holds up none; over all it breaks off")
    func faults() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            var file = Self.file()
            var ids: [String] = []
            for number in 0..<12 {
                ids.append(try await Self.buy(AppStoreWorld.lifetime, world))
                file.add(AppStoreWorld.lifetime, ids[number], of: "user-\(number)", ends: nil)
            }
            let whole = file
            world.calls.refuse(["/history/"], with: 5_000_000)
            await #expect(throws: AppStore.ServerAPIError.self) {
                _ = try await whole.bringIn(to: world.tollgate)
            }
            world.calls.refuse(["/history/\(ids[11])"], with: 5_000_000)
            let report = try #require(try await whole.bringIn(to: world.tollgate))
            #expect(report.purchases == 11 && report.unmatched.map(\.line) == [13])
            #expect(report.unmatched.first?.reason.hasSuffix("run the import again later") == true)
            #expect(report.differences.map(\.appUserID) == ["user-11"])
            // A finished import can be repeated, and finds who was missing.
            world.calls.refuse([], with: 0)
            let again = try #require(try await whole.bringIn(to: world.tollgate))
            #expect(again.purchases == 12 && again.unmatched.isEmpty && again.differences.isEmpty)
        }
    }

    // MARK: - The file

    private static let wholeHeading = RevenueCatFile.columns.joined(separator: ",")

    /// The heading without one column.
    private static func heading(without column: String) -> String {
        RevenueCatFile.columns.filter { $0 != column }.joined(separator: ",")
    }

    static let noExports: [(String, String)] = [
        ("", "export version 5, 6 or 7"),
        ("app_user_id,receipt_data", "export version 5, 6 or 7"),
        (RevenueCatFile.columns.joined(separator: ";"), "semicolons"),
        (heading(without: "store"), "store"),
        (heading(without: "effective_end_time"), "lacks the columns effective_end_time"),
        (RevenueCatFile.columns.dropFirst(2).joined(separator: ","), "--user-column"),
        ("\(wholeHeading)\rold Mac", "LF or CRLF"),
        (wholeHeading, "no transactions"),
    ]

    @Test(
        "A file that is no export of version 5 to 7 is refused, with what to do",
        arguments: noExports
    )
    func headings(_ heading: String, _ part: String) async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            var file = Self.file()
            file.lines = heading.isEmpty ? [] : [heading]
            let whole = file
            await #expect {
                _ = try await whole.bringIn(to: world.tollgate)
            } throws: {
                ($0 as? RevenueCatImport.UnreadableExport)?.reason.contains(part) ?? false
            }
        }
    }

    @Test("Columns are found by name, further ones are passed over, and one may name the user")
    func columns() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup()) { world in
            let plan = try await Self.buy(AppStoreWorld.weekly, world)
            var file = Self.file()
            file.lines = [
                "experiments,user,store,store_transaction_id,original_store_transaction_id,product_identifier,start_time,effective_end_time,refunded_at,is_sandbox",
                "\"{\"\"a\"\": 1, \"\"b\"\": 2}\",anna,app_store,\(plan),\(plan),\(AppStoreWorld.weekly),2026-06-01T00:00:00.000Z,2026-06-08 00:00:00 UTC,,f",
            ]
            let whole = file
            let report = try #require(
                try await whole.bringIn(to: world.tollgate) { $0.userColumn = "user" }
            )
            #expect(report.purchases == 1 && report.unmatched.isEmpty)
            #expect(try await world.isEntitled("anna"))
        }
    }
}
