import Storage
import TollgateService
import SandboxClock
import AppStoreSimulator
import Foundation
import HTTPTypes
import Testing
import TollgateCore
import TollgateSimulation

/// Every type of product of the App Store, from the purchase to the answer.
@Suite("Product types")
struct ProductTypeTests {
    static let monthly = "com.example.app.pro.monthly"
    static let yearly = "com.example.app.pro.yearly"

    // MARK: - Consumables

    @Test(
        "A consumable credits once per transaction, however often and by whomever it is told",
        arguments: Backend.allCases
    )
    func consumable(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys("com.example.app.coins100", quantity: 2)
            for _ in 0..<2 {
                try await server.deliverNotifications()
                for mode in ["purchased", "restored", "observed"] {
                    let answer = try await server.present(
                        bought.jws,
                        mode: mode,
                        session: buyer.session
                    )
                    #expect(answer.status == 200)
                }
            }
            #expect(try await buyer.coins() == 200)
            _ = try await buyer.buys("com.example.app.coins100")
            #expect(try await buyer.coins() == 300)
            #expect(try await server.access(of: buyer.id).isEmpty)
        }
    }

    @Test("A refunded consumable takes its coins back, and a reversed refund gives them again")
    func refundedConsumable() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys("com.example.app.coins100")
            try await server.appStore.refund(bought.transactionID)
            try await server.deliverNotifications()
            #expect(try await buyer.coins() == 0)
            try await server.appStore.reverseRefund(bought.transactionID)
            try await server.deliverNotifications()
            #expect(try await buyer.coins() == 100)
        }
    }

    // MARK: - Non-consumables

    @Test("A non-consumable is for ever, also on a new device", arguments: Backend.allCases)
    func nonConsumable(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys("com.example.app.lifetime")
            try await server.pass(days: 4000)
            #expect(try await server.access(of: buyer.id)["pro"] == "payment")
            // A device restored from a backup shows the same transaction again.
            let restored = try await server.appStore.restore(customer: buyer.account)
            let sameAgain = try await server.present(
                restored[0].jws,
                mode: "restored",
                session: server.session(of: buyer.id)
            )
            #expect(sameAgain.json["customer"].string == buyer.id)
            await server.clock.advance(to: server.clock.now + 1000)
            try await server.appStore.refund(bought.transactionID)
            try await server.deliverNotifications()
            #expect(try await server.access(of: buyer.id).isEmpty)
        }
    }

    // MARK: - Auto-renewables

    @Test("A plan renews, is upgraded at once and downgraded at its renewal")
    func changesOfPlan() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys(Self.monthly)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            try await server.pass(days: 40)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            _ = try await server.appStore.changePlan(
                bought.originalTransactionID,
                to: Self.yearly
            )
            try await server.deliverNotifications()
            let upgraded = ["pro": "payment", "archive": "payment"]
            #expect(try await server.access(of: buyer.id) == upgraded)
            _ = try await server.appStore.changePlan(
                bought.originalTransactionID,
                to: Self.monthly
            )
            try await server.pass(days: 360)
            #expect(try await server.access(of: buyer.id) == upgraded)
            try await server.pass(days: 10)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            #expect(try await buyer.coins() == 50, "the yearly plan credits once per paid period")
        }
    }

    @Test("Cancelled, a plan runs to its end; bought again, it is back")
    func cancelAndResubscribe() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys(Self.monthly)
            try await server.appStore.cancel(bought.originalTransactionID)
            try await server.pass(days: 29)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            try await server.pass(days: 3)
            #expect(try await server.access(of: buyer.id).isEmpty)
            _ = try await buyer.buys(Self.monthly)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
        }
    }

    @Test("A failed renewal has its grace, then none, and a recovery is a new period")
    func billing() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            _ = try await buyer.buys(Self.monthly)
            try await server.appStore.failBilling(customer: buyer.account)
            try await server.pass(days: 35)
            #expect(try await server.access(of: buyer.id) == ["pro": "grace"])
            try await server.pass(days: 16)
            #expect(try await server.access(of: buyer.id).isEmpty)
            try await server.appStore.recoverBilling(customer: buyer.account)
            try await server.deliverNotifications()
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
        }
    }

    @Test("A price that needs consent ends who does not answer, and keeps who agrees")
    func priceConsent() async throws {
        try await TestServer.run { server in
            let silent = try await Buyer(server, "silent")
            let agreeing = try await Buyer(server, "agreeing")
            _ = try await silent.buys(Self.monthly)
            let bought = try await agreeing.buys(Self.monthly)
            try await server.appStore.raisePrice(
                of: Self.monthly,
                to: 14_990,
                consentRequired: true
            )
            try await server.appStore.consentToPriceIncrease(bought.originalTransactionID)
            try await server.deliverNotifications()
            var browser = try await server.portal(of: silent.id)
            let page = try await browser.open("/portal").text
            #expect(page.contains("The price rises on "))
            #expect(page.contains("Agree in the App Store by then, or the subscription ends."))
            browser = try await server.portal(of: agreeing.id)
            #expect(try await browser.open("/portal").text.contains("Next charge"))
            try await server.pass(days: 29)
            #expect(try await server.access(of: silent.id) == ["pro": "payment"])
            try await server.pass(days: 5)
            #expect(try await server.access(of: silent.id).isEmpty)
            #expect(try await server.access(of: agreeing.id) == ["pro": "payment"])
        }
    }

    @Test("An extension moves the end; a refund ends at once, and its reversal gives it back")
    func extensionAndRefund() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server)
            let bought = try await buyer.buys(Self.monthly)
            try await server.appStore.extend(bought.originalTransactionID, days: 20)
            try await server.appStore.cancel(bought.originalTransactionID)
            try await server.pass(days: 45)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            try await server.appStore.refund(bought.transactionID)
            try await server.deliverNotifications()
            #expect(try await server.access(of: buyer.id).isEmpty)
            try await server.appStore.reverseRefund(bought.transactionID)
            try await server.deliverNotifications()
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            try await server.pass(days: 10)
            #expect(try await server.access(of: buyer.id).isEmpty)
        }
    }

    @Test("A trial is a paid period, and what follows it is the plan")
    func introductoryOffer() async throws {
        try await TestServer.run { server in
            try await server.offerTrial()
            let buyer = try await Buyer(server)
            _ = try await buyer.buys(Self.monthly)
            let during = try await server.get("/v1/customers/\(buyer.id)/entitlements")
            let week: Int64 = 7 * 86_400_000
            #expect(during.json["data"][0]["until"].integer == TestServer.start + week)
            try await server.pass(days: 8)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
        }
    }

    @Test("What a family shares is each member's, until it is taken away")
    func familySharing() async throws {
        try await TestServer.run { server in
            let buyer = try await Buyer(server, "buyer", family: "family")
            let member = try await Buyer(server, "member", family: "family")
            let other = try await Buyer(server, "other")
            let bought = try await buyer.buys(Self.monthly)
            let shared = try await member.presentsWhatTheDeviceShows()
            #expect(shared == 1)
            #expect(try await other.presentsWhatTheDeviceShows() == 0)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            #expect(try await server.access(of: member.id) == ["pro": "family"])
            #expect(try await server.access(of: other.id).isEmpty)
            try await server.pass(days: 10)
            #expect(try await server.access(of: member.id) == ["pro": "family"])
            let transactions = try await server.appStore.transactions(customer: member.account)
            try await server.appStore.revokeFamilyShare(transactions[0].originalID)
            try await server.deliverNotifications()
            #expect(try await server.access(of: member.id).isEmpty)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            try await server.appStore.refund(bought.transactionID)
        }
    }

    // MARK: - Non-renewing

    @Test(
        "A pass lasts as long as the catalog says, on every device, and a second one follows it",
        arguments: Backend.allCases
    )
    func nonRenewing(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let buyer = try await Buyer(server)
            let first = try await buyer.buys("com.example.app.pass30")
            try await server.pass(days: 10)
            // Restored from a backup, on a new device: the same transaction is no second pass.
            for mode in ["restored", "observed"] {
                let again = try await server.present(
                    first.jws,
                    mode: mode,
                    session: server.session(of: buyer.id)
                )
                #expect(again.status == 200)
            }
            let day: Int64 = 86_400_000
            let one = try await server.get("/v1/customers/\(buyer.id)/entitlements")
            #expect(one.json["data"][0]["until"].integer == TestServer.start + 30 * day)
            _ = try await buyer.buys("com.example.app.pass30")
            let two = try await server.get("/v1/customers/\(buyer.id)/entitlements")
            #expect(two.json["data"][0]["until"].integer == TestServer.start + 60 * day)
            // Another device of the same customer gets the same answer.
            let other = try await server.session(of: buyer.id)
            let there = try await server.get("/v1/customers/\(buyer.id)/entitlements", as: other)
            #expect(there.json["data"] == two.json["data"])
            try await server.pass(days: 49)
            #expect(try await server.access(of: buyer.id) == ["pro": "payment"])
            try await server.pass(days: 2)
            #expect(try await server.access(of: buyer.id).isEmpty)
        }
    }
}

extension TestServer {
    /// The monthly plan begins with a week for nothing, from now on.
    func offerTrial() async throws {
        var products = await appStore.products()
        for index in products.indices where products[index].id == ProductTypeTests.monthly {
            products[index].introductoryOffer = .init(
                kind: .introductory,
                discount: .freeTrial,
                period: try #require(.init("P1W"))
            )
        }
        await appStore.setProducts(products)
    }
}

/// A customer of the app with an Apple account and a device.
struct Buyer: Sendable {
    let server: TestServer
    /// As Tollgate knows them.
    let id: String
    /// As the App Store knows them.
    let account: String
    let session: String
    let token: String

    init(
        _ server: TestServer,
        _ user: String = "user-1",
        family: String? = nil
    ) async throws {
        self.server = server
        let token = UUID()
        id = try await server.customer(user, token: token)
        self.token = token.uuidString.lowercased()
        account = try await server.appStore.createCustomer(family: family).id
        session = try await server.session(of: id)
    }

    /// Buys on the device, which posts the transaction; what the store announces arrives too.
    func buys(_ product: String, quantity: Int = 1) async throws
        -> SimulatedAppStore.SignedTransaction
    {
        let bought = try await server.appStore.buy(
            product,
            customer: account,
            appAccountToken: token,
            quantity: quantity
        )
        let answer = try await server.present(bought.jws, session: session)
        #expect(answer.status == 200)
        try await server.deliverNotifications()
        return bought
    }

    /// Posts what StoreKit lists as current on the device.
    func presentsWhatTheDeviceShows() async throws -> Int {
        let view = try await server.appStore.entitlements(customer: account)
        for jws in view.currentEntitlements {
            let answer = try await server.present(jws, mode: "observed", session: session)
            #expect(answer.status == 200)
        }
        return view.currentEntitlements.count
    }

    func coins() async throws -> Int64? {
        try await server.get("/v1/customers/\(id)/coins").json["balance"].integer
    }
}
