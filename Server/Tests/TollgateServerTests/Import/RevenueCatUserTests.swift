import AppStoreSimulator
import Foundation
import Stores
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// Whom an import gives a purchase to.
@Suite("Importing from RevenueCat: users")
struct RevenueCatUserTests {
    private static func file() -> RevenueCatFile { RevenueCatFile(origin: AppStoreWorld.start) }

    @Test("Of two users of one Apple account each gets what the export says is theirs")
    func oneAppleAccount() async throws {
        try await AppStoreWorld.run(on: .sqlite, RevenueCatImportTests.setup()) { world in
            let buyer = try await world.appStore.createCustomer().id
            let plan = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            let lifetime = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            var file = Self.file()
            file.add(AppStoreWorld.weekly, plan.transactionID, of: "anna", ends: 7)
            file.add(AppStoreWorld.lifetime, lifetime.transactionID, of: "ben", ends: nil)
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.purchases == 2)
            #expect(report.unmatched.isEmpty && report.differences.isEmpty)
            #expect(try await world.isEntitled("anna"))
            #expect(try await !world.isEntitled("anna", "archive"))
            #expect(try await world.isEntitled("ben", "archive"))
            let again = try #require(try await file.bringIn(to: world.tollgate))
            #expect(again.purchases == 2 && again.new == 0)
        }
    }

    @Test("A purchase that two users have is the newer row's, and the other line is listed")
    func twoUsers() async throws {
        try await AppStoreWorld.run(on: .sqlite, RevenueCatImportTests.setup()) { world in
            let buyer = try await world.appStore.createCustomer().id
            let plan = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            let id = plan.transactionID
            await world.pass(days: 8)
            var file = Self.file()
            file.add(AppStoreWorld.weekly, id, of: "anna", ends: 7)
            file.add(AppStoreWorld.weekly, "1", of: "ben", original: id, starts: 7, ends: 14)
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.purchases == 1)
            #expect(report.unmatched.map(\.line) == [2])
            #expect(report.unmatched.first?.reason.contains("line 3 is newer") == true)
            #expect(try await world.isEntitled("ben"))
        }
    }

    @Test("A row counts only if its own purchase became the user's")
    func ownPurchase() async throws {
        try await AppStoreWorld.run(on: .sqlite, RevenueCatImportTests.setup()) { world in
            let (owner, _) = try await world.customer("owner")
            let buyer = try await world.appStore.createCustomer().id
            let lifetime = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            try await world.show(lifetime.transactionID, .purchased, by: owner)
            var file = Self.file()
            file.add(AppStoreWorld.lifetime, lifetime.transactionID, of: "anna", ends: nil)
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.purchases == 0)
            #expect(report.unmatched.map(\.line) == [2])
            #expect(try await world.isEntitled("anna"), "nobody else has the plan")
            #expect(try await !world.isEntitled("anna", "archive"))
        }
    }

    @Test(
        "A customer who is here already gets the account token, unless they have one of their own"
    )
    func accountTokens() async throws {
        try await AppStoreWorld.run(on: .sqlite, RevenueCatImportTests.setup()) { world in
            let customers = world.tollgate.customers
            /// Registers a user, or finds them.
            func find(_ user: String, token: String? = nil) async throws -> API.Customer {
                var request = API.CreateCustomerRequest(appUserID: user)
                request.appAccountToken = token
                return try await customers.create(request).customer
            }
            let users = (0..<4).map { _ in UUID().uuidString }
            let other = UUID().uuidString.lowercased()
            _ = try await find(users[0])
            _ = try await find(users[1], token: other)
            _ = try await find("thief", token: users[2])
            var file = Self.file()
            for user in users {
                let buyer = try await world.appStore.createCustomer().id
                let plan = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
                file.add(AppStoreWorld.weekly, plan.transactionID, of: user, ends: 7)
            }
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.purchases == 4 && report.unmatched.isEmpty)
            var tokens: [String] = []
            for user in users { tokens.append(try await find(user).appAccountToken) }
            #expect(tokens[0] == users[0].lowercased())
            #expect(tokens[1] == other)
            #expect(tokens[2] != users[2].lowercased())
            #expect(tokens[3] == users[3].lowercased())
        }
    }

    // MARK: - Quotes

    private static let heading =
        "user,store,store_transaction_id,original_store_transaction_id,product_identifier,start_time,effective_end_time,refunded_at,is_sandbox,entitlement_identifiers"

    private static func grant(_ id: String, to user: String) -> String {
        "\(user),promotional,\(id),\(id),rc_promo_pro_monthly,2026-05-31 00:00:00,2026-07-30 00:00:00,,f,pro"
    }

    private static func granting(
        _ lines: [String],
        _ world: AppStoreWorld
    ) async throws -> RevenueCatImport.Report {
        var file = Self.file()
        file.lines = [heading] + lines
        return try #require(
            try await file.bringIn(to: world.tollgate) {
                $0.userColumn = "user"
                $0.makesGrants = true
            }
        )
    }

    @Test("A line within a user's id is no row, and the lines after it keep their numbers")
    func lineEndsInValues() async throws {
        try await AppStoreWorld.run(on: .sqlite, RevenueCatImportTests.setup()) { world in
            let report = try await Self.granting(
                [
                    "\"mallory", Self.grant("p1", to: "eve"),
                    "\",app_store,1,1,sku,2026-05-31 00:00:00,,,f,", Self.grant("p2", to: "ben"),
                ],
                world
            )
            #expect(report.rows == 2)
            #expect(report.granted.map(\.appUserID) == ["ben"])
            #expect(report.granted.map(\.line) == [5])
            #expect(report.unmatched.map(\.line) == [2])
        }
    }

    @Test("Lines behind a quote that nothing closes are listed, each with its number")
    func unclosed() async throws {
        try await AppStoreWorld.run(on: .sqlite, RevenueCatImportTests.setup()) { world in
            let report = try await Self.granting(
                [
                    Self.grant("p1", to: "ben"), "\"mallory,app_store", Self.grant("p2", to: "eve"),
                ],
                world
            )
            #expect(report.granted.map(\.appUserID) == ["ben"])
            #expect(report.unmatched.map(\.line) == [3, 4])
        }
    }

    @Test("After a row of version 5 whose quotes do not match, the next line is listed")
    func looseQuotes() async throws {
        try await AppStoreWorld.run(on: .sqlite, RevenueCatImportTests.setup()) { world in
            var file = Self.file()
            for user in ["anna", "ben", "carl"] {
                let buyer = try await world.appStore.createCustomer().id
                let bought = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
                file.add(AppStoreWorld.lifetime, bought.transactionID, of: user, ends: nil)
            }
            file.lines[1] = file.lines[1].replacing("203.0.113.7", with: #"5\" wide"#)
            let report = try #require(try await file.bringIn(to: world.tollgate))
            #expect(report.purchases == 2)
            #expect(report.unmatched.map(\.line) == [3])
            #expect(report.unmatched.first?.reason.contains("leaves a quote open") == true)
            #expect(try await world.isEntitled("anna", "archive"))
            #expect(try await world.isEntitled("carl", "archive"))
        }
    }
}
