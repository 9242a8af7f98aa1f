import Foundation
internal import TollgateAPI
internal import TollgateCore

/// What is answered while the server cannot be reached.
///
/// What the server said earlier, and beside it what StoreKit has verified since: who pays during an
/// outage is let in, whatever an earlier answer said. On a device that never had an answer, all that
/// StoreKit has verified. StoreKit can only add: what was bought on the web is not known to it.
struct OutageAnswers: Sendable {
    let client: BillingClient

    /// `nil`: the error stands.
    func answer(despite error: any Error) async -> [Entitlement]? {
        guard let error = error as? BillingSDKError, error.permitsEarlierAnswer else { return nil }
        let now = client.now()
        let (inMemory, customer, resumes, epoch) = client.guarded.withLock {
            (
                $0.state.earlierAnswer(at: now), $0.state.customer, $0.state.resumesLastLaunch,
                $0.state.epoch
            )
        }
        let mayResume = customer != nil || resumes
        // At a launch without anybody to ask, whose the kept answer is decides which token counts.
        let owner = customer ?? (mayResume ? client.offline.keptCustomer : nil)
        let earlier =
            inMemory ?? (mayResume ? client.offline.answer(for: customer, at: now) : nil)
        guard let earlier else {
            guard mayResume, client.offline.hasNoAnswer(for: customer) else { return nil }
            let verified = await verifiedByStoreKit(since: nil, for: owner)
            return verified.isEmpty ? nil : accepted(verified, epoch)
        }
        EntitlementEnds(client: client).watch(orFor: earlier.nextEnd)
        let verified = await verifiedByStoreKit(since: earlier.at, for: owner)
        let has = Set(earlier.entitlements.map(\.lookupKey))
        let added = verified.filter { !has.contains($0.lookupKey) }
        let all = (earlier.entitlements + added).sorted { $0.lookupKey < $1.lookupKey }
        return accepted(added.isEmpty ? earlier.entitlements : all, epoch)
    }

    /// What a visitor has bought in the App Store without signing in, where the app allows that.
    func visitorsAnswer() async -> [Entitlement] {
        let epoch = client.guarded.withLock { $0.state.epoch }
        await client.keepCatalog()
        guard let slice = client.offline.catalog(at: client.now()) else { return [] }
        let visitors = VisitorPurchases(client: client)
        let statements = await client.storeKitStatements().filter { statement in
            guard let bought = StoreKitIntake.purchase(in: statement) else { return false }
            // What bears a customer's token belongs to them, who have to sign in.
            return bought.token.map { visitors.mayBelong($0, to: nil) } ?? true
        }
        let active = DeviceEvaluation.active(statements, in: slice, at: instant)
        return accepted(active, epoch) ?? []
    }

    /// What `customer` has bought and the server does not have yet, beside its answer.
    ///
    /// Only purchases of theirs in this app, which the server has neither taken nor refused: not what they
    /// restored, and nothing that bears a token which is not known to be theirs.
    func notTakenYet(of customer: String) async -> [Entitlement] {
        let waiting = ClaimedTransactions(storage: client.storage).purchases(of: customer)
        guard !waiting.isEmpty, let slice = client.offline.catalog(at: client.now()) else {
            return []
        }
        let token = AccountTokens(storage: client.storage).token(of: customer)
        let visitors = VisitorPurchases(client: client)
        let statements = await client.storeKitStatements().filter { statement in
            guard let bought = StoreKitIntake.purchase(in: statement) else { return false }
            let isTheirs = bought.token.map {
                $0 == token || visitors.mayBelong($0, to: customer)
            }
            return (isTheirs ?? true) && Self.isOne(of: waiting, statement, bought)
        }
        return DeviceEvaluation.active(statements, in: slice, at: instant)
    }

    /// The longest time between a charge and its claim, clocks that differ included, in seconds.
    private static let sheet: TimeInterval = 15 * 60

    /// Whether a statement is about one of these purchases, which was charged for it.
    private static func isOne(
        of purchases: [ClaimedTransactions.Purchase],
        _ statement: StoreKitStatement,
        _ bought: StoreKitIntake.Bought
    ) -> Bool {
        let signature = statement.signedTransaction.map { String($0.suffix(86)) }
        return purchases.contains { purchase in
            // What the Apple Account had before is given again without a charge.
            guard let since = purchase.since,
                Date(milliseconds: bought.date) > since.addingTimeInterval(-Self.sheet)
            else { return false }
            return purchase.signature == signature
                || (purchase.transactionID != nil
                    && purchase.transactionID == bought.transactionID)
        }
    }

    /// Now, by the device's clock.
    private var instant: Instant {
        Instant(
            milliseconds: Int64(0).advanced(
                byWholeMilliseconds: client.now().timeIntervalSince1970
            )
        )
    }

    /// Tells listeners, unless somebody else has signed in meanwhile.
    private func accepted(_ entitlements: [Entitlement], _ epoch: Int) -> [Entitlement]? {
        defer { client.deliverAnnouncements() }
        let isCurrent = client.guarded.withLock {
            $0.state.offlineAnswer(entitlements, epoch: epoch)
        }
        return isCurrent ? entitlements : nil
    }

    /// What the engine makes of what StoreKit has verified.
    ///
    /// - Parameters:
    ///   - date: only periods that began after it count, UNIX milliseconds, and what the server has not
    ///     taken yet; `nil`: all of them.
    ///   - customer: purchases that bear another customer's token do not count, as far as the token of
    ///     this one is known.
    private func verifiedByStoreKit(
        since date: Int64?,
        for customer: String?
    ) async -> [Entitlement] {
        guard let slice = client.offline.catalog(at: client.now()) else { return [] }
        let token = customer.flatMap { AccountTokens(storage: client.storage).token(of: $0) }
        let waiting =
            customer.map { ClaimedTransactions(storage: client.storage).purchases(of: $0) } ?? []
        let visitors = VisitorPurchases(client: client)
        func isAnothers(_ other: UUID) -> Bool {
            if VisitorToken.isOne(other) { return !visitors.mayBelong(other, to: customer) }
            return token.map { $0 != other } ?? false
        }
        let statements = await client.storeKitStatements().filter { statement in
            guard let bought = StoreKitIntake.purchase(in: statement) else { return false }
            if let other = bought.token, isAnothers(other) { return false }
            return date.map { bought.date > $0 } ?? true
                || Self.isOne(of: waiting, statement, bought)
        }
        return DeviceEvaluation.active(statements, in: slice, at: instant)
    }
}
