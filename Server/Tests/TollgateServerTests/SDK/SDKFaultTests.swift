import AppStoreSimulator
import Foundation
import Storage
import Stores
import Synchronization
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import BillingSDK

@Suite("BillingSDK on a real server: what goes wrong")
struct SDKFaultTests {
    @Test("A session that the server has dropped is renewed once, unseen")
    func refusedOnce() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server)
            app.connectBackend()
            try await app.buy("com.example.app.lifetime", for: "ada")
            _ = try await app.keys()
            let customer = Customer.ID(try await server.customer("ada"))
            try await server.tollgate.store.sessions.revokeAll(of: customer)
            #expect(try await app.keys(forceRefresh: true) == ["archive", "pro"])
            #expect(app.calls == 2)
            #expect(app.entitlementRequests == 3)
        }
    }

    @Test("A session that is refused again and again is an error after two tries")
    func refusedForEver() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server)
            let customer = try await server.customer("ada")
            app.billing.setCustomerSessionProvider {
                UBCustomerSessionDetails(
                    clientSecret: "cuss_secret_made_up",
                    expiresAt: .distantFuture,
                    customer: customer
                )
            }
            #expect(await AppOnServer.failure { try await app.keys() } == "sessionRejected")
            #expect(app.entitlementRequests == 2)
        }
    }

    @Test("A session of another customer gives nothing away")
    func anothersSession() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server)
            try await app.buy("com.example.app.lifetime", for: "bob")
            let ada = try await app.session(of: "ada")
            let bob = try await server.customer("bob")
            app.billing.setCustomerSessionProvider {
                UBCustomerSessionDetails(
                    clientSecret: ada.clientSecret,
                    expiresAt: ada.expiresAt,
                    customer: bob
                )
            }
            #expect(await AppOnServer.failure { try await app.keys() } == "notFound")
        }
    }

    @Test("While the server is down a signed answer holds, over a relaunch, until its hard end")
    func down() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sdk-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run { server in
            let first = try AppOnServer(server, cache: folder)
            first.connectBackend()
            try await first.buy("com.example.app.lifetime", for: "ada")
            #expect(try await first.keys() == ["archive", "pro"])
            let session = try await first.session(of: "ada")

            func relaunched() throws -> AppOnServer {
                let app = try AppOnServer(server, cache: folder)
                app.takeDown()
                app.billing.setCustomerSessionProvider { session }
                return app
            }
            server.wall.advance(seconds: 3600)
            let app = try relaunched()
            #expect(try await app.keys() == ["archive", "pro"])
            let forced = await AppOnServer.failure { try await app.keys(forceRefresh: true) }
            #expect(forced == "networkUnavailable")
            server.wall.advance(seconds: 3 * 86400 - 3601)
            let later = try relaunched()
            #expect(try await later.keys() == ["archive", "pro"])
            server.wall.advance(seconds: 1)
            let tooLate = try relaunched()
            #expect(await AppOnServer.failure { try await tooLate.keys() } == "networkUnavailable")
            // Setting the clock back does not bring it back.
            server.wall.advance(seconds: -1800)
            let cheat = try relaunched()
            #expect(await AppOnServer.failure { try await cheat.keys() } == "networkUnavailable")
        }
    }

    @Test("A device that never had an answer asks StoreKit, by the same engine")
    func neverAnswered() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sdk-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run { server in
            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy("com.example.app.pro.monthly", customer: buyer.id)
            let storeKit: @Sendable () async -> [StoreKitStatement] = {
                let shown = try? await server.appStore.entitlements(customer: buyer.id)
                return (shown?.currentEntitlements ?? []).compactMap { signed in
                    JSONWebToken(compact: signed).map { StoreKitStatement(transaction: $0.payload) }
                }
            }
            let visitor = try AppOnServer(server, cache: folder)
            _ = try await visitor.billing.getBuyButton(id: "buy_pro_monthly")
            await visitor.settled()
            let app = try AppOnServer(server, cache: folder, storeKit: storeKit)
            let session = try await app.session(of: "ada")
            app.billing.setCustomerSessionProvider { session }
            app.takeDown()
            let offline = try await app.billing.getActiveEntitlements()
            #expect(offline.map(\.lookupKey) == ["pro"])
            // Once the server has said something, it alone counts.
            app.takeDown(false)
            #expect(try await app.keys(forceRefresh: true) == [])
            try await app.billing.submit(
                signedTransaction: try #require(
                    await server.appStore.entitlements(customer: buyer.id).currentEntitlements.first
                ),
                mode: .purchased
            )
            #expect(try await app.billing.getActiveEntitlements() == offline)
        }
    }

    /// The App Store's purchase of a monthly plan, as a device of that Apple account shows it.
    private static func shown(
        by account: String,
        _ server: TestServer
    ) -> @Sendable () async -> [StoreKitStatement] {
        {
            let shown = try? await server.appStore.entitlements(customer: account)
            return (shown?.currentEntitlements ?? []).compactMap { signed in
                JSONWebToken(compact: signed).map {
                    StoreKitStatement(transaction: $0.payload, signedTransaction: signed)
                }
            }
        }
    }

    /// Asks, and waits until the answer was compared with what StoreKit holds.
    private static func ask(_ app: AppOnServer) async throws -> [String] {
        let keys = try await app.keys(forceRefresh: true)
        await app.billing.client.observations.task.withLock { $0 }?.value
        return keys
    }

    private static func observations(_ app: AppOnServer) -> Int {
        app.network.withLock { network in
            network.sent.count { $0.url.path.hasSuffix(APIPath.appStoreObservations.path) }
        }
    }

    @Test("A purchase that only the device knows of is posted after a no, and is there at once")
    func deviceHoldsWhatNobodyTold() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sdk-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run { server in
            let buyer = try await server.appStore.createCustomer()
            // Its notification is lost.
            _ = try await server.appStore.buy("com.example.app.pro.monthly", customer: buyer.id)
            let app = try AppOnServer(
                server,
                cache: folder,
                storeKit: Self.shown(by: buyer.id, server)
            )
            app.connectBackend()
            _ = try await app.billing.getBuyButton(id: "buy_pro_monthly")
            #expect(try await Self.ask(app) == [])
            #expect(Self.observations(app) == 1)
            #expect(try await app.keys() == ["pro"])
            let ada = try await server.customer("ada")
            #expect(try await server.access(of: ada)["pro"] != nil)
            #expect(try await server.tollgate.store.evidence.findings().isEmpty)
        }
    }

    @Test(
        "A no that stays a no is posted once a day, and kept with its cause before anybody writes"
    )
    func deviceHoldsAnothersPurchase() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sdk-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run { server in
            let bob = try await server.customer("bob")
            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: buyer.id,
                appAccountToken: try await server.tollgate.directory.customer(bob).appAccountToken
            )
            #expect(try await server.deliverNewestNotification().status == 200)
            // Bob's phone, on which ada is signed in.
            let app = try AppOnServer(
                server,
                cache: folder,
                storeKit: Self.shown(by: buyer.id, server)
            )
            app.connectBackend()
            _ = try await app.billing.getBuyButton(id: "buy_pro_monthly")
            for _ in 0..<3 { #expect(try await Self.ask(app) == []) }
            #expect(Self.observations(app) == 1)
            let found = try await server.tollgate.store.evidence.findings().map(\.finding)
            #expect(found.map(\.kind) == [.device] && found.map(\.lookupKey) == ["pro"])
            let ada = try await server.customer("ada")
            #expect(found.first?.customer.rawValue == ada)
            #expect(found.first?.opinion == "it is somebody else's")
            #expect(try await server.access(of: bob)["pro"] != nil)
        }
    }

    @Test("A slow server is asked once, however many wait")
    func slow() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server)
            app.connectBackend()
            try await app.buy("com.example.app.lifetime", for: "ada")
            let gate = Gate()
            app.network.withLock { $0.gate = gate }
            let calls = (0..<1000).map { _ in
                Task { try await app.billing.hasEntitlement(lookupKey: "pro") }
            }
            await gate.arrivals(1)
            gate.open()
            for call in calls { #expect(try await call.value) }
            #expect(app.entitlementRequests == 1)
            #expect(app.calls == 1)
        }
    }

    @Test("A customer who changes while the answer is under way never sees the other's")
    func switched() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server)
            app.connectBackend()
            try await app.buy("com.example.app.lifetime", for: "ada")
            let gate = Gate()
            app.network.withLock { $0.gate = gate }
            let adas = Task { try await app.keys() }
            await gate.arrivals(1)
            app.signIn("bob")
            await app.billing.reset()
            gate.open()
            #expect(try await adas.value == [])
            #expect(try await app.keys() == [])
            #expect(try await app.billing.hasEntitlement(lookupKey: "pro") == false)
            #expect(app.heardSets.filter { !$0.isEmpty } == [])
        }
    }

    @Test("Set back, the clock makes no cached answer last longer")
    func clockSetBack() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server, maximumStale: 300)
            app.connectBackend()
            _ = try await app.keys()
            server.wall.advance(seconds: -120)
            _ = try await app.keys()
            #expect(app.entitlementRequests == 2)
            // Nor does it end what the server has signed, which has an end of its own.
            app.takeDown()
            server.wall.advance(seconds: -120)
            #expect(try await app.keys() == [])
            #expect(app.entitlementRequests == 3)
        }
    }

    @Test("A failing backend of the app's own is no sign-out")
    func backendFails() async throws {
        try await TestServer.run { server in
            let app = try AppOnServer(server)
            app.billing.setCustomerSessionProvider { throw URLError(.badServerResponse) }
            #expect(
                await AppOnServer.failure { try await app.keys() }
                    == "customerSessionProviderFailed"
            )
            let button = try await app.billing.getBuyButton(id: "buy_pro_monthly")
            #expect(
                await AppOnServer.failure { try await button.checkout() }
                    == "customerSessionProviderFailed"
            )
            #expect(server.stripe.seen.isEmpty)
        }
    }
}
