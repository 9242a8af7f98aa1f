import Foundation
internal import TollgateAPI

/// The effects around `ClientState`: takes its decisions under the lock, carries them out outside.
final class BillingClient: Sendable {
    typealias Provider = @Sendable () async throws -> UBCustomerSessionDetails?
    typealias Listener = @Sendable ([Entitlement]) -> Void

    enum ReadOutcome: Sendable {
        case nobody
        case entitlements([Entitlement])
        /// The customer changed while the request ran.
        case superseded
    }

    /// What the lock guards.
    struct Guarded {
        var state: ClientState
        var provider: Provider?
        var sessionTask: Task<UBCustomerSessionDetails?, any Error>?
        var readTask: Task<ReadOutcome, any Error>?
        var listeners: [Int: Listener] = [:]
        /// Views and other followers, which end by themselves.
        var followers: [Int: Listener] = [:]
        /// Views, which look again when somebody has signed in.
        var lookers: [Int: @Sendable (EntitlementListeners.Look) -> Void] = [:]
        var lastListener = 0
        var isDelivering = false
    }

    let configuration: BillingSDK.Configuration
    let transport: Transport
    let now: @Sendable () -> Date
    let address: Result<ServerAddress, any Error>
    let guarded: Locked<Guarded>
    let storage: OfflineStorage
    let offline: OfflineAnswers
    /// Purchases that were begun outside the app.
    let inbox: PurchaseInbox
    let checkouts: BegunCheckouts
    /// What StoreKit shows on this device; nothing where there is none.
    let storeKitStatements: @Sendable () async -> [StoreKitStatement]
    let deliveries = Locked(TransactionDeliveries())
    /// The country of the App Store account; nil where there is none.
    let storefront: @Sendable () async -> String?
    let refusals = RefusalReports()
    let log: BillingLog
    /// What is fetched beside an answer, one after the other; nobody waits for it.
    let background = Locked<Task<Void, Never>?>(nil)
    /// Waits for the next end of an entitlement.
    let nextEnd = Locked<Task<Void, Never>?>(nil)
    /// Waits for so many seconds; throws if its task is cancelled.
    let pause: @Sendable (TimeInterval) async throws -> Void
    let observations: DeviceObservations
    /// Runs when somebody has signed in: what waited for an owner can go on.
    let onSignIn = Locked<(@Sendable () -> Void)?>(nil)

    init(
        configuration: BillingSDK.Configuration,
        transport: @escaping Transport = URLSessionTransport.make(),
        now: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> TimeInterval = { DeviceClock.uptime },
        storeKitStatements: @escaping @Sendable () async -> [StoreKitStatement] =
            StoreKitStatement.ofThisDevice,
        storefront: @escaping @Sendable () async -> String? = DeviceStorefront.ofThisDevice,
        disk: Disk = .ofThisDevice,
        pause: @escaping @Sendable (TimeInterval) async throws -> Void = {
            try await Task.sleep(nanoseconds: UInt64($0 * 1_000_000_000))
        }
    ) {
        self.configuration = configuration
        self.transport = transport
        self.now = now
        log = BillingLog(
            level: configuration.logLevel,
            handler: configuration.logHandler,
            now: now
        )
        address = Result { try ServerAddress.resolve(configuration) }
        guarded = Locked(
            Guarded(state: ClientState(maximumAge: configuration.maximumStaleEntitlementsDuration))
        )
        storage = .files(
            in: configuration.cacheDirectory,
            for: configuration.publishableKey,
            movedFrom: configuration.formerCacheDirectory,
            on: disk
        )
        offline = OfflineAnswers(
            verifySignature: configuration.verifySignature,
            publishableKey: configuration.publishableKey,
            storage: storage,
            isOfExtension: disk.isOfExtension,
            uptime: uptime
        )
        inbox = PurchaseInbox(storage: storage, now: now)
        checkouts = BegunCheckouts(storage: storage)
        observations = DeviceObservations(storage: storage)
        self.storeKitStatements = storeKitStatements
        self.pause = pause
        self.storefront = storefront
    }

    // MARK: - Listeners

    /// Tells listeners what they have not heard yet.
    ///
    /// Whoever is telling already goes on to the end, so order holds, and a listener may call the SDK.
    func deliverAnnouncements() {
        while true {
            let next = guarded.withLock { guarded -> ([Listener], [Entitlement])? in
                guard !guarded.isDelivering, let next = guarded.state.nextAnnouncement() else {
                    return nil
                }
                guarded.isDelivering = true
                let all = guarded.listeners.merging(guarded.followers) { first, _ in first }
                return (all.sorted { $0.key < $1.key }.map(\.value), next)
            }
            guard let (listeners, entitlements) = next else { return }
            for listener in listeners { listener(entitlements) }
            guarded.withLock { $0.isDelivering = false }
        }
    }

    // MARK: - The customer

    func setProvider(_ provider: @escaping Provider) {
        guarded.withLock { guarded in
            guarded.provider = provider
            guarded.state.providerChanged()
            guarded.cancelFlights()
        }
        EntitlementListeners(client: self).customerLeft()
    }

    /// Somebody else may be signed in: the provider is asked before anything cached is given.
    func customerChanged() {
        guarded.withLock { guarded in
            guarded.state.providerChanged()
            guarded.cancelFlights()
        }
        EntitlementListeners(client: self).customerLeft()
    }

    func reset() {
        log.write(.info, "The customer is forgotten.")
        guarded.withLock { guarded in
            guarded.state.reset()
            guarded.cancelFlights()
        }
        offline.forget()
        inbox.forget()
        checkouts.forget()
        observations.forget()
        AccountTokens(storage: storage).forget()
        TransactionDelivery(client: self).forget()
        EntitlementEnds(client: self).forget()
        deliverAnnouncements()
        EntitlementListeners(client: self).customerLeft()
    }

    /// Grows with everything after which somebody else may be signed in; views of a customer's data show
    /// nothing that was asked for in an earlier stay.
    var stay: Int { guarded.withLock { $0.state.stay } }

    /// The session of the customer who is signed in; nil if nobody is.
    func session() async throws -> UBCustomerSessionDetails? {
        let resets = guarded.withLock { $0.state.resets }
        var mayHaveSignedInSince = true
        for _ in 0..<8 {
            let step = guarded.withLock { sessionStep(&$0) }
            switch step {
            case .nobody: return nil
            case .use(let details): return details
            case .flight(let task, let isShared):
                do {
                    if let details = try await task.value { return details }
                    // The provider was asked before this call began: somebody may have signed in
                    // between, and it is asked once more.
                    guard isShared, mayHaveSignedInSince else { return nil }
                    mayHaveSignedInSince = false
                    guard guarded.withLock({ $0.state.resets }) == resets else { return nil }
                } catch is Superseded {
                    // Signed out meanwhile: this call was for somebody who is gone.
                    guard guarded.withLock({ $0.state.resets }) == resets else { return nil }
                }
            }
        }
        throw BillingSDKError.interrupted
    }

    private enum SessionStep {
        case nobody
        case use(UBCustomerSessionDetails)
        case flight(Task<UBCustomerSessionDetails?, any Error>, isShared: Bool)
    }

    private func sessionStep(_ guarded: inout Guarded) -> SessionStep {
        guard let provider = guarded.provider else { return .nobody }
        switch guarded.state.session(at: now()) {
        case .use(let details): return .use(details)
        case .wait:
            if let task = guarded.sessionTask { return .flight(task, isShared: true) }
            preconditionFailure("a session flight without a task")
        case .fetch(let flight):
            // The flight outlives a caller that is cancelled, since others share it.
            let task = Task { try await self.fetchSession(from: provider, flight: flight) }
            guarded.sessionTask = task
            return .flight(task, isShared: false)
        }
    }

    private struct Superseded: Error {}

    private func fetchSession(
        from provider: Provider,
        flight: ClientState.Flight
    ) async throws -> UBCustomerSessionDetails? {
        let details: UBCustomerSessionDetails?
        do {
            details = try await provider()
        } catch {
            let (old, isCurrent) = guarded.withLock {
                ($0.state.sessionFailed(flight: flight, at: now()), $0.state.epoch == flight.epoch)
            }
            if let old { return old }
            guard isCurrent else { throw Superseded() }
            log.write(.warning, "The customer session provider failed: \(RequestLine.of(error))")
            throw BillingSDKError.customerSessionProviderFailed(error)
        }
        let (accepted, isSomebodyNew, hasLeft, last) = guarded.withLock { guarded in
            let (before, stay) = (guarded.state.customer, guarded.state.stay)
            let last = guarded.state.lastCustomer
            let accepted = guarded.state.sessionArrived(details, flight: flight, at: now())
            let after = guarded.state.customer
            return (
                accepted, after != nil && after != before, guarded.state.stay != stay, last
            )
        }
        if accepted {
            if let customer = details?.customer {
                offline.keepOnly(customer: customer)
            } else {
                offline.nobodyIsSignedIn(after: last)
            }
        }
        deliverAnnouncements()
        if hasLeft { EntitlementListeners(client: self).customerLeft() }
        guard accepted else { throw Superseded() }
        if isSomebodyNew {
            log.write(.info, "Somebody has signed in.")
            let goOn = onSignIn.withLock { $0 }
            let visitors = VisitorPurchases(client: self)
            if let customer = details?.customer, visitors.hasUnclaimed(for: customer) {
                later {
                    // First: what waits is theirs when it gets there.
                    await visitors.claim(for: customer)
                    goOn?()
                }
            } else {
                goOn?()
            }
        }
        return details
    }
}

extension BillingClient.Guarded {
    /// Whoever waits for these sees that they were superseded.
    fileprivate mutating func cancelFlights() {
        sessionTask?.cancel()
        readTask?.cancel()
        sessionTask = nil
        readTask = nil
    }
}
