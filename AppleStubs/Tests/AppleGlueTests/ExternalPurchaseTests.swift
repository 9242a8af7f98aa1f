import Foundation
import StoreKit
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

extension OnePhone {
    /// Checkouts outside the App Store: Apple's notice, its token, and only then the page.
    @Suite @MainActor struct ExternalPurchaseTests {
        let apple = _FakeExternalPurchases.shared
        let app = TestApp()

        init() {
            _FakeAppStore.shared._reset()
            apple._reset()
            apple.tokens = [
                "ACQUISITION": Self.token("1", "ACQUISITION"),
                "SERVICES": Self.token("2", "SERVICES"), "sheet": Self.token("3", nil),
            ]
            UIApplication.shared._openedURLs = []
        }

        private static func token(_ id: String, _ type: String?) -> String {
            let type = type.map { #","tokenType":"\#($0)""# } ?? ""
            return Base64URL.encode(Data(#"{"externalPurchaseId":"\#(id)"\#(type)}"#.utf8))
        }

        private static let checkoutPath = APIPath(
            template: APIPath.buyButtonCheckout.path(id: "buy_btn_monthly")
        )

        private var opened: [String] { UIApplication.shared._openedURLs.map(\.absoluteString) }
        private var isBegun: Bool { !app.server.world.withLock { $0.checkouts.isEmpty } }
        private var purchases: ExternalPurchases { app.billing.externalPurchases }

        private func button() async throws -> BuyButton {
            try await app.billing.getBuyButton(id: "buy_btn_monthly")
        }

        /// A checkout by a link of one's own, and what was handed over.
        private func checkout(
            handOver: @MainActor () throws -> Void = {}
        ) async throws -> (ExternalCheckout, [String?]) {
            var handed: [String?] = []
            let outcome = try await purchases.openCheckout(
                of: button(),
                tokens: [.acquisition, .services]
            ) { tokens in
                #expect(!isBegun && opened.isEmpty)
                handed = tokens.map(\.externalPurchaseID)
                try handOver()
            }
            return (outcome, handed)
        }

        // MARK: - A link of one's own

        @Test func theNoticeComesFirstThenTheTokensAreHandedOverThenThePageOpens() async throws {
            #expect(await purchases.isEligible)
            let (outcome, handed) = try await checkout()
            let page = try #require(URL(string: "https://shop.example/cus_ada"))
            #expect(outcome == .opened(page) && handed == ["1", "2"])
            #expect(apple.calls == ["notice browser", "token ACQUISITION", "token SERVICES"])
            #expect(opened == ["https://shop.example/cus_ada"])
        }

        @Test func whereAppleDoesNotAllowItNothingIsShown() async throws {
            apple.isAllowed = false
            let (outcome, handed) = try await checkout()
            #expect(outcome == .notEligible && handed.isEmpty)
            #expect(apple.calls.isEmpty && opened.isEmpty && !isBegun)
        }

        @Test func underParentalControlsAppleIsNotEvenAsked() async throws {
            _FakeAppStore.shared.canMakePayments = false
            #expect(await purchases.isEligible == false)
            #expect(await purchases.canPresentNoticeSheet == false)
            #expect(await purchases.canOpenLink == false)
            #expect(try await checkout().0 == .notEligible)
        }

        @Test func whoTurnsBackAtTheNoticeBuysNothing() async throws {
            apple.goesOn = false
            let (outcome, handed) = try await checkout()
            #expect(outcome == .cancelled && handed.isEmpty)
            #expect(apple.calls == ["notice browser"] && opened.isEmpty && !isBegun)
        }

        @Test func aTokenThatHasEndedIsNotHandedOver() async throws {
            apple.tokens["ACQUISITION"] = nil
            #expect(try await checkout().1 == ["2"])
            apple.tokens["SERVICES"] = nil
            UIApplication.shared._openedURLs = []
            app.server.world.withLock { $0.checkouts = [:] }
            #expect(try await checkout().1 == [])
            #expect(!opened.isEmpty)
        }

        @Test(arguments: ["notice browser", "token SERVICES"])
        func anErrorOfStoreKitsBeginsNoCheckout(_ call: String) async throws {
            apple.failing = call
            await #expect(throws: NSError.self) { try await checkout() }
            #expect(opened.isEmpty && !isBegun)
        }

        @Test func theAppStopsWhereItCannotKeepTheToken() async throws {
            await #expect(throws: URLError.self) {
                try await checkout { throw URLError(.timedOut) }
            }
            #expect(opened.isEmpty && !isBegun)
        }

        @Test(arguments: [
            (403, APIError.Code(rawValue: "storefront_unsupported"), "notPermitted"),
            (404, .resourceMissing, "notFound"), (409, .alreadyActive, "requestRefused"),
        ])
        func aCheckoutThatTheServerRefusesOpensNoPage(
            _ status: Int,
            _ code: APIError.Code,
            _ name: String
        ) async throws {
            let button = try await button()
            app.server.mood(.answers(status, code), on: Self.checkoutPath)
            var handed = 0
            var refused: (any Error)?
            do {
                _ = try await purchases.openCheckout(
                    of: button,
                    tokens: [.acquisition, .services]
                ) { handed = $0.count }
            } catch {
                refused = error
            }
            // The tokens are reported also without a sale.
            #expect((refused as? BillingSDKError)?.name == name && handed == 2 && opened.isEmpty)
        }

        @Test func inJapanThePageMayOpenWithinTheApp() async throws {
            apple.tokens = ["IN_APP": Self.token("4", "IN_APP")]
            var shown: [URL] = []
            var kinds: [ExternalPurchaseToken.Kind?] = []
            _ = try await purchases.openCheckout(
                of: button(),
                notice: .withinApp,
                tokens: [.inApp],
                open: { shown.append($0) },
                handOver: { kinds = $0.map(\.kind) }
            )
            #expect(apple.calls == ["notice withinApp", "token IN_APP"])
            #expect(shown.map(\.host) == ["shop.example"] && kinds == [.inApp] && opened.isEmpty)
        }

        @Test func aNoticeOfAPageWithinTheAppNeedsSomethingThatShowsIt() async throws {
            await #expect(throws: BillingSDKError.self) {
                try await purchases.openCheckout(
                    of: button(),
                    notice: .withinApp,
                    tokens: [.inApp]
                ) { _ in }
            }
            #expect(apple.calls.isEmpty && opened.isEmpty && !isBegun)
        }

        @Test func aButtonThatIsNotActiveShowsNoNotice() async throws {
            app.server.world.withLock { $0.isButtonActive = false }
            #expect(try await checkout().0 == .notEligible)
            let outcome = try await purchases.openCheckoutAfterNoticeSheet(
                of: button(),
                open: { _ in }
            ) { _ in }
            #expect(outcome == .notEligible && apple.calls.isEmpty && !isBegun)
        }

        // MARK: - Apple's notice sheet

        @Test func theNoticeSheetGivesItsOwnToken() async throws {
            #expect(await purchases.canPresentNoticeSheet)
            var handed: [String?] = []
            var shown: [URL] = []
            let outcome = try await purchases.openCheckoutAfterNoticeSheet(
                of: button(),
                open: { shown.append($0) },
                handOver: { handed = $0.map(\.externalPurchaseID) }
            )
            let page = try #require(URL(string: "https://shop.example/cus_ada"))
            #expect(outcome == .opened(page) && handed == ["3"])
            #expect(apple.calls == ["notice sheet"] && shown == [page] && opened.isEmpty)
        }

        @Test func whoTurnsBackAtTheNoticeSheetBuysNothing() async throws {
            apple.goesOn = false
            let outcome = try await purchases.openCheckoutAfterNoticeSheet(
                of: button(),
                open: { _ in Issue.record("shown") },
                handOver: { _ in Issue.record("handed over") }
            )
            #expect(outcome == .cancelled && opened.isEmpty && !isBegun)
            apple.isAllowed = false
            let refused = try await purchases.openCheckoutAfterNoticeSheet(
                of: button(),
                open: { _ in }
            ) { _ in }
            #expect(refused == .notEligible && apple.calls == ["notice sheet"])
        }

        // MARK: - A link in Info.plist

        @Test func aLinkInInfoPlistIsOpenedByStoreKit() async throws {
            #expect(await purchases.canOpenLink)
            #expect(try await purchases.openLink())
            #expect(apple.calls == ["open"])
            apple.isAllowed = false
            #expect(try await purchases.openLink() == false)
            #expect(apple.calls == ["open"])
        }

        @Test func onlyALinkOfTheCustomersCountryIsOpened() async throws {
            let link = try #require(URL(string: "https://shop.example/eu"))
            #expect(await purchases.getEligibleLinks().isEmpty)
            #expect(try await purchases.openLink(link) == false)
            apple.links = [link]
            #expect(try await purchases.openLink(link))
            #expect(apple.calls == ["open https://shop.example/eu"])
        }
    }
}
