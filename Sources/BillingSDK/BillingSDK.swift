import Foundation

/// The purchases and entitlements of this app's customer, from all stores.
///
/// Create one per app, tell it how to get a customer session, and ask. Every method may be called
/// from any thread, at any time and concurrently; concurrent calls share their requests.
///
/// ```swift
/// let billing = BillingSDK(
///     configuration: .init(publishableKey: "pk_test_…", maximumStaleEntitlementsDuration: 300))
/// billing.setCustomerSessionProvider { try await backend.customerSession() }
/// if try await billing.hasEntitlement(lookupKey: "premium") { … }
/// ```
public final class BillingSDK: Sendable {
    /// Purchases that were begun outside the app.
    public let purchaseInbox: PurchaseInbox

    let client: BillingClient
    private let followedApp: FollowedApp

    /// Makes an SDK; it does nothing until it is asked.
    ///
    /// A mistake in `configuration` is thrown by the first call that needs the server, as
    /// ``BillingSDKError/invalidConfiguration(_:)``.
    public convenience init(configuration: Configuration) {
        self.init(client: BillingClient(configuration: configuration))
    }

    init(client: BillingClient) {
        self.client = client
        purchaseInbox = client.inbox
        followedApp = FollowedApp(client: client)
    }

    // MARK: - The customer

    /// Sets how to get a session for the customer who is signed in to the app.
    ///
    /// The provider asks the app's own backend. It is called whenever a session is needed: first use,
    /// shortly before the old one expires, after the server refused one; never twice at a time.
    /// - Parameter provider: `nil` says that nobody is signed in. Throw where the backend cannot be
    ///   reached: a failure is never taken for a sign-out; it arrives at the caller as
    ///   ``BillingSDKError/customerSessionProviderFailed(_:)``.
    public func setCustomerSessionProvider(
        // A closure written on the main actor runs there, as published samples rely on.
        @_inheritActorContext _ provider:
            @escaping @Sendable () async throws -> UBCustomerSessionDetails?
    ) {
        client.setProvider(provider)
    }

    /// Asks anew who is signed in and what they may use, and makes every view of the SDK look again.
    ///
    /// Call it after somebody has signed in. The session provider is asked at once; what failed or said
    /// "sign in first" on a screen is tried again. Failures are shown where the views are.
    public func customerDidChange() async {
        client.customerChanged()
        _ = try? await client.activeEntitlements(forceRefresh: true)
        EntitlementListeners(client: client).lookAgain()
    }

    /// Forgets the customer: session, answers, ``purchaseInbox``, checkouts that were begun and purchases
    /// that wait for the server, in memory and on disk.
    ///
    /// Call it on sign-out. What was paid for is not lost: the stores tell the server, and what was bought
    /// signed out waits for the next sign-in. Whatever is in flight is dropped. Listeners hear `[]` if the
    /// customer had anything; they stay.
    public func reset() async {
        client.reset()
    }

    // MARK: - Entitlements

    /// Returns `true` if the customer may use the feature with this lookup key now.
    ///
    /// - Parameters:
    ///   - lookupKey: the entitlement's key in the catalog.
    ///   - forceRefresh: ask the server even if a fresh answer is at hand.
    /// - Returns: false where nobody is signed in.
    /// - Throws: ``BillingSDKError`` if there is no answer that can be trusted.
    public func hasEntitlement(lookupKey: String, forceRefresh: Bool = false) async throws -> Bool {
        if !forceRefresh, let answer = client.cachedAnswer(lookupKey: lookupKey) { return answer }
        return try await client.activeEntitlements(forceRefresh: forceRefresh)
            .contains { $0.lookupKey == lookupKey }
    }

    /// Everything that the customer may use now.
    ///
    /// - Parameter forceRefresh: ask the server even if a fresh answer is at hand; such a call never
    ///   returns a cached answer, it throws instead.
    /// - Returns: `[]` where nobody is signed in.
    /// - Throws: ``BillingSDKError`` if there is no answer that can be trusted.
    public func getActiveEntitlements(forceRefresh: Bool = false) async throws -> [Entitlement] {
        try await client.activeEntitlements(forceRefresh: forceRefresh)
    }

    /// Calls `listener` with the whole new set each time that the set of entitlements changes, or that a
    /// payment problem of one of them begins or ends.
    ///
    /// On no particular thread; one call at a time, in the order of the changes.
    public func onEntitlementsChanged(_ listener: @escaping @Sendable ([Entitlement]) -> Void) {
        EntitlementListeners(client: client).add(listener)
    }

    /// The whole new set each time that the set of entitlements changes, from now on.
    ///
    /// Ends when its reader stops; a view reads it in `task`.
    public var entitlementUpdates: AsyncStream<[Entitlement]> {
        EntitlementListeners(client: client).changes()
    }

    /// Removes every listener that ``onEntitlementsChanged(_:)`` added.
    public func removeAllEntitlementsChangedCallbacks() {
        EntitlementListeners(client: client).removeAll()
    }

    // MARK: - Buying and managing

    /// The button with this id, with all data to draw it; works without a session.
    ///
    /// It is not active where the catalog does not offer Checkout in the country of the customer's App
    /// Store account.
    ///
    /// - Throws: ``BillingSDKError/notFound(_:)`` for an unknown id,
    ///   ``BillingSDKError/invalidPublishableKey(_:)``.
    public func getBuyButton(id: String) async throws -> BuyButton {
        try await client.buyButton(id: id)
    }

    /// A fresh link to the page where the customer manages what they bought.
    ///
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in.
    public func getCustomerPortal() async throws -> CustomerPortal {
        try await client.customerPortal()
    }

    /// The customer's coins, always from the server.
    ///
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in.
    public func getCoinBalance() async throws -> CoinBalance {
        try await client.coinBalance()
    }

    /// Hands the server a transaction that the App Store signed, and refreshes the entitlements.
    ///
    /// Returns only when the server has it on disk; only then may the transaction be finished.
    /// Repeating it is safe. The App Store glue calls this by itself.
    /// - Parameters:
    ///   - signedTransaction: StoreKit's `jwsRepresentation`.
    ///   - mode: how the app came by it.
    /// - Throws: ``BillingSDKError/requestRefused(status:code:message:)``,
    ///   ``BillingSDKError/notPermitted(code:message:)`` or ``BillingSDKError/notFound(_:)`` where the
    ///   server does not take it: the App Store did not sign it, or signed it for another app, or
    ///   what it claims is another customer's; ``BillingSDKError/networkUnavailable(_:)`` and
    ///   ``BillingSDKError/serverUnavailable(status:message:)`` where the server may have it or not:
    ///   call again; ``BillingSDKError/customerSessionProviderFailed(_:)`` and
    ///   ``BillingSDKError/sessionRejected(_:)`` where it is not known for whom. Leave the
    ///   transaction unfinished then. That nobody is signed in is no error: the purchase waits at
    ///   the server for its owner.
    @discardableResult
    public func submit(
        signedTransaction: String,
        mode: AppStoreSubmission.Mode = .observed
    ) async throws -> AppStoreSubmission {
        let delivery = TransactionDelivery(client: client)
        return try await delivery.submission(
            delivery.post(signedTransaction) { _ in mode }
        )
    }
}

// The module and its main type have one name, so `BillingSDK.BuyButton` means a member of the class.
// These aliases make that spelling work, for apps with a `BuyButton` of their own.
/// Another name for ``BuyButton``, for apps that have a type of that name.
public typealias UBBuyButton = BuyButton
/// Another name for ``Entitlement``, for apps that have a type of that name.
public typealias UBEntitlement = Entitlement
/// Another name for ``CustomerPortal``, for apps that have a type of that name.
public typealias UBCustomerPortal = CustomerPortal
/// Another name for ``CoinBalance``, for apps that have a type of that name.
public typealias UBCoinBalance = CoinBalance
/// Another name for ``Consents``, for apps that have a type of that name.
public typealias UBConsents = Consents

extension BillingSDK {
    /// ``BuyButton``, spelled with the module's name.
    public typealias BuyButton = UBBuyButton
    /// ``Entitlement``, spelled with the module's name.
    public typealias Entitlement = UBEntitlement
    /// ``CustomerPortal``, spelled with the module's name.
    public typealias CustomerPortal = UBCustomerPortal
    /// ``CoinBalance``, spelled with the module's name.
    public typealias CoinBalance = UBCoinBalance
    /// ``Consents``, spelled with the module's name.
    public typealias Consents = UBConsents
}
