import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct CustomerPurchaseTests {
    private static let charge = Date(timeIntervalSince1970: 1_769_904_000)

    @Test func purchasesOfAllStoresComeFromTheServer() async throws {
        let app = TestApp()
        app.server.world.withLock { world in
            world.purchases["cus_ada"] = [
                .init(
                    id: "app_store/sandbox/com.example.app/1",
                    store: "app_store",
                    product: "pro_monthly",
                    name: "Pro, monthly",
                    kind: "plan",
                    status: "payment_failed",
                    entitlements: ["pro"],
                    until: 1_769_904_000_000,
                    willRenew: true,
                    offer: "win_back",
                    paymentProblem: true,
                    managementURL: "https://apps.apple.com/account/subscriptions",
                    interval: "month",
                    intervalCount: 1
                ),
                .init(
                    id: "stripe/sandbox/-/sub_1",
                    store: "stripe",
                    product: "archive_yearly",
                    name: "Archive",
                    kind: "plan",
                    status: "active",
                    entitlements: ["archive"],
                    willRenew: true,
                    managementURL: "javascript:alert(1)",
                    nextCharge: .init(
                        at: 1_769_904_000_000,
                        price: .init(amount: 7999, currency: "usd"),
                        awaitsConsent: false
                    )
                ),
                .init(
                    id: "tollgate/sandbox/-/gift",
                    store: "tollgate",
                    product: nil,
                    name: "Back issues",
                    kind: "grant",
                    status: "later_word"
                ),
            ]
        }
        let purchases = try await app.billing.getPurchases()
        #expect(purchases.count == 3)
        let first = purchases[0]
        #expect(first.store == .appStore && first.kind == .plan && first.offer == .winBack)
        #expect(first.hasPaymentProblem && first.isActive && first.willRenew)
        #expect(first.until == Self.charge && first.nextCharge == nil)
        #expect(first.managementURL?.host == "apps.apple.com")
        #expect(first.interval == "month" && first.intervalCount == 1)
        #expect(purchases[1].nextCharge?.date == Self.charge)
        #expect(purchases[1].nextCharge?.price == Money(amount: 7999, currency: "usd"))
        // Only web pages are opened.
        #expect(purchases[1].managementURL == nil)
        #expect(purchases[2].store == nil && purchases[2].productID == nil)
        #expect(!purchases[2].isActive && purchases[2].status.rawValue == "later_word")
        app.signIn(nil)
        await app.billing.reset()
        let error = await billingError { try await app.billing.getPurchases() }
        #expect(error?.name == "unauthenticated")
    }

    @Test func anEntitlementLeadsToItsPurchase() async throws {
        let app = TestApp()
        app.server.grant("pro", to: "cus_ada", purchase: "app_store/sandbox/com.example.app/1")
        app.server.world.withLock { world in
            world.purchases["cus_ada"] = ["2", "1"].map { number in
                API.CustomerPurchase(
                    id: "app_store/sandbox/com.example.app/\(number)",
                    store: "app_store",
                    product: "pro_monthly",
                    name: "Pro, monthly",
                    kind: "plan",
                    status: "active",
                    offer: number == "1" ? "trial" : nil
                )
            }
        }
        let entitlement = try #require(try await app.billing.getActiveEntitlements().first)
        let purchases = try await app.billing.getPurchases()
        #expect(purchases.first { $0.id == entitlement.purchaseID }?.offer == .trial)
        #expect(entitlement.store == .appStore)
    }

    @Test func whatStaffGaveHasNoStore() async throws {
        let app = TestApp()
        app.server.grant(
            "pro",
            to: "cus_ada",
            ground: .grant,
            purchase: "tollgate/sandbox/-/grant_1"
        )
        let entitlement = try #require(try await app.billing.getActiveEntitlements().first)
        #expect(entitlement.store == nil && entitlement.ground == .grant)
        #expect(entitlement.purchaseID == "tollgate/sandbox/-/grant_1")
    }

    /// What is told of a purchase, and the sentence for it.
    struct Sentence: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status = CustomerPurchase.Status.active
        var until: Date?
        var willRenew = false
        var offer: CustomerPurchase.OfferKind?
        var charge: CustomerPurchase.NextCharge?
    }

    static let sentences = [
        Sentence(
            testDescription: "Renews on February 1, 2026 for $79.99",
            until: charge,
            willRenew: true,
            charge: .init(date: charge, price: Money(amount: 7999, currency: "usd"))
        ),
        Sentence(
            testDescription: "Renews on February 1, 2026",
            until: charge,
            willRenew: true,
            charge: .init(date: charge, price: nil)
        ),
        Sentence(
            testDescription: "Free trial until February 1, 2026",
            until: charge,
            willRenew: true,
            offer: .trial,
            charge: .init(date: charge, price: nil)
        ),
        Sentence(
            testDescription:
                "The price changes on February 1, 2026. Agree in the store, or the subscription ends.",
            until: charge,
            willRenew: true,
            charge: .init(date: charge, price: nil, awaitsConsent: true)
        ),
        Sentence(testDescription: "Ends on February 1, 2026", until: charge),
        Sentence(testDescription: "Renews on February 1, 2026", until: charge, willRenew: true),
        Sentence(testDescription: "Yours for good"),
        Sentence(testDescription: "The last payment failed", status: .paymentFailed, until: charge),
        Sentence(testDescription: "Paused", status: .paused),
        Sentence(testDescription: "The payment is being processed", status: .processing),
        Sentence(testDescription: "Starts later", status: .startsLater),
        Sentence(testDescription: "Ended", status: .ended),
    ]

    @Test(arguments: sentences)
    func oneSentenceSaysHowAPurchaseStands(_ sentence: Sentence) throws {
        let purchase = CustomerPurchase(
            id: "p",
            store: .appStore,
            productID: "pro",
            name: "Pro",
            kind: .plan,
            status: sentence.status,
            lookupKeys: sentence.status == .active ? ["pro"] : [],
            until: sentence.until,
            willRenew: sentence.willRenew,
            offer: sentence.offer,
            nextCharge: sentence.charge
        )
        let zone = try #require(TimeZone(identifier: "UTC"))
        let said = purchase.formattedStatus(locale: Locale(identifier: "en_US"), timeZone: zone)
        #expect(said == sentence.testDescription)
        for language in Texts.languages {
            let locale = Locale(identifier: language)
            #expect(!purchase.formattedStatus(locale: locale, timeZone: zone).contains("%"))
        }
    }
}
