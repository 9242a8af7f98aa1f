import Foundation

/// Signs what the store states: transactions, renewal info, app transactions and notifications.
struct StoreSigner: Sendable {
    let environment: SimulatedAppStore.Environment
    let authority: CertificateAuthority
    private let payloads: PayloadSigner
    /// The date of the newest notification; nothing is signed with an earlier one.
    private var lastSigned: Int64

    init(
        _ authority: CertificateAuthority,
        in environment: SimulatedAppStore.Environment,
        lastSigned: Int64
    ) throws {
        self.environment = environment
        self.authority = authority
        self.lastSigned = lastSigned
        payloads = try PayloadSigner(authority)
    }

    /// The date of what is signed now.
    func date(at now: Int64) -> Int64 { max(now, lastSigned) }

    func sign(_ payload: some Encodable) throws -> String { try payloads.sign(payload) }

    /// Signs bytes that are no object of ours.
    func sign(bytes: Data) throws -> String { try payloads.sign(bytes: bytes) }

    func sign(_ transaction: Transaction, in world: World, at now: Int64) throws -> String {
        try sign(
            TransactionPayload(
                transaction,
                customer: try world.customer(transaction.customer),
                in: world,
                signedDate: date(at: now)
            )
        )
    }

    func sign(_ subscription: Subscription, in world: World, at now: Int64) throws -> String {
        try sign(
            RenewalInfoPayload(
                subscription,
                customer: try world.customer(subscription.customer),
                in: world,
                signedDate: date(at: now)
            )
        )
    }

    /// Signs the app transaction of a customer, with a new nonce.
    func sign(
        appTransactionOf customer: Customer,
        in world: inout World,
        at now: Int64
    ) throws -> String {
        let nonce = world.random.uuid()
        return try sign(
            AppTransactionPayload(customer: customer, in: world, nonce: nonce, signedDate: now)
        )
    }

    // MARK: - Notifications

    /// Signs what was announced, in its order.
    ///
    /// Two statements about one thing never bear the same date, even while the clock stands.
    /// - Returns: the ids of those that go to the app's server.
    mutating func signAnnouncements(of world: inout World, at now: Int64) -> [String] {
        let announcements = world.announcements
        world.announcements = []
        var sent: [String] = []
        for announcement in announcements {
            lastSigned = max(now, lastSigned + 1)
            guard let notification = sign(announcement, in: &world, at: lastSigned) else {
                continue
            }
            world.notifications[notification.id] = notification
            world.notificationOrder.append(notification.id)
            if let token = announcement.testToken { world.testTokens[token] = notification.id }
            if notification.url != nil { sent.append(notification.id) }
        }
        return sent
    }

    private func sign(
        _ announcement: Announcement,
        in world: inout World,
        at date: Int64
    ) -> SimulatedAppStore.Notification? {
        let payload = payload(announcement, in: &world, at: date)
        guard let signed = try? sign(payload) else { return nil }
        var notification = SimulatedAppStore.Notification(
            id: payload.notificationUUID,
            type: announcement.type,
            subtype: announcement.subtype,
            signedDate: date,
            signedPayload: signed,
            transactionID: announcement.transaction?.id,
            originalTransactionID: announcement.transaction?.originalID,
            url: world.notificationURL
        )
        // A test is sent in version 2 whatever the app has chosen.
        if world.notificationVersion == 1, announcement.type != "TEST" {
            notification.versionOneBody = VersionOne(world: world, signer: self)
                .body(announcement, at: date)
            if notification.versionOneBody == nil { notification.url = nil }
        }
        return notification
    }

    private func payload(
        _ announcement: Announcement,
        in world: inout World,
        at date: Int64
    ) -> NotificationPayload {
        var payload = NotificationPayload(
            notificationType: announcement.type,
            subtype: announcement.subtype,
            notificationUUID: world.random.uuid(),
            signedDate: date
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
                tokenCreationDate: date,
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
                    try? sign(appTransactionOf: $0, in: &world, at: date)
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
            signedTransactionInfo: announcement.transaction.flatMap {
                try? sign($0, in: world, at: date)
            },
            signedRenewalInfo: announcement.subscription.flatMap {
                try? sign($0, in: world, at: date)
            },
            status: announcement.subscription?.state.rawValue,
            consumptionRequestReason: announcement.consumptionRequestReason
        )
        return payload
    }
}
