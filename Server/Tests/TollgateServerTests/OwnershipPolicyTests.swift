import AppStoreConnector
import Storage
import Stores
import TollgateAssembly
import TollgateService
import SandboxClock
import AppStoreSimulator
import Foundation
import HTTPTypes
import Testing
import TollgateAPI
import TollgateCore
import TollgateSimulation

/// Whose a purchase is when two customers of the app show the same one (RULES §8).
@Suite("Ownership policies")
struct OwnershipPolicyTests {
    @Test(
        "keep refuses the second, transfer moves it, share opens it to both",
        arguments: [
            (Catalog.Ownership.keep, 409, true, false),
            (.transfer, 200, false, true),
            (.share, 200, true, true),
        ]
    )
    func policies(
        _ policy: TollgateCore.Catalog.Ownership,
        _ status: Int,
        _ first: Bool,
        _ second: Bool
    ) async throws {
        try await TestServer.run(catalog: { $0.ownership = policy }) { server in
            let (ann, bob, jws) = try await boughtByAnn(server)
            await server.clock.advance(to: server.clock.now + 1000)
            let restored = try await server.present(
                jws,
                mode: "restored",
                session: server.session(of: bob)
            )
            #expect(restored.status == status)
            #expect(try await server.access(of: ann).isEmpty != first)
            #expect(try await server.access(of: bob).isEmpty != second)
        }
    }

    @Test(
        "Who restores a subscription is named to the App Store, and has it when it renews",
        arguments: Backend.allCases
    )
    func token(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let store = world.tollgate.store
            var catalog = store.history.current
            catalog.ownership = .transfer
            try await store.adopt(catalog, at: Instant(milliseconds: await world.clock.now))
            await world.pass(days: 1)
            let ann = try await world.customer("ann")
            let bob = try await world.customer("bob")
            let bought = try await world.appStore.buy(AppStoreWorld.weekly, customer: ann.buyer)
            await world.pass(days: 1)
            for _ in 0..<2 {
                _ = try await world.tollgate.appStore.devices.receive(
                    API.AppStoreTransactionRequest(
                        signedTransaction: bought.jws,
                        mode: .restored
                    ),
                    from: Customer.ID(bob.id)
                )
            }
            #expect(try await world.count("wanted") == 1)
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 0)
            #expect(try await isNamed(bob.id, in: bought.transactionID, world))
            await world.pass(days: 40)
            #expect(try await world.isEntitled(bob.id))
            #expect(try await !world.isEntitled(ann.id))
            // And back: what Ann's device shows was signed when it was hers, and names her.
            _ = try await world.tollgate.appStore.devices.receive(
                API.AppStoreTransactionRequest(signedTransaction: bought.jws, mode: .restored),
                from: Customer.ID(ann.id)
            )
            await world.tollgate.fetchWanted()
            await world.pass(days: 40)
            #expect(try await world.isEntitled(ann.id))
            #expect(try await !world.isEntitled(bob.id))
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "A question that comes late names whose the purchase is now, not who raised it",
        arguments: Backend.allCases
    )
    func lateToken(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let store = world.tollgate.store
            var catalog = store.history.current
            catalog.ownership = .transfer
            try await store.adopt(catalog, at: Instant(milliseconds: await world.clock.now))
            await world.pass(days: 1)
            let ann = try await world.customer("ann")
            let bob = try await world.customer("bob")
            let bought = try await world.appStore.buy(AppStoreWorld.weekly, customer: ann.buyer)
            var purchase: String?
            for customer in [bob.id, ann.id] {
                await world.pass(days: 1)
                let reply = try await world.tollgate.appStore.devices.receive(
                    API.AppStoreTransactionRequest(
                        signedTransaction: bought.jws,
                        mode: .restored
                    ),
                    from: Customer.ID(customer)
                )
                purchase = reply.purchase
                await world.tollgate.fetchWanted()
                #expect(try await isNamed(customer, in: bought.transactionID, world))
            }
            // Bob's request was slow: what it asks for is queued when Ann's is done and gone.
            let token = try await world.tollgate.directory.customer(bob.id).appAccountToken
            let key = try #require(purchase.flatMap { Purchase.Key(canonical: $0) })
            try await store.questions.want(
                Wanted(
                    kind: .appAccountToken,
                    object: "\(bought.originalTransactionID) \(token)"
                ),
                about: key,
                at: Instant(milliseconds: await world.clock.now)
            )
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 0)
            #expect(try await isNamed(ann.id, in: bought.transactionID, world))
            await world.pass(days: 40)
            #expect(try await world.isEntitled(ann.id))
            #expect(try await !world.isEntitled(bob.id))
            #expect(try await world.isRebuilt())
        }
    }

    @Test("Staff assign a purchase whatever the policy says", arguments: Backend.allCases)
    func staff(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let (ann, bob, _) = try await boughtByAnn(server)
            let list = try await server.get("/v1/customers/\(ann)/entitlements")
            let purchase = try #require(list.json["data"][0]["purchase"].string)
            for _ in 0..<2 {
                let assigned = try await server.post(
                    "/v1/customers/\(bob)/purchases",
                    "{\"purchase\":\"\(purchase)\"}"
                )
                #expect(assigned.status == 200)
                #expect(assigned.json["customer"].string == bob)
            }
            #expect(try await server.access(of: ann).isEmpty)
            #expect(try await server.access(of: bob)["pro"] == "payment")
            // And back, though the store's clock stands still.
            _ = try await server.post(
                "/v1/customers/\(ann)/purchases",
                "{\"purchase\":\"\(purchase)\"}"
            )
            #expect(try await server.access(of: ann)["pro"] == "payment")
            #expect(try await server.access(of: bob).isEmpty)
        }
    }

    @Test("What is no purchase cannot be assigned")
    func refused() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let path = "/v1/customers/\(id)/purchases"
            let shapeless = try await server.post(path, "{\"purchase\":\"x\"}")
            #expect(shapeless.status == 400 && shapeless.code == "parameter_invalid")
            let unknown = try await server.post(
                path,
                "{\"purchase\":\"app_store/sandbox/com.example.app/1\"}"
            )
            #expect(unknown.status == 404)
            let session = try await server.session(of: id)
            let customer = try await server.post(path, as: session, "{\"purchase\":\"x\"}")
            #expect(customer.status == 403)
        }
    }

    /// Whether the App Store names a customer in a transaction that it signs now.
    private func isNamed(
        _ customer: String,
        in transaction: String,
        _ world: AppStoreWorld
    ) async throws -> Bool {
        let now = try await world.appStore.signedTransaction(transaction).jws
        let token = try await world.tollgate.directory.customer(customer).appAccountToken
        let payload = try #require(now.split(separator: ".").dropFirst().first)
        let bytes = try #require(Base64URL.decode(String(payload)))
        let fields = String(decoding: bytes, as: UTF8.self)
        return fields.contains("\"appAccountToken\":\"\(token)\"")
    }

    private func boughtByAnn(_ server: TestServer) async throws -> (String, String, String) {
        let ann = try await server.customer("ann")
        let bob = try await server.customer("bob")
        let account = try await server.appStore.createCustomer()
        let bought = try await server.appStore.buy(
            "com.example.app.lifetime",
            customer: account.id
        )
        let mine = try await server.present(bought.jws, session: server.session(of: ann))
        #expect(mine.status == 200)
        return (ann, bob, bought.jws)
    }
}
