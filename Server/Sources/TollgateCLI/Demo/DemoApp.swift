import AppStoreSimulator
import BillingSDK
import Crypto
import Foundation
import GooglePlaySimulator
import SandboxClock
import StripeAPI
import StrictJSON
import Synchronization
import TollgateAPI
import TollgateCore

/// "The app": what would run on a customer's phones, here on Linux. It knows what it may show from
/// BillingSDK alone; the simulated stores stand in for StoreKit and the Play Billing Library.
actor DemoApp {
    /// What the app shows.
    struct Screen: Sendable {
        var user: String
        var now: Instant
        var entitlements: [BillingSDK.Entitlement]
        var coins: BillingSDK.CoinBalance
        /// Since when, until when and why; what the app's own backend asks for.
        var access: [String: API.Entitlement]
        /// What the stores have reported about this user, newest first.
        var reports: [StoreReport]
        /// The buttons that would be refused.
        var refusals: Refusals
        /// What the last press of a button did.
        var notice: Notice?
    }

    /// Which of the buttons have nothing to act on.
    struct Refusals: Sendable {
        var cancel: Bool
        var refund: Bool
        var cancelInGooglePlay: Bool
        var refundInGooglePlay: Bool
    }

    /// What the last press of a button did, or why it did nothing.
    struct Notice: Sendable {
        var text: String
        var isRefusal = false
    }

    /// A wish that cannot be met.
    struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    private let world: DemoWorld
    private let backend: DemoBackend
    private let sdk: BillingSDK
    private let signedIn = SignedIn()
    private var user = ""
    private var token = ""
    private var account = ""
    /// The account on the Android phone.
    private var googleAccount = ""
    private var stripeCustomer: String?
    private var notice: Notice?
    private var latest: SimulatedAppStore.SignedTransaction?

    init(_ world: DemoWorld) {
        self.world = world
        backend = DemoBackend(serverURL: world.serverURL, client: world.client)
        var configuration = BillingSDK.Configuration(
            publishableKey: DemoWorld.publishableKey,
            maximumStaleEntitlementsDuration: 300,
            serverURL: URL(string: world.serverURL)
        )
        configuration.verifySignature = { message, signature, publicKey in
            guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: message)
        }
        sdk = BillingSDK(configuration: configuration)
        let backend = backend
        let signedIn = signedIn
        sdk.setCustomerSessionProvider {
            guard let customer = signedIn.customer else { return nil }
            return try await backend.session(of: customer)
        }
    }

    /// Signs `user` in: at the app's backend, and with accounts of their own on both phones.
    func signIn(_ user: String) async throws {
        await sdk.reset()
        let customer = try await backend.customer(user)
        signedIn.customer = customer.id
        self.user = user
        token = customer.appAccountToken
        account = try await world.appStore.createCustomer(appAccountToken: token).id
        googleAccount = try await world.googlePlay.createAccount(
            obfuscatedAccountID: token,
            isTester: true
        )
        latest = nil
        stripeCustomer = nil
    }

    func signOut() async {
        signedIn.customer = nil
        await sdk.reset()
    }

    var customer: String { signedIn.customer ?? "" }

    func screen() async throws -> Screen {
        let access = try await backend.entitlements(of: customer)
        let screen = Screen(
            user: user,
            now: Instant(milliseconds: await world.clock.now),
            entitlements: try await sdk.getActiveEntitlements(forceRefresh: true),
            coins: try await sdk.getCoinBalance(),
            access: Dictionary(access.map { ($0.lookupKey, $0) }) { first, _ in first },
            reports: await reports(),
            refusals: Refusals(
                cancel: try await appStorePlan() == nil,
                refund: try await appStoreRefundable() == nil,
                cancelInGooglePlay: await googlePlayPlan() == nil,
                refundInGooglePlay: await googlePlayRefundable() == nil
            ),
            notice: notice
        )
        notice = nil
        return screen
    }

    func say(_ text: String, isRefusal: Bool = false) {
        notice = Notice(text: text, isRefusal: isRefusal)
    }

    /// What the stores have reported about the user.
    ///
    /// Read from the stores: the app sees the effects alone.
    private func reports() async -> [StoreReport] {
        let mine = Set(
            ((try? await world.appStore.transactions(customer: account)) ?? []).map(\.originalID)
        )
        var reports = await world.appStore.notifications()
            .filter { $0.originalTransactionID.map(mine.contains) ?? false }
            .map { StoreReport($0) }
        let tokens = Set(await world.googlePlay.purchases(account: googleAccount).map(\.token))
        reports += await world.googlePlay.notifications()
            .filter { $0.token.map(tokens.contains) ?? false }
            .map { StoreReport($0) }
        let kinds = ["customer.created"] + StoreReport.stripeKinds
        let events = try? await world.stripeClient.list(
            ["events"],
            ["limit": .integer(100), "types": .list(kinds.map { .string($0) })],
            of: Stripe.Event.self
        ).value.data
        for event in (events ?? []).reversed() {
            if event.object["metadata"]?["tollgate_customer"]?.string == customer {
                stripeCustomer = stripeCustomer ?? event.object["id"]?.string
            }
            guard let stripeCustomer, event.object["customer"]?.string == stripeCustomer else {
                continue
            }
            reports.append(StoreReport(event))
        }
        // What happened at one instant stays in the order in which it was told.
        return reports.enumerated()
            .sorted { ($0.element.instant, $0.offset) > ($1.element.instant, $1.offset) }
            .map(\.element)
    }

    func has(_ lookupKey: String) async throws -> Bool {
        try await sdk.hasEntitlement(lookupKey: lookupKey, forceRefresh: true)
    }

    func coins() async throws -> Int64 { try await sdk.getCoinBalance().balance }

    // MARK: - Buying

    /// Buys in the App Store and, as StoreKit code must, finishes only what the server has taken.
    func buy(_ productID: String) async throws {
        let bought = try await world.appStore.buy(
            productID,
            customer: account,
            appAccountToken: token
        )
        try await sdk.submit(signedTransaction: bought.jws, mode: .purchased)
        try await world.appStore.finish(bought.transactionID)
        latest = bought
    }

    /// Buys in Google Play and, as an Android app must, hands the token to the server, which
    /// acknowledges and consumes.
    ///
    /// - Throws: what Play refuses.
    func buyInGooglePlay(_ product: TollgateCore.Catalog.Product) async throws {
        guard let id = product.googlePlayProductID else {
            throw Refusal(description: "Google Play does not sell \(product.name).")
        }
        let isPlan = product.kind == .autoRenewable
        let plan = product.googlePlayBasePlans?.first
        let running = await googlePlayPlan()
        if isPlan, let running, running.productID == id, running.basePlan == plan {
            throw Refusal(description: "This account has \(product.name) already.")
        }
        let bought = try await world.googlePlay.buy(
            id,
            basePlan: isPlan ? plan : nil,
            replacing: isPlan ? running?.token : nil,
            account: googleAccount
        )
        try await backend.present(
            API.GooglePlayPurchaseRequest(
                purchaseToken: bought.token,
                kind: isPlan ? .subscription : .oneTime,
                productID: id,
                mode: .purchased
            ),
            as: try await backend.session(of: customer)
        )
        await world.settle()
    }

    /// Where the buy button leads.
    func checkout(_ button: String) async throws -> URL {
        try await sdk.getBuyButton(id: button).checkout()
    }

    func portal() async throws -> String { try await sdk.getCustomerPortal().url }

    /// The App Store subscription that renews.
    private func appStorePlan() async throws -> String? {
        let newest = try await world.appStore.transactions(customer: account)
            .filter { $0.kind == .autoRenewable }
            .max { $0.purchaseDate < $1.purchaseDate }
        guard let newest else { return nil }
        let plan = try await world.appStore.subscription(newest.originalID)
        let isRunning = plan.state != .expired && plan.state != .revoked
        return plan.autoRenews && isRunning ? newest.originalID : nil
    }

    /// Switches the renewal of the App Store subscription off.
    ///
    /// - Throws: `Refusal` if there is none.
    func cancel() async throws {
        guard let plan = try await appStorePlan() else {
            throw Refusal(description: "There is no App Store subscription to cancel.")
        }
        try await world.appStore.cancel(plan)
    }

    /// What was bought last in the App Store and was not refunded yet.
    private func appStoreRefundable() async throws -> String? {
        let paid = try await world.appStore.transactions(customer: account)
            .filter { $0.revocation == nil }
        let ofLatest = paid.filter { $0.originalID == latest?.originalTransactionID }
        let candidates = ofLatest.isEmpty ? paid : ofLatest
        return candidates.max { $0.purchaseDate < $1.purchaseDate }?.id
    }

    /// Apple refunds what was bought last and was not refunded yet.
    ///
    /// - Throws: `Refusal` if there is nothing.
    func refund() async throws {
        guard let newest = try await appStoreRefundable() else {
            throw Refusal(description: "There is no App Store purchase left to refund.")
        }
        try await world.appStore.refund(newest)
    }

    /// The running subscription of the Android phone's account.
    private func googlePlayPlan() async -> SimulatedGooglePlay.Purchase? {
        await world.googlePlay.purchases(account: googleAccount)
            .last { $0.isSubscription && $0.renews }
    }

    /// Switches the renewal of the Google Play subscription off.
    ///
    /// - Throws: `Refusal` if there is none.
    func cancelInGooglePlay() async throws {
        guard let plan = await googlePlayPlan() else {
            throw Refusal(description: "There is no Google Play subscription to cancel.")
        }
        try await world.googlePlay.cancel(plan.token)
        await world.settle()
    }

    /// What was bought last in Google Play and was not refunded yet.
    private func googlePlayRefundable() async -> String? {
        await world.googlePlay.purchases(account: googleAccount).last(where: \.isRefundable)?.token
    }

    /// Google refunds and revokes what was bought last and was not refunded yet.
    ///
    /// - Throws: `Refusal` if there is nothing.
    func refundInGooglePlay() async throws {
        guard let newest = await googlePlayRefundable() else {
            throw Refusal(description: "There is no Google Play purchase left to refund.")
        }
        try await world.googlePlay.revoke(newest)
        await world.settle()
    }

    func spend(_ amount: Int64, key: String = UUID().uuidString) async throws -> Int64 {
        try await backend.spend(amount, of: customer, key: key).balance
    }

    func explain(_ lookupKey: String) async throws -> API.Explanation {
        try await backend.explain(lookupKey, for: customer)
    }

    func status(of url: String) async throws -> Int { try await backend.status(of: url) }

    // MARK: - Time

    /// Lets `duration` pass for all stores; returns when all that fell due has been reported.
    func wait(_ duration: CalendarDuration) async {
        let now = await world.clock.now
        guard let then = duration.adding(to: now) else { return }
        await world.advance(to: then)
    }
}

/// Who is signed in, for the session provider, which is called from anywhere.
private final class SignedIn: Sendable {
    private let stored = Mutex<String?>(nil)

    var customer: String? {
        get { stored.withLock(\.self) }
        set { stored.withLock { $0 = newValue } }
    }
}
