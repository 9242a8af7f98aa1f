import Foundation
import FoundationNetworking
import DeclaredAgeRange
import StoreKit
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

extension OnePhone {
    /// StoreKit's side of the SDK, against stand-ins.
    @Suite @MainActor struct AppStoreTests {
        let store = _FakeAppStore.shared

        init() { store._reset() }

        // MARK: - The app's own download, and messages

        @Test func theFirstVersionOfTheAppIsSaidWhereStoreKitHasVerifiedIt() async throws {
            let app = await launched()
            let date = Date(timeIntervalSince1970: 1_600_000_000)
            let download = AppTransaction(_stub: "1.2", date, jws: "jws")
            _FakeAppTransaction.result = .verified(download)
            defer { _FakeAppTransaction.result = nil }
            let known = try await app.billing.getAppDownload()
            #expect(known?.originalAppVersion == "1.2" && known?.originalPurchaseDate == date)
            #expect(known?.signedTransaction == "jws")
            _FakeAppTransaction.result = .unverified(download, .invalidSignature)
            #expect(try await app.billing.getAppDownload() == nil)
            _FakeAppTransaction.result = nil
            await #expect(throws: NSError.self) { try await app.billing.getAppDownload() }
        }

        @Test func messagesOfTheAppStoreWaitUntilTheAppShowsThem() async throws {
            let app = await launched()
            let heard = Locked<[AppStoreMessage]>([])
            let messages = app.billing.appStoreMessages
            let reading = Task { for await m in messages { heard.withLock { $0.append(m) } } }
            defer { reading.cancel() }
            #expect(await eventually { _FakeMessages.shared._isWatched })
            _FakeMessages.shared._send(Message(_stub: .priceIncreaseConsent))
            #expect(await eventually { !heard.withLock { $0 }.isEmpty })
            #expect(store._sheets.isEmpty)
            let message = try #require(heard.withLock { $0.first })
            #expect(message.reason == .priceIncreaseConsent)
            try message.show(in: UIWindowScene())
            #expect(store._sheets == ["message 1"])
        }

        // MARK: - Offers, status, promotion

        @Test func anOfferIsBoughtWithTheServersSignature() async throws {
            let app = await launched()
            guard
                case .purchased = try await app.billing.purchase(
                    Product(_stub: "p"),
                    offer: "winter"
                )
            else {
                Issue.record("not purchased")
                return
            }
            #expect(
                app.server.world.withLock { $0.offers }
                    == [.init(type: .promotionalOffer, product: "p", offer: "winter")]
            )
            let token = FakeServer.token(of: "cus_ada")
            #expect(
                store.lastOptions
                    == Set(
                        Product.PurchaseOption.promotionalOffer(
                            "winter",
                            compactJWS: "e30.e30.c2ln"
                        )
                    ).union([.appAccountToken(token)])
            )
            // What Xcode before 26 builds.
            let preparation = PurchasePreparation(client: app.billing.client)
            let signed = try await preparation.offerSignature(product: "p", offer: "winter")
            let nonce = try #require(UUID(uuidString: "6a1f9f0c-2f5b-4b49-b6c7-0e6b8f9a4d10"))
            #expect(
                try preparation.signedOptions(signed) == [
                    .appAccountToken(token),
                    .promotionalOffer(
                        offerID: "winter",
                        keyID: "KEY",
                        nonce: nonce,
                        signature: Data("signed".utf8),
                        timestamp: 1_800_000_000_000
                    ),
                ]
            )
        }

        @Test func anOfferThatIsNotSignedIsNotBought() async throws {
            let app = await launched()
            app.server.mood(.answers(404, .resourceMissing), on: .appStoreOfferSignatures)
            do {
                _ = try await app.billing.purchase(Product(_stub: "p"), offer: "unknown")
                Issue.record("bought")
            } catch let error as BillingSDKError {
                #expect(error.name == "notFound")
            }
            #expect(store.lastOptions.isEmpty && store.finished.isEmpty)
        }

        @Test func theStateOfASubscriptionIsShown() async throws {
            let end = Date(timeIntervalSince1970: 5)
            store.statuses["pro"] = [
                .init(
                    _stub: .inGracePeriod,
                    Transaction(_stub: 1, productID: "monthly", jws: "j"),
                    .init(_stub: "monthly", willAutoRenew: true, graceUntil: end)
                )
            ]
            let shown = try await TestApp().billing.getAppStoreSubscriptions(groupID: "pro")
            #expect(shown.map(\.state) == [.inGracePeriod])
            #expect(shown.first?.willAutoRenew == true && shown.first?.nextProductID == "monthly")
            #expect(shown.first?.gracePeriodExpirationDate == end)
            #expect(try await TestApp().billing.getAppStoreSubscriptions(groupID: "other").isEmpty)
        }

        @Test func everySubscriptionOfTheAccountIsFoundWithItsOffer() async throws {
            let trial = Transaction(
                _stub: 1,
                productID: "monthly",
                jws: "j",
                group: "pro",
                offerType: .introductory
            )
            store.entitled = [trial]
            store.statuses["pro"] = [
                .init(_stub: .inBillingRetryPeriod, trial, .init(_stub: "monthly"))
            ]
            let shown = try await TestApp().billing.getAppStoreSubscriptions()
            #expect(shown.map(\.productID) == ["monthly"] && shown.map(\.offer) == [.introductory])
            #expect(shown.map(\.hasPaymentProblem) == [true])
        }

        @Test func promotedProductsAreOrderedAndHidden() async throws {
            let billing = TestApp().billing
            try await billing.setPromotedProductOrder(["b", "a"])
            try await billing.setPromotedProductVisibility(.hidden, of: "b")
            #expect(
                try await billing.getPromotedProducts() == [
                    PromotedProduct(id: "b", visibility: .hidden),
                    PromotedProduct(id: "a", visibility: .appStoreConnectDefault),
                ]
            )
            try await billing.setPromotedProductOrder([])
            #expect(try await billing.getPromotedProducts().isEmpty)
        }

        @Test func aChangeOfASubscriptionsStatusRefreshesTheEntitlements() async throws {
            let app = TestApp(maximumStale: 36000)
            app.server.grant("premium", to: "cus_ada")
            _ = try await app.keys()
            app.server.grant("premium", to: "cus_ada", ground: .grace)
            let transaction = Transaction(_stub: 1, productID: "monthly", jws: "j")
            let status = Product.SubscriptionInfo.Status(
                _stub: .inGracePeriod,
                transaction,
                .init(_stub: "monthly")
            )
            #expect(
                await eventually {
                    store._change(status)
                    return app.heardSets.count == 2
                }
            )
        }

        // MARK: - The age

        @Test func theSystemIsAskedForTheCatalogsAgeAndWhatIsSharedIsRecorded() async throws {
            let app = TestApp()
            app.server.world.withLock { $0.catalog.gates = .init(minimumAge: 16) }
            _FakeAge.gates = []
            for (age, stated, isTooYoung) in [(nil, nil, false), (12, 0, true), (30, 16, false)]
                as [(Int?, Int?, Bool)]
            {
                _FakeAge.age = age
                let consents = try await app.billing.requestAge(in: UIViewController())
                #expect(consents.isAgeMissing == (stated != 16))
                #expect(consents.statedAge == stated && consents.isTooYoung == isTooYoung)
            }
            #expect(try await app.billing.getConsents().statedAgeBelow == nil)
            // It is on record: nobody is asked again.
            _ = try await app.billing.requestAge(in: UIViewController())
            #expect(_FakeAge.gates == [[16], [16], [16]])
        }

        @Test func theSystemIsAskedForEveryAgeThatTheAppTellsApart() async throws {
            let app = TestApp()
            app.server.world.withLock {
                $0.catalog.gates = .init(
                    minimumAge: 13,
                    ageTiers: [16],
                    parentalConsentBelow: 18
                )
            }
            _FakeAge.gates = []
            _FakeAge.age = 14
            _FakeAge.declaration = .guardianPaymentChecked
            let consents = try await app.billing.requestAge(in: UIViewController())
            _FakeAge.declaration = nil
            #expect(_FakeAge.gates == [[13, 16, 18]])
            #expect(consents.statedAge == 13 && consents.statedAgeBelow == 16)
            #expect(consents.ageDeclaration == .guardianChecked && consents.ageTier == 13)
            #expect(!consents.isAgeMissing && consents.isParentalConsentMissing)
            // People grow older.
            _FakeAge.age = 18
            #expect(try await app.billing.requestAge(in: UIViewController()).ageTier == 18)
            _ = try await app.billing.requestAge(in: UIViewController())
            #expect(_FakeAge.gates.count == 2)
        }

        /// In some regions the law sets the ages: 10 to 15 lies on both sides of 13.
        @Test func aRangeThatStraddlesTwoTiersIsTheLowerOneUntilTheCustomerSaysMore() async throws {
            let app = TestApp()
            app.server.world.withLock { $0.catalog.gates = .init(minimumAge: 13, ageTiers: [16]) }
            (_FakeAge.gates, _FakeAge.range) = ([], 10...15)
            _FakeAge.declaration = .guardianDeclared
            defer { (_FakeAge.range, _FakeAge.declaration) = (nil, nil) }
            let shared = try await app.billing.requestAge(in: UIViewController())
            #expect(shared.statedAge == 10 && shared.statedAgeBelow == 16)
            #expect(shared.isAgeUnclear && shared.isAgeMissing)
            #expect(!shared.isTooYoung && shared.ageTier == nil)
            // The system is asked again, since people grow older.
            _ = try await app.billing.requestAge(in: UIViewController())
            #expect(_FakeAge.gates == [[13, 16], [13, 16]])
            let said = try await app.billing.stateAge(atLeast: 13, below: 16)
            #expect(said.ageTier == 13 && !said.isAgeUnclear && !said.isAgeMissing)
        }

        @Test func thePersonsOwnWordDoesNotOverrideTheGuardians() async throws {
            let app = TestApp()
            app.server.world.withLock { $0.catalog.gates = .init(minimumAge: 13, ageTiers: [16]) }
            (_FakeAge.age, _FakeAge.declaration) = (14, .guardianDeclared)
            defer { (_FakeAge.age, _FakeAge.declaration) = (nil, nil) }
            _ = try await app.billing.requestAge(in: UIViewController())
            let error = await billingError { try await app.billing.stateAge(atLeast: 16) }
            guard case .requestRefused(409, "age_declared", _)? = error else {
                Issue.record("got \(String(describing: error))")
                return
            }
            // Nor does what they share by themselves on another Apple account.
            (_FakeAge.age, _FakeAge.declaration) = (30, .selfDeclared)
            let consents = try await app.billing.requestAge(in: UIViewController())
            #expect(consents.statedAge == 13 && consents.statedAgeBelow == 16)
            #expect(consents.ageDeclaration == .guardianDeclared)
        }

        // MARK: - Apple's sheets

        @Test func afterManagingSubscriptionsTheEntitlementsAreFresh() async throws {
            let app = TestApp(maximumStale: 36000)
            _ = try await app.keys()
            app.server.grant("premium", to: "cus_ada")
            try await app.billing.showAppStoreSubscriptions(in: UIWindowScene())
            #expect(store._sheets == ["manage"] && app.heardSets == [["premium"]])
        }

        @Test func codesAndRefundsHaveApplesSheets() async throws {
            let billing = TestApp().billing
            try await billing.showOfferCodeSheet(in: UIWindowScene())
            let refund = {
                try await billing.showRefundSheet(forTransaction: 7, in: UIWindowScene())
            }
            #expect(try await refund() == .requested)
            store._refund = .userCancelled
            #expect(try await refund() == .cancelled)
            #expect(store._sheets == ["code", "refund 7", "refund 7"])
        }

        // MARK: - A device without an answer

        @Test func storeKitsEntitlementsAndStatusDecideWhereTheServerNeverHas() async throws {
            let phone = OfflineTests.Phone()
            phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
            let first = phone.launch()
            _ = try await first.billing.getBuyButton(id: "buy_btn_monthly")
            await first.settled()
            let json = DeviceEvaluationTests.transaction(to: 1000)
            let transaction = Transaction(
                _stub: 1,
                productID: "monthly",
                jws: "j",
                group: "pro",
                json: json
            )
            store.entitled = [transaction]
            let zero: Int64 = 1_800_000_000_000
            let renewal = """
                {"autoRenewStatus":1,"autoRenewProductId":"monthly","signedDate":\(zero + 1_000_000),
                "gracePeriodExpiresDate":\(zero + 2_000_000)}
                """
            store.statuses["pro"] = [
                .init(
                    _stub: .inGracePeriod,
                    transaction,
                    .init(_stub: "monthly", json: Data(renewal.utf8))
                )
            ]
            phone.server.mood(.answers(500, .internalError))
            let app = phone.launch(storeKit: StoreKitStatement.ofThisDevice)
            phone.server.clock.advance(by: 1999)
            #expect(try await app.keys() == ["pro"])
            phone.server.clock.advance(by: 1)
            do {
                let keys = try await app.keys()
                Issue.record("still \(keys)")
            } catch let error as BillingSDKError {
                #expect(error.name == "serverUnavailable")
            }
        }

        @Test func whatStoreKitHoldsIsToldAsTheAppStoreSignedItWhereTheServerSaysNo() async throws {
            let phone = OfflineTests.Phone()
            phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
            store.entitled = [
                Transaction(
                    _stub: 1,
                    productID: "monthly",
                    jws: "signed by the App Store",
                    json: DeviceEvaluationTests.transaction()
                )
            ]
            let app = phone.launch(storeKit: StoreKitStatement.ofThisDevice)
            #expect(try await app.keys() == ["premium"])
            await app.billing.client.observations.task.withLock { $0 }?.value
            #expect(
                phone.server.world.withLock { $0.observed } == [
                    API.AppStoreObservation(
                        signedTransactions: ["signed by the App Store"],
                        lookupKeys: ["pro"]
                    )
                ]
            )
        }

        // MARK: - The inbox

        @Test func whatWaitsInTheInboxIsBoughtAndLeaves() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            let waiting = inbox.add(productID: "coins", quantity: 3, origin: .promotedPayment)
            guard case .purchased = try await app.billing.purchase(waiting) else {
                Issue.record("not purchased")
                return
            }
            #expect(
                store.lastOptions
                    == [.quantity(3), .appAccountToken(FakeServer.token(of: "cus_ada"))]
            )
            #expect(inbox.pending.isEmpty)
        }

        @Test func anIntentsWinBackOfferIsBought() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            let offer = Product.SubscriptionOffer(_stub: "come_back", .winBack)
            var monthly = Product(_stub: "monthly")
            monthly.subscription = .init(_stub: [offer])
            store.products["monthly"] = monthly
            store.sendIntent(monthly, offer: offer)
            let receiving = Task { await app.billing.receivePurchaseIntents() }
            defer { receiving.cancel() }
            #expect(await eventually { inbox.pending.map(\.winBackOfferID) == ["come_back"] })
            _ = try await app.billing.purchase(try #require(inbox.pending.first))
            #expect(store.lastOptions.contains(.winBackOffer(offer)))
        }

        @Test func withoutItsOfferItIsNotBoughtAtTheFullPrice() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            let waiting = inbox.add(productID: "monthly", origin: .purchaseIntent, offer: "gone")
            do {
                _ = try await app.billing.purchase(waiting)
                Issue.record("bought")
            } catch let error as BillingSDKError {
                #expect(error.name == "notFound")
            }
            #expect(store.lastOptions.isEmpty)
        }

        @Test func aDeclinedRequestToBuyEnds() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            let waiting = inbox.add(productID: "coins", origin: .promotedPayment)
            store.behaviour = .pending
            _ = try await app.billing.purchase(waiting)
            app.clock.advance(by: 86_399)
            #expect(inbox.pending.map(\.isUnderWay) == [true])
            // The customer knows that it was declined, and asks again.
            inbox.resume(waiting.id)
            #expect(inbox.pending.map(\.isUnderWay) == [false])
            _ = try await app.billing.purchase(waiting)
            app.clock.advance(by: 86_400)
            #expect(inbox.pending.isEmpty)
            // Approved all the same, later.
            let id = store.deliver(productID: "coins")
            #expect(await eventually { store.finished == [id] })
        }

        @Test func whatIsPaidForAndOnItsWayDoesNotEnd() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            let waiting = inbox.add(productID: "coins", origin: .promotedPayment)
            app.server.mood(.answers(503, .storageUnavailable), on: .appStoreTransactions)
            _ = try await app.billing.purchase(waiting)
            app.clock.advance(by: 90_000)
            #expect(inbox.pending.map(\.isUnderWay) == [true])
        }

        @Test func whatIsCancelledStaysInTheInbox() async throws {
            let app = await launched()
            let waiting = app.billing.purchaseInbox.add(productID: "coins", origin: .purchaseIntent)
            store.behaviour = .cancel
            _ = try await app.billing.purchase(waiting)
            #expect(app.billing.purchaseInbox.pending == [waiting])
        }

        @Test func whatSomebodyHasToApproveLeavesWhenItArrives() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            let waiting = inbox.add(productID: "coins", origin: .promotedPayment)
            store.behaviour = .pending
            _ = try await app.billing.purchase(waiting)
            #expect(inbox.pending.map(\.isUnderWay) == [true])
            #expect(inbox.next(PurchaseReadiness()) == nil)
            let id = store.deliver(productID: "coins")
            #expect(await eventually { store.finished == [id] && inbox.pending.isEmpty })
        }

        @Test func whatTheServerHasNotAcknowledgedStaysUnderWay() async throws {
            let app = await launched()
            let inbox = app.billing.purchaseInbox
            let waiting = inbox.add(productID: "coins", origin: .promotedPayment)
            app.server.mood(.answers(503, .storageUnavailable), on: .appStoreTransactions)
            _ = try await app.billing.purchase(waiting)
            #expect(inbox.pending.map(\.isUnderWay) == [true])
            app.server.mood(nil, on: .appStoreTransactions)
            NotificationCenter.default.post(
                name: UIApplication.willEnterForegroundNotification,
                object: nil
            )
            #expect(await eventually { inbox.pending.isEmpty })
        }

        @Test func whatTheAppStoreDoesNotSellIsAnError() async throws {
            let app = await launched()
            let waiting = app.billing.purchaseInbox.add(productID: "unknown", origin: .code)
            do {
                _ = try await app.billing.purchase(waiting)
                Issue.record("bought")
            } catch let error as BillingSDKError {
                #expect(error.name == "notFound")
            }
            #expect(app.billing.purchaseInbox.pending.count == 1)
        }

        @Test func aRedeemedCodeIsInTheInboxUntilSomebodyOwnsIt() async throws {
            let app = TestApp()
            app.signIn(nil)
            let inbox = app.billing.purchaseInbox
            let id = store.deliver(productID: "monthly", offerType: .code)
            #expect(await eventually { inbox.pending.map(\.origin) == [.code] && app.isIdle })
            #expect(inbox.pending.first?.productID == "monthly" && store.finished.isEmpty)
            app.signIn("cus_ada")
            _ = try await app.keys()
            #expect(await eventually { store.finished == [id] && inbox.pending.isEmpty })
        }

        @Test func aCheckoutThatWasOnItsWayIsAskedForAtTheForeground() async throws {
            let app = TestApp()
            _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
            let link = try #require(
                URL(string: "https://x.example/checkout_redirect/success?session_id=cs_1")
            )
            #expect(await app.billing.handleCheckoutReturn(link) == .processing)
            app.server.world.withLock { $0.checkouts["cs_1"] = .confirmed }
            app.server.grant("premium", to: "cus_ada")
            NotificationCenter.default.post(
                name: UIApplication.willEnterForegroundNotification,
                object: nil
            )
            #expect(
                await eventually {
                    app.billing.purchaseInbox.pending.isEmpty && app.heardSets == [["premium"]]
                }
            )
        }

        // MARK: - StoreKit 1

        @Test func aPromotedPaymentWaitsThroughTheObserverUntilTheAppIsReady() throws {
            let app = TestApp()
            let holder = PromotingPurchasePaymentHolder(inbox: app.billing.purchaseInbox)
            let observer = HoldingObserver(holder)
            let queue = SKPaymentQueue()
            queue.add(observer)
            let product = SKProduct(_stub: "monthly")
            product.subscriptionPeriod = SKProductSubscriptionPeriod(_stub: 1)
            queue._promote(product)
            #expect(queue.transactions.isEmpty)
            let pending = try #require(app.billing.purchaseInbox.pending.first)
            #expect(pending.kind == .subscription && pending.origin == .promotedPayment)
            let held = try #require(holder.pendingPayments.first?.payment)
            // In this process exactly the payment that StoreKit gave is queued.
            let payment = try #require(holder.payment(for: pending, product: product))
            #expect(payment === held)
            queue.add(payment)
            #expect(queue.transactions.first?.payment === held)
            #expect(holder.pendingPayments.count == 1)
            holder.consume(pending)
            #expect(holder.pendingPayments.isEmpty && app.billing.purchaseInbox.pending.isEmpty)
        }

        @Test func anAppWithoutGatesLetsThePaymentGoOn() {
            let queue = SKPaymentQueue()
            let observer = HoldingObserver(nil)
            queue.add(observer)
            queue._promote(SKProduct(_stub: "coins"))
            #expect(queue.transactions.count == 1)
        }
    }
}

/// Holds payments, or lets them go on where there is no holder.
private final class HoldingObserver: NSObject, SKPaymentTransactionObserver {
    let holder: PromotingPurchasePaymentHolder?

    init(_ holder: PromotingPurchasePaymentHolder?) { self.holder = holder }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldAddStorePayment payment: SKPayment,
        for product: SKProduct
    ) -> Bool {
        guard let holder else { return true }
        holder.add(PromotingPurchasePayment(product: product, payment: payment))
        return false
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {}
}
