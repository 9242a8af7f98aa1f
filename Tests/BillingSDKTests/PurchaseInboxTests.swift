import Foundation
import Testing

@testable import BillingSDK

extension FilesOnTheDeviceTests {
    @Test func eachAppHasAFolderOfItsOwn() {
        let support = URL(fileURLWithPath: "/support")
        let folders = ["com.example.reader", "com.example.player", nil].map {
            BillingSDK.Configuration.cacheDirectory(in: support, of: $0).path
        }
        #expect(
            folders == [
                "/support/BillingSDK/com.example.reader", "/support/BillingSDK/com.example.player",
                "/support/BillingSDK/unknown",
            ]
        )
    }

    @Test func whatAnEarlierVersionKeptMovesIntoTheAppsFolder() throws {
        let support = FileManager.default.temporaryDirectory
            .appendingPathComponent("billing-sdk-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: support) }
        OfflineStorage.files(in: support, for: "pk_test_shop").save(.inbox, Data("[]".utf8))
        let own = support.appendingPathComponent("com.example.reader")
        let storage = OfflineStorage.files(in: own, for: "pk_test_shop", movedFrom: support)
        #expect(storage.load(.inbox) == Data("[]".utf8))
        #expect(OfflineStorage.files(in: support, for: "pk_test_shop").load(.inbox) == nil)
        // Another app of the user's that comes later takes nothing.
        let other = support.appendingPathComponent("com.example.player")
        let others = OfflineStorage.files(in: other, for: "pk_test_shop", movedFrom: support)
        #expect(others.load(.inbox) == nil)
    }

    /// By name, so that a file that is added later has to be thought of here.
    @Test func signingOutLeavesNothingOfTheCustomerOnTheDevice() async throws {
        let phone = OfflineTests.Phone()
        phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
        let app = phone.launch()
        let client = app.billing.client
        _ = try await app.keys()
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        app.billing.purchaseInbox.add(productID: "coins", origin: .promotedPayment)
        AccountTokens(storage: client.storage).keep(UUID(), of: "cus_ada")
        ClaimedTransactions(storage: client.storage).keep(
            .init(signature: "signature"),
            .purchased,
            of: "cus_ada",
            at: app.clock.now
        )
        client.observations.told("cus_ada", at: app.clock.now)
        await app.billing.reset()
        // Secrets of a visitor's checkouts bear no name, and are all that leads to what was paid for.
        let nobodys: Set<OfflineStorage.Name> = [.keys, .catalog, .mark, .visitorSecrets]
        for name in OfflineStorage.Name.allCases where !nobodys.contains(name) {
            let kept = client.storage.load(name).map { String(decoding: $0, as: UTF8.self) }
            #expect(kept == nil || kept == "[]", "\(name)")
        }
        #expect(app.billing.purchaseInbox.pending.isEmpty)
    }
}

@Suite struct PurchaseInboxTests {
    private func inbox(_ disk: Locked<Data?> = Locked(nil)) -> PurchaseInbox {
        PurchaseInbox(
            storage: OfflineStorage(
                load: { _ in disk.withLock { $0 } },
                save: { _, data in disk.withLock { $0 = data } }
            ),
            now: { Date(timeIntervalSince1970: 1) }
        )
    }

    private func openGates() -> PurchaseReadiness {
        var readiness = PurchaseReadiness()
        readiness.isSetUp = true
        readiness.isSignedIn = true
        readiness.hasAcceptedTerms = true
        readiness.hasAcceptedSubscriptionTerms = true
        readiness.hasStatedAge = true
        return readiness
    }

    @Test func aPurchaseWaitsUntilEachOfItsGatesIsPassed() {
        let inbox = inbox()
        let purchase = inbox.add(
            productID: "monthly",
            kind: .subscription,
            origin: .promotedPayment
        )
        var readiness = PurchaseReadiness()
        readiness.ownedProductIDs = ["monthly"]
        #expect(inbox.next(readiness) == .pass(.setUp, for: purchase))
        readiness.isSetUp = true
        #expect(inbox.next(readiness) == .pass(.signIn, for: purchase))
        readiness.isSignedIn = true
        #expect(inbox.next(readiness) == .pass(.notOwned, for: purchase))
        readiness.ownedProductIDs = []
        #expect(inbox.next(readiness) == .pass(.terms, for: purchase))
        readiness.hasAcceptedTerms = true
        #expect(inbox.next(readiness) == .pass(.subscriptionTerms, for: purchase))
        readiness.hasAcceptedSubscriptionTerms = true
        #expect(inbox.next(readiness) == .proceed(purchase))
    }

    @Test(arguments: [
        (PendingPurchase.Kind.subscription, [PurchaseGate.subscriptionTerms]),
        (.oneOff, [.age]), (nil, [.subscriptionTerms, .age]),
    ])
    func theKindDecidesWhichGatesThereAre(
        _ kind: PendingPurchase.Kind?,
        _ closed: [PurchaseGate]
    ) {
        let purchase = inbox().add(productID: "p", kind: kind, origin: .code)
        var readiness = openGates()
        readiness.hasAcceptedSubscriptionTerms = false
        readiness.hasStatedAge = false
        #expect(readiness.closedGates(for: purchase) == closed)
    }

    @Test func itSurvivesARelaunchAndLeavesOnlyWhenDone() {
        let disk = Locked<Data?>(nil)
        let purchase = inbox(disk).add(productID: "monthly", origin: .purchaseIntent)
        let relaunched = inbox(disk)
        #expect(relaunched.pending == [purchase])
        relaunched.postpone(purchase.id)
        #expect(relaunched.next(openGates()) == nil)
        #expect(inbox(disk).pending.first?.isPostponed == true)
        relaunched.resume(purchase.id)
        #expect(relaunched.next(openGates()) == .proceed(purchase))
        relaunched.finish(purchase.id)
        #expect(inbox(disk).pending.isEmpty)
    }

    @Test func theSamePurchaseBegunTwiceWaitsOnceAndIsWantedAgain() {
        let inbox = inbox()
        let first = inbox.add(productID: "monthly", origin: .promotedPayment)
        inbox.postpone(first.id)
        let second = inbox.add(productID: "monthly", origin: .purchaseIntent)
        #expect(second.id == first.id && !second.isPostponed)
        let third = inbox.add(productID: "monthly", origin: .purchaseIntent, offer: "come_back")
        #expect(third.id == first.id && third.winBackOfferID == "come_back")
        #expect(inbox.pending.count == 1)
    }

    @Test func listenersHearEachChangeAndOnlyChanges() {
        let inbox = inbox()
        let heard = Locked<[Int]>([])
        inbox.onChange { pending in heard.withLock { $0.append(pending.count) } }
        let purchase = inbox.add(productID: "a", origin: .code)
        inbox.add(productID: "a", origin: .code)
        inbox.add(productID: "b", origin: .code)
        inbox.discard(purchase.id)
        inbox.discard(purchase.id)
        #expect(heard.withLock { $0 } == [1, 2, 1])
    }

    @Test func rubbishOnDiskIsAnEmptyInbox() {
        #expect(inbox(Locked(Data("[{".utf8))).pending.isEmpty)
    }

    @Test func theTestLinkNamesAppAndProduct() {
        let link = BillingSDK.purchaseIntentTestLink(
            bundleID: "com.example.app",
            productID: "a b&c"
        )
        #expect(
            link?.absoluteString
                == "itms-services://?action=purchaseIntent&bundleId=com.example.app"
                + "&productIdentifier=a%20b%26c"
        )
        #expect(BillingSDK.purchaseIntentTestLink(bundleID: "", productID: "x") == nil)
    }

    @Test func listenersHearTheChangesOfSeveralThreadsInTheirOrder() {
        let disk = Locked<Data?>(nil)
        let heard = Locked<[[String]]>([])
        /// What another thread does as soon as this one has let go of the file.
        let next = Locked<(@Sendable () -> Void)?>(nil)
        let storage = OfflineStorage(
            load: { _ in disk.withLock { $0 } },
            save: { _, data in disk.withLock { $0 = data } },
            lock: {
                {
                    let next = next.withLock { next in
                        defer { next = nil }
                        return next
                    }
                    next?()
                }
            }
        )
        let inbox = PurchaseInbox(storage: storage, now: { Date(timeIntervalSince1970: 1) })
        inbox.onChange { pending in heard.withLock { $0.append(pending.map(\.productID)) } }
        next.withLock { $0 = { inbox.add(productID: "b", origin: .code) } }
        inbox.add(productID: "a", origin: .code)
        #expect(heard.withLock { $0 } == [["a"], ["a", "b"]])
    }

    @Test func listenersHearTheChangesInTheirOrder() {
        let inbox = TestApp().billing.purchaseInbox
        let heard = Locked<[[String]]>([])
        // The first causes another change before the second has heard of this one.
        inbox.onChange { pending in
            if pending.count == 1 { inbox.add(productID: "b", origin: .code) }
        }
        inbox.onChange { pending in heard.withLock { $0.append(pending.map(\.productID)) } }
        inbox.add(productID: "a", origin: .code)
        #expect(heard.withLock { $0 } == [["a"], ["a", "b"]])
    }
}
