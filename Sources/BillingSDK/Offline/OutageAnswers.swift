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
        let earlier =
            inMemory ?? (mayResume ? client.offline.answer(for: customer, at: now) : nil)
        guard let earlier else {
            guard mayResume, client.offline.hasNoAnswer(for: customer) else { return nil }
            let verified = await verifiedByStoreKit(since: nil, for: customer)
            return verified.isEmpty ? nil : accepted(verified, epoch)
        }
        EntitlementEnds(client: client).watch(orFor: earlier.nextEnd)
        let verified = await verifiedByStoreKit(since: earlier.at, for: customer)
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
        let statements = await client.storeKitStatements().filter {
            // What bears a token belongs to a customer, who has to sign in.
            StoreKitIntake.purchase(in: $0).map { $0.token == nil } ?? false
        }
        let now = Int64(0).advanced(byWholeMilliseconds: client.now().timeIntervalSince1970)
        let active = DeviceEvaluation.active(
            statements,
            in: slice,
            at: Instant(milliseconds: now)
        )
        return accepted(active, epoch) ?? []
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
    ///   - instant: only periods that began after it count, UNIX milliseconds; `nil`: all of them.
    ///   - customer: purchases that bear another customer's token do not count, as far as the token of
    ///     this one is known.
    private func verifiedByStoreKit(
        since instant: Int64?,
        for customer: String?
    ) async -> [Entitlement] {
        guard let slice = client.offline.catalog(at: client.now()) else { return [] }
        let token = customer.flatMap { AccountTokens(storage: client.storage).token(of: $0) }
        let statements = await client.storeKitStatements().filter { statement in
            guard let bought = StoreKitIntake.purchase(in: statement) else { return false }
            if let token, let other = bought.token, token != other { return false }
            return instant.map { bought.date > $0 } ?? true
        }
        let now = Int64(0).advanced(byWholeMilliseconds: client.now().timeIntervalSince1970)
        return DeviceEvaluation.active(statements, in: slice, at: Instant(milliseconds: now))
    }
}
