import BillingSDK
import Foundation
import SwiftUI

#if canImport(StoreKit)
    import StoreKit
#endif

/// Everything that the sample's screens show and do; the screens are a thin shell around it.
@MainActor
final class Shop: ObservableObject {
    let billing: BillingSDK
    private let backend: Backend
    private let signIns: any SignInKeeping
    private var token: String?
    /// The sign-in of an earlier launch was read, or another one took its place.
    private var isSignInKnown = false

    @Published private(set) var user: String?
    @Published private(set) var coins: Int64?
    @Published private(set) var buyPro: BuyButton?
    /// What happened last, for people.
    @Published private(set) var message: String?
    /// What the App Store began and the customer has to decide about.
    @Published private(set) var nextStep: PurchaseInbox.Step?
    /// What the customer put off, while nothing else waits.
    @Published private(set) var postponed: PendingPurchase?
    @Published private(set) var missingTerms: [TermsDocument] = []
    /// The customer's stated age and the catalog's questions; nil: nothing to ask now.
    @Published private(set) var consents: Consents?
    @Published var isPortalShown = false
    /// How often the inbox was looked into; only the last look decides what is shown.
    private var looks = 0

    init(
        configuration: BillingSDK.Configuration,
        backend: Backend,
        signIns: any SignInKeeping
    ) {
        billing = BillingSDK(configuration: configuration)
        (self.backend, self.signIns) = (backend, signIns)
        // The first screen shows who is signed in. What cannot be read yet, the provider reads later.
        _ = try? currentToken()
        billing.setCustomerSessionProvider { [weak self] in
            guard let self, let token = try self.currentToken() else { return nil }
            let session = try await self.backend.customerSession(token: token)
            // The backend has ended this sign-in.
            if session == nil, self.token == token { self.forgetSignIn() }
            return session
        }
        billing.onEntitlementsChanged { [weak self] _ in
            Task { await self?.reload() }
        }
        billing.onAppStoreRefusal { [weak self] _ in
            Task { await self?.tellOfRefusal() }
        }
        billing.purchaseInbox.onChange { [weak self] _ in
            Task { await self?.lookIntoInbox() }
        }
    }

    // MARK: - Signing in and out

    func signIn(_ name: String) async {
        do {
            let signIn = SignIn(name: name, token: try await backend.login(name: name))
            // If it cannot be kept, the next launch asks for a sign-in again.
            try? signIns.keep(signIn)
            (token, user, isSignInKnown) = (signIn.token, name, true)
            message = nil
            await billing.customerDidChange()
            await reload()
            await lookIntoInbox()
        } catch {
            message = "Signing in failed. Try again."
        }
    }

    func signOut() async {
        message = nil
        forgetSignIn()
        await billing.reset()
        await lookIntoInbox()
    }

    /// The token of this launch's sign-in, or of an earlier one's.
    ///
    /// - Throws: where an earlier one cannot be read now: nobody knows who is signed in.
    private func currentToken() throws -> String? {
        if !isSignInKnown {
            let signIn = try signIns.kept()
            (token, user, isSignInKnown) = (signIn?.token, signIn?.name, true)
        }
        return token
    }

    private func forgetSignIn() {
        (token, user, coins, isSignInKnown) = (nil, nil, nil, true)
        do {
            try signIns.keep(nil)
        } catch {
            message =
                "Signing out could not be saved. Sign in and out again before you pass this device on."
        }
    }

    /// What the screen needs when it appears; the button works before anybody has signed in.
    func start() async {
        do {
            buyPro = try await billing.getBuyButton(id: "buy_pro_monthly")
        } catch {
            message = "The shop cannot be reached."
        }
        await reload()
        await lookIntoInbox()
    }

    private func reload() async {
        guard user != nil else { return }
        do {
            coins = try await billing.getCoinBalance().spendable
        } catch BillingSDKError.unauthenticated {
            coins = nil
        } catch {
            message = message ?? "Your coins could not be loaded."
        }
    }

    /// The App Store has charged for something that cannot be unlocked.
    private func tellOfRefusal() {
        message = "One of your purchases could not be unlocked. Contact us."
    }

    // MARK: - Coins, bought on the web

    /// The page to open; nil if there is none.
    func coinCheckout() async -> URL? {
        guard let token else { return nil }
        do {
            return try await backend.checkout(token: token)
        } catch {
            message = "The purchase page could not be opened."
            return nil
        }
    }

    /// A universal link has opened the app.
    func opened(_ url: URL) async {
        switch await billing.handleCheckoutReturn(url) {
        case .confirmed?: message = "Thank you. Your purchase is ready."
        case .processing?: message = "Your payment is being processed."
        case .cancelled?: message = "You were not charged."
        case nil: return  // Some other link of the app.
        }
        await reload()
    }

    // MARK: - Purchases that began outside the app

    /// Asks what to do next about the oldest that waits.
    func lookIntoInbox() async {
        looks += 1
        let look = looks
        postponed = billing.purchaseInbox.pending.first { $0.isPostponed }
        hideWhatIsDone()
        guard !billing.purchaseInbox.pending.isEmpty else { return }
        guard let readiness = try? await billing.getPurchaseReadiness(isSetUp: true) else { return }
        var consents: Consents?
        if case .pass(let gate, _)? = billing.purchaseInbox.next(readiness),
            [.terms, .subscriptionTerms, .age].contains(gate)
        {
            do {
                consents = try await billing.getConsents()
            } catch {
                // Nobody accepts what they cannot read.
                message = "The terms could not be loaded. Try again."
                return
            }
        }
        // An answer that was overtaken by a later look says what was.
        guard look == looks else { return }
        missingTerms = consents?.missingTerms ?? []
        self.consents = consents
        nextStep = billing.purchaseInbox.next(readiness)
    }

    /// What is bought or discarded no longer waits on the screen, whoever can be reached.
    private func hideWhatIsDone() {
        let purchase: PendingPurchase
        switch nextStep {
        case .proceed(let one)?: purchase = one
        case .pass(_, let one)?: purchase = one
        case nil: return
        }
        if !billing.purchaseInbox.pending.contains(where: { $0.id == purchase.id }) {
            nextStep = nil
        }
    }

    func acceptTerms() async {
        do {
            try await billing.accept(missingTerms)
            missingTerms = []
        } catch {
            message = "That could not be recorded. Try again."
        }
        await lookIntoInbox()
    }

    func state(_ age: StatedAge) async {
        do {
            try await billing.stateAge(atLeast: age.atLeast, below: age.below)
        } catch BillingSDKError.requestRefused(_, "age_declared", _) {
            message = "A parent or guardian has said how old you are."
        } catch {
            message = "That could not be recorded. Try again."
        }
        await lookIntoInbox()
    }

    /// A shop of its own would ask the parent: by email, or with Apple's PermissionKit.
    func recordParentalConsent() async {
        do {
            try await billing.recordParentalConsent(true)
        } catch {
            message = "That could not be recorded. Try again."
        }
        await lookIntoInbox()
    }

    func postpone(_ purchase: PendingPurchase) { billing.purchaseInbox.postpone(purchase.id) }

    func resume(_ purchase: PendingPurchase) { billing.purchaseInbox.resume(purchase.id) }

    func discard(_ purchase: PendingPurchase) { billing.purchaseInbox.discard(purchase.id) }

    #if canImport(StoreKit)
        func complete(_ purchase: PendingPurchase) async {
            do {
                let result = try await billing.purchase(purchase)
                hideWhatIsDone()
                switch result {
                case .purchased: message = "Thank you. Your purchase is ready."
                case .pending: message = "Somebody has to approve this purchase first."
                case .awaitingServer: message = "Bought. It is unlocked as soon as we are online."
                case .cancelled: message = nil
                }
            } catch BillingSDKError.requestRefused(_, "already_active", _) {
                message = "You have this already."
            } catch BillingSDKError.requestRefused {
                // Before Apple's sheet or after the charge: only the second needs support.
                message = "This purchase was refused. If you were charged, contact us."
            } catch {
                message = "The purchase did not work. Try again."
            }
        }

        /// What restoring found, for people.
        private static func summary(of restored: [RestoredPurchase]) -> String {
            if restored.isEmpty { return "This Apple account has no purchases to restore." }
            if restored.allSatisfy(\.isTaken) { return "Your purchases are restored." }
            for purchase in restored {
                switch purchase.outcome {
                case .taken: continue
                case .refused(let refusal) where refusal.code == "owned_elsewhere":
                    return "One of these purchases belongs to another account of ours."
                case .refused: return "One of these purchases could not be used. Contact us."
                case .awaitingServer: return "Restored as soon as we are online."
                }
            }
            return "Your purchases are restored."
        }

        func restore() async {
            do {
                message = Self.summary(of: try await billing.restorePurchases())
            } catch {
                message = "Restoring did not work. Try again."
            }
        }
    #endif
}
