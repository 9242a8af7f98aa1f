import AppStoreAPI
import TollgateAssembly
import AppStoreConnector
import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Legacy receipts")
struct ReceiptTests {
    /// Without notifications: only receipts say what was bought.
    static func setup(serverAPI: Bool) -> AppStoreWorld.Setup {
        var setup = AppStoreWorld.Setup()
        setup.hasServerAPI = serverAPI
        setup.hasSharedSecret = true
        setup.notifies = false
        return setup
    }

    static func post(
        _ receipt: String,
        of customer: String,
        to world: AppStoreWorld,
        mode: Claim.Mode = .observed,
        isTrusted: Bool = false
    ) async throws -> API.AppStoreReceiptReply {
        try await world.tollgate.appStore.receipts.receive(
            receipt,
            from: Customer.ID(customer),
            mode: mode,
            isTrusted: isTrusted
        )
    }

    /// A customer whom the App Store's tokens do not name, as those of old apps are.
    static func customer(_ user: String, _ world: AppStoreWorld) async throws -> (String, String) {
        let request = API.CreateCustomerRequest(appUserID: user)
        let customer = try await world.tollgate.customers.create(request).customer
        return (customer.id, try await world.appStore.createCustomer().id)
    }

    @Test(
        "A receipt leads to the full history, by either way of asking",
        arguments: Backend.allCases,
        [true, false]
    )
    func fullHistory(_ backend: Backend, serverAPI: Bool) async throws {
        try await AppStoreWorld.run(on: backend, Self.setup(serverAPI: serverAPI)) { world in
            let (id, buyer) = try await Self.customer("user", world)
            let old = try await world.appStore.buy(AppStoreWorld.coins, customer: buyer)
            try await world.appStore.finish(old.transactionID)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            let receipt = try await world.appStore.receipt(customer: buyer)
            await world.pass(days: 10)
            let reply = try await Self.post(receipt, of: id, to: world)
            #expect(reply.environment == .sandbox)
            #expect(reply.purchases.count == 2)
            #expect(reply.new >= 3, "two weeks and for ever")
            #expect(try await world.isEntitled(id))
            #expect(try await world.isEntitled(id, "archive"))
            #expect(try await world.balance(id) == 0, "old coins were credited elsewhere")
            #expect(try await Self.post(receipt, of: id, to: world).new == 0)
            #expect(try await world.isRebuilt())
        }
    }

    @Test("A plan of many periods is restored by its first receipt, and claimed once")
    func manyPeriods() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: true)) { world in
            let (id, buyer) = try await Self.customer("user", world)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            await world.pass(days: 11 * 7 + 1)
            let receipt = try await world.appStore.receipt(customer: buyer)
            _ = try await Self.post(receipt, of: id, to: world, mode: .restored)
            #expect(try await world.isEntitled(id))
            let rows = try await world.count("journal")
            // Whoever has it may restore it all day.
            for _ in 0..<20 {
                _ = try await Self.post(receipt, of: id, to: world, mode: .restored)
            }
            #expect(try await world.count("journal") == rows)
        }
    }

    @Test(
        "Two who restore one receipt in turns: the owner is never sent away",
        arguments: [Catalog.Ownership.keep, .transfer]
    )
    func turns(_ policy: Catalog.Ownership) async throws {
        var setup = Self.setup(serverAPI: true)
        setup.ownership = policy
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let (first, buyer) = try await Self.customer("first", world)
            let (second, _) = try await Self.customer("second", world)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            let receipt = try await world.appStore.receipt(customer: buyer)
            var refused = 0
            for number in 0..<30 {
                await world.pass(days: 0.001)
                let who = number % 2 == 0 ? first : second
                do {
                    _ = try await Self.post(receipt, of: who, to: world, mode: .restored)
                } catch {
                    #expect(Refusal(telling: error).status == 429)
                    refused += 1
                }
            }
            // Under `keep` restoring again moves nothing. Under `transfer` it does, ten times a day.
            #expect((refused > 0) == (policy == .transfer))
            #expect(try await world.isEntitled(first) != world.isEntitled(second))
            if policy == .keep { #expect(try await world.isEntitled(first)) }
        }
    }

    @Test("Coins that are still in the receipt are credited, once")
    func unfinishedConsumables() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: true)) { world in
            let (id, buyer) = try await Self.customer("user", world)
            _ = try await world.appStore.buy(AppStoreWorld.coins, customer: buyer, quantity: 2)
            let receipt = try await world.appStore.receipt(customer: buyer)
            for _ in 0..<2 { _ = try await Self.post(receipt, of: id, to: world, mode: .purchased) }
            #expect(try await world.balance(id) == 200)
        }
    }

    @Test("A receipt of iOS 6 is as good", arguments: [true, false])
    func transactionReceipt(serverAPI: Bool) async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: serverAPI)) { world in
            let (id, buyer) = try await Self.customer("user", world)
            let bought = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            let receipt = try await world.appStore.transactionReceipt(bought.transactionID)
            _ = try await Self.post(receipt, of: id, to: world)
            #expect(try await world.isEntitled(id))
            // Cancelled, expired, and asked again: 21006 where receipts are verified.
            try await world.appStore.cancel(bought.originalTransactionID)
            await world.pass(days: 8)
            _ = try await Self.post(receipt, of: id, to: world)
            #expect(try await !world.isEntitled(id))
        }
    }

    @Test("The second who shows a receipt does not get what the first holds")
    func ownership() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: true)) { world in
            let (first, buyer) = try await Self.customer("first", world)
            let (second, _) = try await Self.customer("second", world)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            let receipt = try await world.appStore.receipt(customer: buyer)
            _ = try await Self.post(receipt, of: first, to: world)
            await world.pass(days: 1)
            _ = try await Self.post(receipt, of: second, to: world)
            #expect(try await world.isEntitled(first))
            #expect(try await !world.isEntitled(second))
        }
    }

    @Test("What is no receipt, or nobody's, is refused", arguments: [true, false])
    func refusals(serverAPI: Bool) async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: serverAPI)) { world in
            let (id, buyer) = try await Self.customer("user", world)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            // Of the same ids, but signed by somebody else.
            let stranger = try TestServer.simulatedAppStore(world.clock, isStranger: true)
            let elsewhere = try await stranger.createCustomer()
            _ = try await stranger.buy(AppStoreWorld.lifetime, customer: elsewhere.id)
            let other = try TestServer.simulatedAppStore(world.clock, bundleID: "com.example.other")
            let otherBuyer = try await other.createCustomer()
            _ = try await other.buy(AppStoreWorld.lifetime, customer: otherBuyer.id)
            let before = try await world.count("journal")
            for (receipt, status) in [
                ("", 400), ("****", 400), ("bm9uc2Vuc2U=", 400), ("MIAG", 400),
                (try await stranger.receipt(customer: elsewhere.id), 400),
                (try await other.receipt(customer: otherBuyer.id), 404),
            ] {
                await #expect {
                    _ = try await Self.post(receipt, of: id, to: world)
                } throws: { Refusal(telling: $0).status == status }
            }
            #expect(try await world.count("journal") == before)
        }
    }

    @Test("The backend knows whose receipt it has; one that nobody bought anything by is unknown")
    func trusted() async throws {
        var setup = Self.setup(serverAPI: true)
        setup.hasSharedSecret = false
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let (id, buyer) = try await Self.customer("user", world)
            let empty = try await world.appStore.receipt(customer: buyer)
            let nothing = try await Self.post(empty, of: id, to: world, isTrusted: true)
            #expect(nothing.purchases.isEmpty && nothing.environment == nil)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            let receipt = try await world.appStore.receipt(customer: buyer)
            await #expect {
                _ = try await Self.post(receipt, of: id, to: world)
            } throws: { Refusal(telling: $0).status == 503 }
            _ = try await Self.post(receipt, of: id, to: world, isTrusted: true)
            #expect(try await world.isEntitled(id))
            let elsewhere = try SimulatedAppStore(
                configuration: .init(
                    products: [
                        .init(id: AppStoreWorld.lifetime, kind: .nonConsumable, price: 199_000)
                    ],
                    seed: 99
                ),
                clock: world.clock
            )
            let stranger = try await elsewhere.createCustomer()
            _ = try await elsewhere.buy(AppStoreWorld.lifetime, customer: stranger.id)
            let unknown = try await elsewhere.receipt(customer: stranger.id)
            await #expect {
                _ = try await Self.post(unknown, of: id, to: world, isTrusted: true)
            } throws: { Refusal(telling: $0).error.code == "receipt_unknown" }
        }
    }

    @Test(
        "Who lives on receipts is asked about again, with the newest one, in either form of receipt",
        arguments: Backend.allCases,
        [true, false]
    )
    func revalidation(_ backend: Backend, isAppReceipt: Bool) async throws {
        try await AppStoreWorld.run(on: backend, Self.setup(serverAPI: false)) { world in
            let (id, buyer) = try await Self.customer("user", world)
            let bought = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            // The older form is of one purchase, and is answered with an object for an array.
            let first =
                isAppReceipt
                ? try await world.appStore.receipt(customer: buyer)
                : try await world.appStore.transactionReceipt(bought.transactionID)
            _ = try await Self.post(first, of: id, to: world)
            #expect(
                try await world.tollgate.appStore.receipts.revalidate() == nil,
                "nothing is due yet"
            )
            for week in 1...3 {
                await world.pass(days: 7.2)
                #expect(try await !world.isEntitled(id), "week \(week), not asked yet")
                let result = try #require(try await world.tollgate.appStore.receipts.revalidate())
                #expect(result.receipts == 1 && result.changed == 1 && result.dropped == 0)
                #expect(try await world.isEntitled(id), "week \(week)")
            }
            let kept = try await world.tollgate.store.receipts.page(
                due: Instant(milliseconds: .max),
                limit: 10
            )
            #expect(kept.count == 1)
            #expect(kept.first?.body != Array(first.utf8), "the newest receipt took its place")
            try await world.appStore.cancel(bought.originalTransactionID)
            await world.pass(days: 7.2)
            _ = try await world.tollgate.appStore.receipts.revalidate()
            #expect(try await !world.isEntitled(id))
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "What is due is asked about by itself, all of it, and a failure is tried again",
        arguments: Backend.allCases
    )
    func revalidationByItself(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend, Self.setup(serverAPI: false)) { world in
            var customers: [String] = []
            for number in 0..<3 {
                let (id, buyer) = try await Self.customer("user-\(number)", world)
                _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
                let receipt = try await world.appStore.receipt(customer: buyer)
                _ = try await Self.post(receipt, of: id, to: world)
                customers.append(id)
            }
            func entitled() async throws -> Int {
                var count = 0
                for id in customers where try await world.isEntitled(id) { count += 1 }
                return count
            }
            world.calls.forget()
            await world.tollgate.appStore.receipts.revalidateIfDue()
            #expect(world.calls.all.isEmpty, "nothing is due yet")

            await world.pass(days: 7.2)
            #expect(try await entitled() == 0)
            // The App Store is away: nothing is lost, and nothing is thrown at the server's loop.
            world.calls.fail(Set(0..<100))
            await world.tollgate.appStore.receipts.revalidateIfDue()
            #expect(!world.calls.all.isEmpty)
            #expect(try await entitled() == 0)

            world.calls.fail([])
            world.calls.forget()
            await world.tollgate.appStore.receipts.revalidateIfDue()
            #expect(try await entitled() == 3)
            #expect(world.calls.all == Array(repeating: "/verifyReceipt", count: 3))
            await world.tollgate.appStore.receipts.revalidateIfDue()
            #expect(world.calls.all.count == 3, "until the next period ends")
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "A free subscription of a receipt has no expiry, is there again, and ends by report",
        arguments: Backend.allCases
    )
    func freeSubscription(_ backend: Backend) async throws {
        var setup = Self.setup(serverAPI: false)
        setup.receiptAnswer = """
            {"status":0,"environment":"Sandbox","latest_receipt":"bmV3ZXI=","receipt":{\
            "receipt_type":"ProductionSandbox","bundle_id":"\(TestServer.bundleID)",\
            "request_date_ms":"\(AppStoreWorld.start)","receipt_creation_date_ms":\
            "\(AppStoreWorld.start)"},"latest_receipt_info":[{"quantity":"1",\
            "product_id":"com.example.app.reader","transaction_id":"1000000042",\
            "original_transaction_id":"1000000042","purchase_date_ms":"\(AppStoreWorld.start)",\
            "original_purchase_date_ms":"\(AppStoreWorld.start)"}]}
            """
        try await AppStoreWorld.run(on: backend, setup) { world in
            let (id, buyer) = try await Self.customer("user", world)
            let receipt = try await world.appStore.receipt(customer: buyer)
            let reply = try await Self.post(receipt, of: id, to: world, mode: .restored)
            #expect(reply.purchases.count == 1)
            await world.pass(days: 3000)
            #expect(try await world.isEntitled(id, "archive"), "it has no end")
            // Another device shows it once more: the same one.
            _ = try await Self.post(receipt, of: id, to: world, mode: .restored)
            #expect(try await world.count("purchase") == 1)
            _ = try await world.tollgate.freeSubscriptions.remove("reader", of: id)
            #expect(try await !world.isEntitled(id, "archive"))
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "A receipt that fails each time holds up none of the others",
        arguments: Backend.allCases
    )
    func failingForEver(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend, Self.setup(serverAPI: false)) { world in
            let (id, buyer) = try await Self.customer("user", world)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
            let receipt = try await world.appStore.receipt(customer: buyer)
            _ = try await Self.post(receipt, of: id, to: world)
            let (other, _) = try await Self.customer("other", world)
            // What the App Store calls malformed each time, and first in the queue each time.
            try await world.tollgate.store.receipts.keep(
                StoredReceipt(
                    key: RowKey("receipt", other),
                    customer: Customer.ID(other),
                    body: Array("bm9uc2Vuc2U=".utf8),
                    due: Instant(milliseconds: 0)
                )
            )
            for week in 1...3 {
                await world.pass(days: 7.2)
                var changed = 0
                for _ in 0..<2 {
                    let result = try await world.tollgate.appStore.receipts.revalidate(limit: 1)
                    #expect(result?.receipts == 1 && result?.dropped == 0, "week \(week)")
                    changed += result?.changed ?? 0
                }
                #expect(changed == 1, "week \(week)")
                #expect(try await world.isEntitled(id), "week \(week)")
                // Nothing is due any more: the failing one rests for an hour.
                #expect(try await world.tollgate.appStore.receipts.revalidate() == nil)
                await world.pass(days: 0.05)
                #expect(try await world.tollgate.appStore.receipts.revalidate()?.receipts == 1)
            }
        }
    }

    @Test(
        "A file of receipts is brought in, and goes on after a break",
        arguments: Backend.allCases
    )
    func importing(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend, Self.setup(serverAPI: true)) { world in
            var lines = ["app_user_id,receipt_data"]
            var entitled: [String] = []
            for number in 0..<20 {
                let buyer = try await world.appStore.createCustomer().id
                if number != 5 {
                    _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: buyer)
                    entitled.append("old-\(number)")
                }
                let receipt = try await world.appStore.receipt(customer: buyer)
                lines.append(
                    number % 2 == 0
                        ? "old-\(number),\(receipt)"
                        : "{\"app_user_id\":\"old-\(number)\",\"receipt_data\":\"\(receipt)\"}"
                )
            }
            lines += ["no-receipt", "", "broken,bm9uc2Vuc2U=", "{\"app_user_id\":\"x\"}"]
            let file = lines
            func run() async throws -> ReceiptImport.Report? {
                var rest = file[...]
                return try await world.tollgate.receiptImport(file: "file").run {
                    rest.popFirst().map { Array($0.utf8) }
                }
            }
            world.calls.fail(Set(20..<60))
            await #expect(throws: AppStore.ServerAPIError.self) { _ = try await run() }
            world.calls.fail([])
            world.calls.forget()
            let report = try #require(try await run())
            #expect(report.customers == 19)
            #expect(report.unmatched.map(\.line) == [7, 22, 24, 25])
            #expect(report.unmatched.map(\.appUserID) == ["old-5", nil, "broken", nil])
            #expect(report.unmatched.allSatisfy { !$0.reason.isEmpty })
            for user in entitled { #expect(try await world.isEntitled(user), "\(user)") }
            // Whoever was done before was not asked about again.
            #expect(world.calls.all.count < 19 * 3)
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "Coins that a stored receipt of another system names are not credited again",
        arguments: [true, false]
    )
    func importedConsumables(serverAPI: Bool) async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: serverAPI)) { world in
            let buyer = try await world.appStore.createCustomer().id
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
            _ = try await world.appStore.buy(AppStoreWorld.coins, customer: buyer)
            // As it was posted before the app had finished the transaction.
            let receipt = try await world.appStore.receipt(customer: buyer)
            var rest = ["old,\(receipt)"][...]
            let report = try await world.tollgate.receiptImport(file: "file").run {
                rest.popFirst().map { Array($0.utf8) }
            }
            #expect(report?.customers == 1)
            #expect(try await world.isEntitled("old", "archive"))
            let (id, _) = try await world.customer("old")
            #expect(try await world.balance(id) == 0)
        }
    }

    @Test(
        "An internal error of Apple's (5000000) over eight lines breaks an import off, and gives up none"
    )
    func importingThroughAFault() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: true)) { world in
            var lines: [String] = []
            for number in 0..<8 {
                let buyer = try await world.appStore.createCustomer().id
                _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
                lines.append("old-\(number),\(try await world.appStore.receipt(customer: buyer))")
            }
            let whole = lines
            func run() async throws -> ReceiptImport.Report? {
                var rest = whole[...]
                return try await world.tollgate.receiptImport(file: "file").run {
                    rest.popFirst().map { Array($0.utf8) }
                }
            }
            world.calls.refuse(["/history/"], with: 5_000_000)
            await #expect(throws: AppStore.ServerAPIError.self) { _ = try await run() }
            world.calls.refuse([], with: 0)
            let report = try #require(try await run())
            #expect(report.customers == 8 && report.unmatched.isEmpty)
            #expect(try await world.isEntitled("old-7", "archive"))
        }
    }

    @Test("A line over which Apple fails, and not over others, is listed and holds up none")
    func importingPastAFault() async throws {
        try await AppStoreWorld.run(on: .sqlite, Self.setup(serverAPI: true)) { world in
            var (lines, ids): ([String], [String]) = ([], [])
            for number in 0..<3 {
                let buyer = try await world.appStore.createCustomer().id
                let bought = try await world.appStore.buy(AppStoreWorld.lifetime, customer: buyer)
                ids.append(bought.transactionID)
                lines.append("old-\(number),\(try await world.appStore.receipt(customer: buyer))")
            }
            world.calls.refuse(["/history/\(ids[1])"], with: 5_000_000)
            var rest = lines[...]
            let report = try await world.tollgate.receiptImport(file: "file").run {
                rest.popFirst().map { Array($0.utf8) }
            }
            #expect(report?.customers == 2 && report?.unmatched.map(\.line) == [2])
            #expect(
                report?.unmatched.first?.reason.hasSuffix("import this line again later") == true
            )
            for number in [0, 2] {
                #expect(try await world.isEntitled("old-\(number)", "archive"))
            }
        }
    }
}

@Suite("Receipts over HTTP")
struct ReceiptRouteTests {
    @Test("The backend names the customer, a session its own; nobody else may")
    func credentials() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let other = try await server.customer("user-2")
            let session = try await server.session(of: id)
            for (key, body, status) in [
                (TestServer.secretKey, "{\"receipt_data\":\"\"}", 400),
                (TestServer.secretKey, "{\"receipt_data\":\"\",\"customer\":\"nobody\"}", 404),
                (TestServer.secretKey, "{\"receipt_data\":\"\",\"customer\":\"\(id)\"}", 400),
                (TestServer.publishableKey, "{\"receipt_data\":\"\"}", 403),
                (session, "{\"receipt_data\":\"\"}", 400), (session, "{}", 400),
                (session, "{\"receipt_data\":\"\",\"customer\":\"\(other)\"}", 404),
            ] {
                let answer = try await server.post("/v1/app_store/receipts", as: key, body)
                #expect(answer.status == status, "\(key) \(body)")
            }
            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy("com.example.app.lifetime", customer: buyer.id)
            let receipt = try await server.appStore.receipt(customer: buyer.id)
            let answer = try await server.post(
                "/v1/app_store/receipts",
                as: session,
                "{\"receipt_data\":\"\(receipt)\"}"
            )
            #expect(answer.status == 503)
            #expect(answer.code == "store_unavailable")
        }
    }
}
