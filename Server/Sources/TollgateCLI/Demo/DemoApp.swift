import AppStoreSimulator
import BillingSDK
import Crypto
import Foundation
import SandboxClock
import TollgateAPI
import TollgateCore

/// "The app": what would run on a phone, here on Linux. It knows what it may show from BillingSDK
/// alone; the simulated App Store stands in for StoreKit.
actor DemoApp {
    /// What the app shows.
    struct Screen: Sendable {
        var user: String
        var now: Instant
        var entitlements: [BillingSDK.Entitlement]
        var coins: BillingSDK.CoinBalance
        var subscription: String?
        var notice: String?
    }

    private let world: DemoWorld
    private let backend: DemoBackend
    private let sdk: BillingSDK
    private let signedIn = SignedIn()
    private var user = ""
    private var token = ""
    private var account = ""
    private var notice: String?
    private var latest: SimulatedAppStore.SignedTransaction?

    init(_ world: DemoWorld) {
        self.world = world
        backend = DemoBackend(serverURL: world.serverURL, client: world.client)
        var configuration = BillingSDK.Configuration(
            publishableKey: DemoWorld.publishableKey, maximumStaleEntitlementsDuration: 300,
            serverURL: URL(string: world.serverURL))
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

    /// Signs `user` in: at the app's backend, and with an App Store account of their own.
    func signIn(_ user: String) async throws {
        await sdk.reset()
        let customer = try await backend.customer(user)
        signedIn.customer = customer.id
        self.user = user
        token = customer.appAccountToken
        account = try await world.appStore.createCustomer(appAccountToken: token).id
        latest = nil
    }

    func signOut() async {
        signedIn.customer = nil
        await sdk.reset()
    }

    var customer: String { signedIn.customer ?? "" }

    func screen() async throws -> Screen {
        let screen = Screen(
            user: user, now: Instant(milliseconds: await world.clock.now),
            entitlements: try await sdk.getActiveEntitlements(forceRefresh: true),
            coins: try await sdk.getCoinBalance(), subscription: latest?.originalTransactionID,
            notice: notice)
        notice = nil
        return screen
    }

    func say(_ notice: String) {
        self.notice = notice
    }

    func has(_ lookupKey: String) async throws -> Bool {
        try await sdk.hasEntitlement(lookupKey: lookupKey, forceRefresh: true)
    }

    func coins() async throws -> Int64 { try await sdk.getCoinBalance().balance }

    // MARK: - Buying

    /// Buys in the App Store and, as StoreKit code must, finishes only what the server has taken.
    func buy(_ productID: String) async throws {
        let bought = try await world.appStore.buy(
            productID, customer: account, appAccountToken: token)
        try await sdk.submit(signedTransaction: bought.jws, mode: .purchased)
        try await world.appStore.finish(bought.transactionID)
        latest = bought
    }

    /// Where the buy button leads.
    func checkout(_ button: String) async throws -> URL {
        try await sdk.getBuyButton(id: button).checkout()
    }

    func portal() async throws -> String { try await sdk.getCustomerPortal().url }

    /// Switches the renewal of the latest App Store subscription off.
    func cancel() async throws {
        guard let latest else { return say("Nothing was bought in the App Store yet.") }
        try await world.appStore.cancel(latest.originalTransactionID)
    }

    /// Apple refunds the latest transaction of what was bought last.
    func refund() async throws {
        guard let latest else { return say("Nothing was bought in the App Store yet.") }
        let transactions = try await world.appStore.transactions(customer: account)
        let last = transactions.filter { $0.originalID == latest.originalTransactionID }
            .max { $0.purchaseDate < $1.purchaseDate }
        try await world.appStore.refund(last?.id ?? latest.transactionID)
    }

    func spend(_ amount: Int64, key: String = UUID().uuidString) async throws -> Int64 {
        try await backend.spend(amount, of: customer, key: key).balance
    }

    func explain(_ lookupKey: String) async throws -> API.Explanation {
        try await backend.explain(lookupKey, for: customer)
    }

    func status(of url: String) async throws -> Int { try await backend.status(of: url) }

    // MARK: - Time

    /// Lets `duration` pass for both stores; returns when all that fell due has been reported.
    func wait(_ duration: CalendarDuration) async {
        let now = await world.clock.now
        guard let then = duration.adding(to: now) else { return }
        await world.clock.advance(to: then)
    }
}

/// Who is signed in, for the session provider, which is called from anywhere.
private final class SignedIn: @unchecked Sendable {
    // `lock` guards `stored`.
    private let lock = NSLock()
    private var stored: String?

    var customer: String? {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}
