import Testing
import TollgateCore

@Suite("How stores differ")
struct StoreTests {
    private static func stores(_ does: (Store) -> Bool) -> [Store] { Store.allCases.filter(does) }

    @Test("all take money but the one that grants without any")
    func money() {
        #expect(Store.selling == [.appStore, .stripe, .googlePlay])
        #expect(Store.sellingWords == "app_store, stripe or google_play")
    }

    @Test("only Stripe leaves it to the catalog how long grace lasts")
    func grace() {
        #expect(Self.stores(\.hasGraceOfCatalog) == [.stripe])
    }

    @Test("only the App Store changes the plan that runs when another one is bought")
    func plans() {
        #expect(Self.stores(\.changesPlans) == [.appStore])
    }

    @Test("only Google Play's notifications do not name their environment")
    func hints() {
        #expect(Self.stores { !$0.namesEnvironmentInHints } == [.googlePlay])
    }

    @Test("only the App Store reports units of a product, not payments")
    func reports() {
        #expect(Self.stores(\.reportsUnits) == [.appStore])
    }

    @Test("only the App Store is played by Xcode")
    func xcode() {
        #expect(Self.stores(\.isPlayedByXcode) == [.appStore])
    }

    @Test("only Stripe sells on the web")
    func web() {
        #expect(Self.stores(\.sellsOnTheWeb) == [.stripe])
    }

    @Test("only the App Store pays by the month")
    func payouts() {
        #expect(Self.stores(\.paysByMonth) == [.appStore])
    }

    @Test("subscriptions at Stripe and in Google Play have items side by side")
    func periods() {
        #expect(Self.stores { $0.lineOfPeriods == .manyItems } == [.stripe, .googlePlay])
    }
}
