extension SimulatedAppStore {
    func signed(_ transaction: Transaction, at now: Int64) throws -> String {
        let customer = try world.customer(transaction.customer)
        return try signer.sign(
            TransactionPayload(
                transaction,
                customer: customer,
                in: world,
                signedDate: max(now, lastSigned)
            )
        )
    }

    func signed(_ subscription: Subscription, at now: Int64) throws -> String {
        let customer = try world.customer(subscription.customer)
        return try signer.sign(
            RenewalInfoPayload(
                subscription,
                customer: customer,
                in: world,
                signedDate: max(now, lastSigned)
            )
        )
    }

    func signedAppTransaction(_ customer: Customer, at now: Int64) throws -> String {
        let nonce = world.random.uuid()
        return try signer.sign(
            AppTransactionPayload(customer: customer, in: world, nonce: nonce, signedDate: now)
        )
    }

    func notificationPayload(_ announcement: Announcement, at now: Int64) -> NotificationPayload {
        var payload = NotificationPayload(
            notificationType: announcement.type,
            subtype: announcement.subtype,
            notificationUUID: world.random.uuid(),
            signedDate: now
        )
        if let summary = announcement.summary {
            payload.summary = summary
            return payload
        }
        if let seats = announcement.unclaimedSeats {
            payload.unclaimInfo = .init(unclaimSeatIds: seats)
            return payload
        }
        switch announcement.type {
        case "EXTERNAL_PURCHASE_TOKEN":
            let prefix = environment == .sandbox ? "SANDBOX_" : ""
            payload.externalPurchaseToken = NotificationPayload.ExternalPurchaseToken(
                externalPurchaseId: prefix + world.random.uuid(),
                tokenCreationDate: now,
                appAppleId: environment == .production ? world.appAppleID : nil,
                bundleId: world.bundleID
            )
            return payload
        case "RESCIND_CONSENT":
            let customer = announcement.transaction.flatMap { world.customers[$0.customer] }
            payload.appData = NotificationPayload.AppData(
                appAppleId: environment == .production ? world.appAppleID : nil,
                bundleId: world.bundleID,
                environment: environment.rawValue,
                signedAppTransactionInfo: customer.flatMap {
                    try? signedAppTransaction($0, at: now)
                }
            )
            return payload
        default: break
        }
        payload.data = NotificationPayload.Subject(
            environment: environment.rawValue,
            appAppleId: environment == .production ? world.appAppleID : nil,
            bundleId: world.bundleID,
            bundleVersion: announcement.type == "TEST" ? nil : "1",
            signedTransactionInfo: announcement.transaction.flatMap { try? signed($0, at: now) },
            signedRenewalInfo: announcement.subscription.flatMap { try? signed($0, at: now) },
            status: announcement.subscription?.state.rawValue,
            consumptionRequestReason: announcement.consumptionRequestReason
        )
        return payload
    }
}
