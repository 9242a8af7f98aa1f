import Foundation
internal import TollgateAPI

/// What became of a transaction that was taken to the server.
enum DeliveryOutcome: Sendable {
    /// The server has it on disk.
    case taken(AppStoreSubmission)
    /// The server will never take it.
    case refused(AppStoreRefusal)
}

/// The transactions that this process has taken, or is taking, to the server.
struct TransactionDeliveries: Sendable {
    struct Key: Hashable, Sendable {
        let transactionID: UInt64
        let signature: String
        let mode: AppStoreSubmission.Mode

        var claimed: ClaimedTransactions.Purchase {
            .init(signature: signature, transactionID: transactionID)
        }
    }

    var underWay: [Key: Task<DeliveryOutcome, any Error>] = [:]
    /// By signature: StoreKit shows one transaction in several sequences at a time.
    var done: [String: DeliveryOutcome] = [:]
    /// Signatures whose refusal is told by the call that waits for it, or was reported.
    var told: Set<String> = []
    /// What the server could not take yet, by signature.
    var waiting: [String: Waiting] = [:]
    /// The next try, and how many there were in a row.
    var retry: Task<Void, Never>?
    var tries = 0

    struct Waiting: Sendable {
        var transaction: SignedTransaction
        var mode: AppStoreSubmission.Mode
        /// Who was signed in when it was to be taken; `nil`: nobody could be asked.
        var customer: String?
    }

    /// The delivery of the same statement that claims it: it says all that observing would.
    func claiming(_ key: Key) -> Task<DeliveryOutcome, any Error>? {
        underWay.first {
            $0.key.transactionID == key.transactionID && $0.key.signature == key.signature
        }?.value
    }

    /// How long to wait before the next try: 2 seconds, doubled each time, at most ten minutes.
    mutating func nextPause() -> TimeInterval {
        defer { tries += 1 }
        return min(600, 2 * pow(2, Double(min(tries, 16))))
    }
}

/// Takes transactions to the server and finishes them once it has them, or refuses them for good.
///
/// What the server could not take stays unfinished and is tried again: with growing pauses, as soon as
/// the network is back, at the foreground, at sign-in and, since StoreKit shows it again, at launch.
struct TransactionDelivery: Sendable {
    let client: BillingClient

    private var deliveries: Locked<TransactionDeliveries> { client.deliveries }
    private var claims: ClaimedTransactions { ClaimedTransactions(storage: client.storage) }

    /// Takes a transaction to the server.
    ///
    /// One statement that arrives in two ways is sent once, unless it claims the purchase.
    @discardableResult
    func deliver(
        _ transaction: SignedTransaction,
        mode: AppStoreSubmission.Mode
    ) async throws -> DeliveryOutcome {
        do {
            return try await deliverShared(transaction, mode)
        } catch BillingSDKError.unauthenticated {
            // It began for nobody; somebody may have signed in meanwhile and joined it in vain.
            guard client.guarded.withLock({ $0.state.customer }) != nil else {
                throw BillingSDKError.unauthenticated
            }
            return try await deliverShared(transaction, mode)
        }
    }

    /// Takes a transaction to the server for which nobody waits; refusals are reported.
    func deliverUnattended(
        _ transaction: SignedTransaction,
        mode: AppStoreSubmission.Mode = .observed
    ) async {
        // What fails waits for the next try.
        guard let outcome = try? await deliver(transaction, mode: mode),
            case .refused(let refusal) = outcome, !refusal.isQuiet,
            deliveries.withLock({ $0.told.insert(transaction.signature).inserted })
        else { return }
        client.refusals.report(refusal)
    }

    /// Takes a transaction to the server for a caller who tells the customer how it went.
    func deliverAttended(
        _ transaction: SignedTransaction,
        mode: AppStoreSubmission.Mode
    ) async throws -> DeliveryOutcome {
        deliveries.withLock { _ = $0.told.insert(transaction.signature) }
        do {
            return try await deliver(transaction, mode: mode)
        } catch {
            // The caller is gone when it is known.
            deliveries.withLock { _ = $0.told.remove(transaction.signature) }
            throw error
        }
    }

    /// Tries again now: the network is back, or somebody looks at the app.
    func retryNow() async {
        deliveries.withLock { deliveries in
            deliveries.retry?.cancel()
            deliveries.retry = nil
            deliveries.tries = 0
        }
        await deliverWaiting()
    }

    /// Leaves nothing of the customer who signed out.
    func forget() {
        claims.forget()
        deliveries.withLock { deliveries in
            deliveries.retry?.cancel()
            deliveries.retry = nil
            deliveries.waiting = [:]
        }
    }

    private func deliverWaiting() async {
        let waiting = deliveries.withLock {
            $0.waiting.values.sorted { $0.transaction.id < $1.transaction.id }
        }
        for one in waiting {
            let customer = client.guarded.withLock { $0.state.customer }
            // What one customer bought or restored is no claim of the next one's.
            let isTheirs = one.customer == nil || one.customer == customer
            await deliverUnattended(one.transaction, mode: isTheirs ? one.mode : .observed)
        }
    }

    /// Tries again after a pause, once for everything that waits.
    private func retryLater() {
        let pause = client.pause
        deliveries.withLock { deliveries in
            guard deliveries.retry == nil, !deliveries.waiting.isEmpty else { return }
            let seconds = deliveries.nextPause()
            deliveries.retry = Task { [weak client] in
                guard (try? await pause(seconds)) != nil, let client else { return }
                client.deliveries.withLock { $0.retry = nil }
                await TransactionDelivery(client: client).deliverWaiting()
            }
        }
    }

    /// Takes it to the server together with whoever else is about to.
    private func deliverShared(
        _ transaction: SignedTransaction,
        _ mode: AppStoreSubmission.Mode
    ) async throws -> DeliveryOutcome {
        let key = TransactionDeliveries.Key(
            transactionID: transaction.id,
            signature: transaction.signature,
            mode: mode
        )
        if mode == .observed, let done = deliveries.withLock({ $0.done[key.signature] }) {
            return done
        }
        if transaction.isCodeRedemption, let productID = transaction.productID {
            // Bought outside the app: it is seen in the inbox until the server has it.
            client.inbox.addUnderWay(
                productID: productID,
                origin: .code,
                reference: String(transaction.id)
            )
        }
        let task = deliveries.withLock { deliveries in
            if let task = deliveries.underWay[key] { return task }
            // It was being done when we looked first.
            if mode == .observed, let done = deliveries.done[key.signature] { return Task { done } }
            if mode == .observed, let task = deliveries.claiming(key) { return task }
            // It outlives a caller that is cancelled: what was paid for goes on.
            let task = Task { try await self.deliverOnce(transaction, key) }
            deliveries.underWay[key] = task
            return task
        }
        return try await task.value
    }

    private func deliverOnce(
        _ transaction: SignedTransaction,
        _ key: TransactionDeliveries.Key
    ) async throws -> DeliveryOutcome {
        let (stay, buyer) = client.guarded.withLock { ($0.state.stay, $0.state.customer) }
        do {
            let outcome = try await send(transaction, key) { client.stay == stay || $0 == buyer }
            let name = transaction.productID ?? "a product"
            switch outcome {
            case .taken: client.log.write(.info, "The server has a transaction of \(name).")
            case .refused(let refusal):
                let level: BillingLogEntry.Level = refusal.isQuiet ? .info : .error
                client.log.write(level, "A transaction of \(name) is refused: \(refusal.code).")
            }
            // First: a claim that outlives its transaction would count for ever.
            claims.end(key.claimed)
            await transaction.finish()
            client.inbox.finishUnderWay(
                productID: transaction.productID,
                reference: String(transaction.id)
            )
            deliveries.withLock { deliveries in
                deliveries.underWay[key] = nil
                deliveries.waiting[key.signature] = nil
                deliveries.done[key.signature] = outcome
                if deliveries.waiting.isEmpty { deliveries.tries = 0 }
            }
            if case .refused(let refusal) = outcome, refusal.mode == .purchased {
                // What stood in for the server's word on it ends.
                client.guarded.withLock { $0.state.expireSnapshot() }
                Task { _ = try? await client.activeEntitlements(forceRefresh: true) }
            }
            return outcome
        } catch {
            let customer = client.guarded.withLock { $0.state.customer }
            if let customer, let error = error as? BillingSDKError,
                error.deniesForNow || error.isTemporary
            {
                claims.set(denied: error.deniesForNow, key.claimed, of: customer)
            }
            let isSignedOut = (error as? BillingSDKError)?.isUnauthenticated ?? false
            // If the customer signed out meanwhile, the retry makes no claim: the next customer must not get it.
            let mode = client.stay == stay ? key.mode : .observed
            deliveries.withLock { deliveries in
                deliveries.underWay[key] = nil
                // Where nobody is signed in, the next sign-in takes it up.
                guard !isSignedOut else { return }
                let kept = key.mode == .observed ? deliveries.waiting[key.signature] : nil
                deliveries.waiting[key.signature] = .init(
                    transaction: transaction,
                    mode: kept?.mode ?? mode,
                    customer: kept.map(\.customer) ?? customer
                )
            }
            retryLater()
            if isSignedOut, client.configuration.allowsPurchasesBeforeSignIn {
                // The server has it on disk; whose it is, the next sign-in says.
                client.later { [self] in
                    _ = try? await post(transaction.jwsRepresentation) { _ in .observed }
                    _ = try? await client.activeEntitlements(forceRefresh: false)
                }
            }
            if !isSignedOut {
                // It was paid for: what is known without the server is looked at anew.
                client.guarded.withLock { $0.state.expireSnapshot() }
                Task { _ = try? await client.activeEntitlements(forceRefresh: false) }
            }
            throw error
        }
    }

    /// Sends it with the mode in which this customer came by it first.
    ///
    /// - Parameter isTheirs: whether it is the delivery of this customer, not of one who left meanwhile.
    private func send(
        _ transaction: SignedTransaction,
        _ key: TransactionDeliveries.Key,
        isTheirs: (String) -> Bool
    ) async throws -> DeliveryOutcome {
        // Without an owner it would be finished for nobody; it waits until somebody signs in.
        guard let customer = try await client.session()?.customer else {
            throw BillingSDKError.unauthenticated
        }
        var mode = isTheirs(customer) ? key.mode : .observed
        if mode == .observed {
            mode = claims.mode(of: key.claimed, by: customer) ?? .observed
            if mode == .observed {
                try await VisitorPurchases(client: client).claim(before: transaction, for: customer)
            }
        } else {
            claims.keep(key.claimed, mode, of: customer, at: client.now())
        }
        let (claimed, sender) = (mode, customer)
        let response = try await post(transaction.jwsRepresentation) {
            // After a 401 the session may be that of somebody who signed in meanwhile.
            $0 == sender ? claimed : .observed
        }
        if let error = response.finalRefusal {
            return .refused(
                AppStoreRefusal(
                    id: transaction.id,
                    productID: transaction.productID,
                    mode: mode,
                    status: response.status,
                    code: error.code.rawValue,
                    message: error.message
                )
            )
        }
        _ = try response.decoded(API.AppStoreTransactionReply.self)
        // Before the entitlements are read: from now on the server's word on it counts.
        claims.end(key.claimed)
        return .taken(try await submission(response))
    }

    /// Hands the server a transaction; the answer may be a refusal.
    ///
    /// - Parameter mode: that of a customer; `nil`: nobody is signed in.
    func post(
        _ signedTransaction: String,
        mode: @escaping @Sendable (_ customer: String?) -> AppStoreSubmission.Mode
    ) async throws -> HTTPResponse {
        try await client.sendForCustomerOrNobody("POST", APIPath.appStoreTransactions.path) {
            API.AppStoreTransactionRequest(
                signedTransaction: signedTransaction,
                mode: API.SubmissionMode(rawValue: mode($0?.customer).rawValue) ?? .observed
            )
        }
    }

    /// What the server made of a transaction that it was handed.
    func submission(_ response: HTTPResponse) async throws -> AppStoreSubmission {
        let reply = try response.decoded(API.AppStoreTransactionReply.self)
        client.guarded.withLock { $0.state.expireSnapshot() }
        // The purchase is safe whether or not this succeeds; the next read asks again.
        _ = try? await client.activeEntitlements(forceRefresh: true)
        return AppStoreSubmission(isNew: reply.new, customer: reply.customer)
    }
}
