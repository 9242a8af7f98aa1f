internal import SandboxClock

/// Extensions: Apple moves the renewal date of a subscription, or of all of a product's
/// (<https://developer.apple.com/documentation/appstoreserverapi/extending-the-renewal-date-for-auto-renewable-subscriptions>).
enum RenewalExtensions {
    /// Moves the renewal date, at most twice in 365 days; returns the new one.
    static func extend(
        _ world: inout World,
        _ originalID: String,
        days: Int,
        at now: Int64
    ) throws(Refusal) -> Int64 {
        var changed = try world.subscription(originalID)
        guard changed.sharedFrom == nil else {
            throw .notPossible("Family members follow the buyer's extension.")
        }
        guard (1...90).contains(days) else { throw .invalid("An extension is of 1 to 90 days.") }
        guard isExtensible(world, changed) else {
            throw .notPossible("The subscription is not in a paid period.")
        }
        let year = 365 * CivilDate.millisecondsPerDay
        guard changed.extensions.filter({ now - $0 < year }).count < 2 else {
            throw .notPossible("It was extended twice within a year.")
        }
        changed.extensions.append(now)
        changed.renewalDate += world.renewals.extensionLength(days: days)
        changed.commitment?.expires += world.renewals.extensionLength(days: days)
        changed.anchor = changed.renewalDate
        changed.periodsSinceAnchor = 0
        if world.behaviour.extensionMovesExpiresDate {
            for var part in world.period(of: changed) {
                part.expiresDate = changed.renewalDate
                world.record(part, at: now)
            }
        }
        world.record(changed)
        world.announce("RENEWAL_EXTENDED", subscription: originalID)
        FamilySharing.followShares(&world, of: originalID, at: now)
        return changed.renewalDate
    }

    /// In a period that was paid for, with nothing wrong.
    static func isExtensible(_ world: World, _ subscription: Subscription) -> Bool {
        guard subscription.state == .active,
            let latest = world.transactions[subscription.latestTransactionID]
        else { return false }
        return (latest.price ?? 0) > 0
    }

    /// Extends every subscription to a product, then sums up; a repetition does nothing.
    @discardableResult
    static func extendAll(
        _ world: inout World,
        _ productID: String,
        days: Int,
        countries: [String]? = nil,
        identifier: String,
        at now: Int64
    ) throws(Refusal) -> MassExtension {
        guard (1...90).contains(days) else { throw .invalid("An extension is of 1 to 90 days.") }
        guard (1...128).contains(identifier.count) else {
            throw .invalid("A request identifier has 1 to 128 characters.")
        }
        _ = try world.product(productID)
        if let known = world.massExtensions[identifier] { return known }
        var succeeded = 0
        var failed = 0
        for id in world.subscriptions.keys.sorted() {
            guard let subscription = world.subscriptions[id], subscription.productID == productID,
                subscription.sharedFrom == nil, subscription.state == .active,
                let customer = world.customers[subscription.customer],
                countries?.contains(customer.storefront) ?? true
            else { continue }
            do {
                _ = try extend(&world, id, days: days, at: now)
                succeeded += 1
            } catch {
                failed += 1
                world.announce("RENEWAL_EXTENSION", "FAILURE", subscription: id)
            }
        }
        let result = MassExtension(
            requestIdentifier: identifier,
            productID: productID,
            completeDate: now,
            succeededCount: succeeded,
            failedCount: failed
        )
        world.massExtensions[identifier] = result
        var summary = Announcement(type: "RENEWAL_EXTENSION", subtype: "SUMMARY")
        summary.summary = .init(
            requestIdentifier: identifier,
            environment: world.environment.rawValue,
            appAppleId: world.environment == .production ? world.appAppleID : nil,
            bundleId: world.bundleID,
            productId: productID,
            storefrontCountryCodes: countries,
            succeededCount: succeeded,
            failedCount: failed
        )
        world.announcements.append(summary)
        return result
    }
}
