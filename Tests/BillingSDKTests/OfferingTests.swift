import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct OfferingTests {
    private func app() -> TestApp {
        let app = TestApp()
        app.server.world.withLock { world in
            world.offerings = [.sample(), .sample("other", title: "Another")]
            world.placements = ["paywall": ["cus_ada": "other", "nobody": "standard"]]
        }
        return app
    }

    @Test func offeringsComeInTheCatalogsOrderWithWhatIsNeededToSellThem() async throws {
        let app = app()
        app.signIn(nil)
        let offerings = try await app.billing.getOfferings()
        #expect(offerings.map(\.id) == ["standard", "other"])
        let plan = try #require(offerings.first?.products.first)
        #expect(plan.id == "pro_monthly" && plan.kind == .autoRenewable)
        #expect(plan.appStoreProductID == "com.example.app.pro.monthly")
        #expect(plan.buyButtonID == "buy_btn_monthly" && plan.promotionalOffers == ["come_back"])
        #expect(plan.price == Money(amount: 1500, currency: "jpy"))
        let english = Locale(identifier: "en_US")
        #expect(plan.formattedPriceAndPeriod(locale: english) == "¥1,500 every 3 months")
        #expect(offerings[0].products[1].formattedPriceAndPeriod(locale: english) == nil)
    }

    @Test(arguments: [
        ("en_GB", "Go Pro"), ("ja_JP", "Proへ"), ("zh-Hans_CN", "升级"), ("zh_TW", "升級"),
        ("zh_CN", "升级"), ("zh-Hant-HK", "升級"), ("pt_BR", "Seja Pro"), ("pt_PT", "Go Pro"),
        ("de_AT", "Go Pro"), ("", "Go Pro"), ("ja_JP@calendar=japanese", "Proへ"),
    ])
    func theLocaleDecidesWhichWordsAreShown(_ locale: String, _ title: String) async throws {
        let offering = try #require(try await app().billing.getOfferings().first)
        #expect(offering.text(locale: Locale(identifier: locale))?.title == title)
    }

    @Test func withoutEnglishTheFirstLanguageIsShownAndWithoutWordsNone() {
        let words = Offering(
            id: "o",
            products: [],
            texts: ["ko": .init(title: "프로"), "fr": .init(title: "Passez à Pro")]
        )
        #expect(words.text(locale: Locale(identifier: "de"))?.title == "Passez à Pro")
        #expect(Offering(id: "o", products: []).text() == nil)
    }

    @Test func aPlacementShowsTheCustomersVariantAndAVisitorTheFirst() async throws {
        let app = app()
        let own = try await app.billing.getPlacement(id: "paywall")
        #expect(own.id == "paywall" && own.offering.id == "other")
        let error = await billingError { try await app.billing.getPlacement(id: "unknown") }
        #expect(error?.name == "notFound")
        app.signIn(nil)
        await app.billing.reset()
        #expect(try await app.billing.getPlacement(id: "paywall").offering.id == "standard")
    }

    @Test func whatWasShownIsToldForTheCustomer() async throws {
        let app = app()
        let placement = try await app.billing.getPlacement(id: "paywall")
        try await app.billing.recordShown(placement)
        try await app.billing.recordShown(placement)
        #expect(app.server.world.withLock { $0.shown.first } == ["cus_ada", "paywall", "other"])
        app.signIn(nil)
        await app.billing.reset()
        let error = await billingError { try await app.billing.recordShown(placement) }
        #expect(error?.name == "unauthenticated")
    }
}
