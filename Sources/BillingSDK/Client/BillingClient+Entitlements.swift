import Foundation
internal import TollgateAPI

/// Reading entitlements: from memory, from the server, or from what the server signed earlier.
extension BillingClient {
    func cachedAnswer(lookupKey: String) -> Bool? {
        let now = now()
        return guarded.withLock { $0.state.cachedAnswer(lookupKey: lookupKey, at: now) }
    }

    func activeEntitlements(forceRefresh: Bool) async throws -> [Entitlement] {
        let (resets, lastFlight) = guarded.withLock { ($0.state.resets, $0.state.lastReadFlight) }
        let after = forceRefresh ? lastFlight : nil
        for _ in 0..<8 {
            let step = guarded.withLock { readStep(&$0, after: after) }
            switch step {
            case .use(let entitlements): return entitlements
            case .waitOut(let task): _ = await task.result
            case .flight(let task):
                switch await task.result {
                case .success(.nobody):
                    guard configuration.allowsPurchasesBeforeSignIn else { return [] }
                    return await OutageAnswers(client: self).visitorsAnswer()
                case .success(.entitlements(let entitlements)): return entitlements
                case .success(.superseded): break
                case .failure(let error):
                    guard !forceRefresh else { throw error }
                    guard let answer = await OutageAnswers(client: self).answer(despite: error)
                    else { throw error }
                    return answer
                }
            }
            // Signed out meanwhile: this call was for somebody who is gone.
            guard guarded.withLock({ $0.state.resets }) == resets else { return [] }
        }
        throw BillingSDKError.interrupted
    }

    private enum ReadStep {
        case use([Entitlement])
        case flight(Task<ReadOutcome, any Error>)
        case waitOut(Task<ReadOutcome, any Error>)
    }

    private func readStep(_ guarded: inout Guarded, after: Int?) -> ReadStep {
        switch guarded.state.read(at: now(), after: after) {
        case .use(let entitlements): return .use(entitlements)
        case .wait:
            if let task = guarded.readTask { return .flight(task) }
        case .waitOut:
            if let task = guarded.readTask { return .waitOut(task) }
        case .fetch(let flight):
            let task = Task { try await self.fetchEntitlements(flight) }
            guarded.readTask = task
            return .flight(task)
        }
        preconditionFailure("a read flight without a task")
    }

    private func fetchEntitlements(_ flight: ClientState.Flight) async throws -> ReadOutcome {
        do {
            return try await requestEntitlements(flight)
        } catch {
            let withdrawn = (error as? BillingSDKError)?.withdrawsEarlierAnswer ?? false
            let (isCurrent, customer) = guarded.withLock {
                (
                    $0.state.readFailed(flight: flight, withdrawn: withdrawn), $0.state.customer
                )
            }
            guard isCurrent else { return .superseded }
            if withdrawn { offline.withdraw(customer) }
            deliverAnnouncements()
            throw error
        }
    }

    private func requestEntitlements(_ flight: ClientState.Flight) async throws -> ReadOutcome {
        let answered = try await sendWithSession { session in
            try request(
                "GET",
                APIPath.customerEntitlements.path(id: session.customer),
                key: session.clientSecret
            )
        }
        guard let answered else {
            let isCurrent = guarded.withLock { $0.state.readFoundNobody(flight: flight) }
            return isCurrent ? .nobody : .superseded
        }
        let list = try answered.response.decoded(API.EntitlementList.self)
        let has = Set(list.data.map(\.lookupKey))
        let added = await OutageAnswers(client: self).notTakenYet(of: answered.session.customer)
            .filter { !has.contains($0.lookupKey) }
        let snapshot = EntitlementSnapshot(
            customer: answered.session.customer,
            entries: list.data.map(\.entry) + added.map(\.entry),
            at: list.at,
            takenAt: answered.sentAt,
            flight: flight.number
        )
        let accepted = guarded.withLock { $0.state.readArrived(snapshot, flight: flight) }
        deliverAnnouncements()
        guard accepted else { return .superseded }
        keep(list, of: answered.session.customer, flight)
        EntitlementEnds(client: self).watch()
        return .entitlements(snapshot.entries.map(\.entitlement))
    }

    /// Asks the server again if somebody is known to be signed in; failures wait for the next read.
    func refreshIfSignedIn() async {
        guard guarded.withLock({ $0.state.customer }) != nil else { return }
        _ = try? await activeEntitlements(forceRefresh: true)
    }

    // MARK: - For a time without the server

    /// Keeps the signed form of an answer for a time without network.
    private func keep(
        _ list: API.EntitlementList,
        of customer: String,
        _ flight: ClientState.Flight
    ) {
        let token = list.signedAnswer
        if let token, offline.canVerify {
            let names = list.data.map(\.entry.entitlement)
            offline.keep(token: token, names: names, customer: customer, at: now()) {
                // A later answer may have been kept meanwhile.
                guarded.withLock { $0.state.isNewest(flight) }
            }
        }
        // The answer is given before these are there.
        later {
            if let token, self.offline.canVerify { await self.keepKey(of: token) }
            await self.keepCatalog()
            DeviceComparison(client: self).observe(list, of: customer)
        }
    }

    /// Does `work` after what was put off before; nobody waits for it.
    func later(_ work: @escaping @Sendable () async -> Void) {
        background.withLock { task in
            let before = task
            task = Task {
                await before?.value
                await work()
            }
        }
    }

    /// Keeps the signed slice of the catalog for a device that is asked before it has an answer.
    func keepCatalog() async {
        guard offline.wantsCatalog(at: now()), let slice = try? await catalogSlice() else { return }
        offline.keep(catalog: slice.signedCatalog, at: now())
        await keepKey(of: slice.signedCatalog)
    }

    /// What the app may know of the catalog, from the server.
    func catalogSlice() async throws -> API.CatalogSlice {
        try await send(request("GET", APIPath.catalog.path, key: configuration.publishableKey))
            .decoded(API.CatalogSlice.self)
    }

    private func keepKey(of token: String) async {
        guard offline.lacksKey(of: token) else { return }
        let keys = try? await send(
            request("GET", APIPath.jsonWebKeySet.path, key: configuration.publishableKey)
        )
        if let keys, let set = try? keys.decoded(JSONWebKeySet.self) { offline.keep(keys: set) }
    }
}

extension Entitlement {
    fileprivate var entry: EntitlementSnapshot.Entry {
        EntitlementSnapshot.Entry(
            entitlement: self,
            until: until.map {
                Int64(0).advanced(byWholeMilliseconds: $0.timeIntervalSince1970)
            }
        )
    }
}

extension API.Entitlement {
    fileprivate var entry: EntitlementSnapshot.Entry {
        EntitlementSnapshot.Entry(
            entitlement: Entitlement(
                id: id,
                feature: feature,
                lookupKey: lookupKey,
                until: until.map { Date(milliseconds: $0) },
                ground: EntitlementGround(rawValue: ground.rawValue),
                // A purchase's key begins with its store.
                store: purchase?.split(separator: "/").first.flatMap { PurchaseStore(word: $0) },
                purchaseID: purchase,
                willRenew: willRenew,
                offer: offer.map { CustomerPurchase.OfferKind(rawValue: $0) }
            ),
            until: until
        )
    }
}
