import SandboxClock

/// The App Store Server API's calls about subscriptions.
extension SimulatedAppStore {
    func statuses(of id: String, only statuses: Set<Int>) async throws -> StatusResponse {
        let now = await clock.now
        let customer = try customer(byAny: id)
        var groups: [StatusResponse.Group] = []
        var seen: Set<String> = []
        for transaction in world.transactionsOf(customer.id)
        where seen.insert(transaction.originalID).inserted {
            guard let subscription = world.subscriptions[transaction.originalID],
                let latest = world.transactions[subscription.latestTransactionID],
                statuses.isEmpty || statuses.contains(subscription.state.rawValue)
            else { continue }
            let item = StatusResponse.Item(
                originalTransactionId: subscription.originalTransactionID,
                status: subscription.state.rawValue,
                signedTransactionInfo: try signed(latest, at: now),
                signedRenewalInfo: try signed(subscription, at: now)
            )
            if let index = groups.firstIndex(where: {
                $0.subscriptionGroupIdentifier == subscription.group
            }) {
                groups[index].lastTransactions.append(item)
            } else {
                groups.append(
                    .init(
                        subscriptionGroupIdentifier: subscription.group,
                        lastTransactions: [item]
                    )
                )
            }
        }
        return StatusResponse(
            environment: environment.rawValue,
            bundleId: world.bundleID,
            appAppleId: environment == .production ? world.appAppleID : nil,
            data: groups
        )
    }

    // MARK: - Extensions

    private func checkExtension(
        days: Int?,
        reason: Int?,
        identifier: String?
    ) throws(APIError) -> (days: Int, identifier: String) {
        guard let days, (1...90).contains(days) else {
            throw APIError(4_000_009, "Invalid extend by days value.")
        }
        guard let reason, (0...3).contains(reason) else {
            throw APIError(4_000_010, "Invalid extend reason code.")
        }
        guard let identifier, (1...128).contains(identifier.count) else {
            throw APIError(4_000_011, "Invalid request identifier.")
        }
        return (days, identifier)
    }

    func extend(_ request: ExtensionRequest, of id: String) async throws -> ExtensionResponse {
        let days = try checkExtension(
            days: request.extendByDays,
            reason: request.extendReasonCode,
            identifier: request.requestIdentifier
        ).days
        guard let transaction = world.transactions[id] else {
            guard !id.isEmpty, id.allSatisfy(\.isNumber) else {
                throw APIError.invalidOriginalTransactionID
            }
            throw APIError.originalTransactionIDNotFound
        }
        guard let subscription = world.subscriptions[id] else {
            throw APIError.invalidOriginalTransactionID
        }
        guard transaction.ownership != .assigned else {
            throw APIError(
                4_030_028,
                "Assigned subscriptions can't get a renewal date extension."
            )
        }
        guard transaction.ownership == .purchased else {
            throw APIError(
                4_030_007,
                "Forbidden - subscriptions via family sharing are ineligible for extension."
            )
        }
        let effectiveDate = try await change { world, now in
            guard world.isExtensible(subscription) else {
                throw APIError(
                    4_030_004,
                    "Forbidden - subscription state ineligible for extension."
                )
            }
            do {
                return try world.extend(id, days: days, at: now)
            } catch {
                throw APIError(
                    4_030_005,
                    "Forbidden - subscription has reached maximum extension count."
                )
            }
        }
        let latest = world.subscriptions[id].flatMap {
            world.transactions[$0.latestTransactionID]
        }
        return ExtensionResponse(
            originalTransactionId: id,
            webOrderLineItemId: latest?.webOrderLineItemID,
            success: true,
            effectiveDate: effectiveDate
        )
    }

    func extendAll(_ request: MassExtensionRequest) async throws -> MassExtensionResponse {
        let (days, identifier) = try checkExtension(
            days: request.extendByDays,
            reason: request.extendReasonCode,
            identifier: request.requestIdentifier
        )
        guard let productID = request.productId, world.products[productID] != nil else {
            throw APIError.parameter(4_000_023, "productId")
        }
        if let countries = request.storefrontCountryCodes {
            guard !countries.isEmpty else {
                throw APIError(
                    4_000_027,
                    "Invalid request. The storefront country code list parameter is empty."
                )
            }
            guard countries.allSatisfy(Self.storefronts.contains) else {
                throw APIError.parameter(4_000_028, "storefront country code")
            }
        }
        if world.massExtensions[identifier] == nil {
            try await change { world, now in
                world.extendAll(
                    productID,
                    days: days,
                    countries: request.storefrontCountryCodes,
                    identifier: identifier,
                    at: now
                )
            }
        }
        return MassExtensionResponse(requestIdentifier: identifier)
    }

    func massExtensionStatus(
        product: String,
        request: String
    ) throws(APIError) -> MassExtensionStatusResponse {
        guard let found = world.massExtensions[request], found.productID == product else {
            throw APIError(
                4_040_009,
                "The server didn't find a subscription-renewal-date extension request for this requestIdentifier and productId combination."
            )
        }
        return MassExtensionStatusResponse(
            requestIdentifier: request,
            complete: true,
            completeDate: found.completeDate,
            succeededCount: found.succeededCount,
            failedCount: found.failedCount
        )
    }
}

extension SimulatedAppStore.World {
    /// Extends every subscription to a product, then sums up.
    mutating func extendAll(
        _ productID: String,
        days: Int,
        countries: [String]?,
        identifier: String,
        at now: Int64
    ) {
        var succeeded = 0
        var failed = 0
        for id in subscriptions.keys.sorted() {
            guard let subscription = subscriptions[id], subscription.productID == productID,
                subscription.sharedFrom == nil, subscription.state == .active,
                let customer = customers[subscription.customer],
                countries?.contains(customer.storefront) ?? true
            else { continue }
            do {
                _ = try extend(id, days: days, at: now)
                succeeded += 1
            } catch {
                failed += 1
                announce("RENEWAL_EXTENSION", "FAILURE", subscription: id)
            }
        }
        massExtensions[identifier] = .init(
            requestIdentifier: identifier,
            productID: productID,
            completeDate: now,
            succeededCount: succeeded,
            failedCount: failed
        )
        var summary = SimulatedAppStore.Announcement(
            type: "RENEWAL_EXTENSION",
            subtype: "SUMMARY"
        )
        summary.summary = .init(
            requestIdentifier: identifier,
            environment: environment.rawValue,
            appAppleId: environment == .production ? appAppleID : nil,
            bundleId: bundleID,
            productId: productID,
            storefrontCountryCodes: countries,
            succeededCount: succeeded,
            failedCount: failed
        )
        announcements.append(summary)
    }
}
