internal import AppStoreAPI
internal import Foundation
internal import Intake
internal import Logging
internal import Storage
public import Stores
public import TollgateAPI
public import TollgateCore

extension Tollgate {
    /// Takes in the body of an App Store Server Notification.
    ///
    /// Durable when this returns. One of version 1 only queues a look-up, since it is not signed.
    ///
    /// - Throws: `AppStore.VerificationError` for what the App Store did not sign for this app;
    ///   `StorageError` where it could not be kept, so that the store sends it again.
    public func receiveAppStoreNotification(_ body: [UInt8]) async throws -> Receipt {
        let signedPayload: [UInt8]
        do {
            signedPayload = try AppStore.NotificationBody(body).signedPayload
        } catch {
            guard let old = AppStore.VersionOneNotification(body) else { throw error }
            return try await receive(old)
        }
        return try await receive(signedPayload: signedPayload, in: body, kind: .signed)
    }

    /// Takes in a notification, however it came here.
    ///
    /// - Parameter body: what is kept of it.
    func receive(
        signedPayload: [UInt8],
        in body: [UInt8],
        kind: JournalItem.Kind
    ) async throws -> Receipt {
        let verifier = try verifier()
        let now = await clocks.now().milliseconds
        try await checkRevocation(of: signedPayload)
        let notification: AppStore.Notification
        do {
            notification = try verifier.verifyNotification(signedPayload: signedPayload, now: now)
        } catch {
            noteClock(error)
            guard error.isUnusable else { throw error }
            // Whatever its signature, one payload is one message.
            let payload = signedPayload.split(separator: UInt8(ascii: "."))
                .dropFirst().first.map { String(decoding: $0, as: UTF8.self) }
            let key = RowKey("unusable", verifier.bundleID, payload ?? "")
            let evidence = Evidence(
                source: key.hex,
                key: key,
                stated: Instant(milliseconds: now),
                kind: kind,
                body: body
            )
            return try await house.journal(
                Translation(.parked(reason: "\(error)"), evidence: evidence),
                of: .appStore
            )
        }
        if !notification.notificationType.isKnown {
            counters.count("tollgate_unknown_types_total", "store=\"app_store\"")
            logger.notice(
                "a notification type that this program does not know was taken in by its content",
                metadata: ["type": "\(notification.notificationType.rawValue)"]
            )
        }
        let source = notification.notificationUUID.uuidString.lowercased()
        return try await house.journal(
            Translation(
                AppStoreIntake.message(notification),
                evidence: Evidence(
                    source: source,
                    key: Self.key(ofNotification: notification.notificationUUID, verifier.bundleID),
                    stated: Instant(milliseconds: notification.signedDate ?? now),
                    kind: kind,
                    body: body
                ),
                questions: AppStoreIntake.wanted(by: notification),
                leftToTheTeam: AppStoreIntake.leftToTheTeam(by: notification)
            ),
            of: .appStore
        )
    }

    /// The key under which a notification is journalled or parked.
    static func key(ofNotification uuid: UUID, _ bundleID: String) -> RowKey {
        RowKey("notification", bundleID, uuid.uuidString.lowercased())
    }

    /// Queues a look-up of the customer whom a notification of version 1 names.
    ///
    /// - Throws: refusals 401 `shared_secret`, 404 `app_unknown`, 400 `environment`.
    private func receive(_ old: AppStore.VersionOneNotification) async throws -> Receipt {
        let verifier = try verifier()
        guard let secret = appStoreOptions.sharedSecret, let password = old.password,
            // Hashes, so that the time it takes tells nothing.
            RowKey("shared secret", secret) == RowKey("shared secret", password)
        else {
            throw Refusal(
                401,
                .authenticationError,
                "shared_secret",
                "A notification of version 1 needs the app's shared secret: set TOLLGATE_APP_STORE_SHARED_SECRET, or switch to version 2."
            )
        }
        guard old.bundleID == nil || old.bundleID == verifier.bundleID else {
            throw AppStore.VerificationError(.bundle)
        }
        guard let environment = StoreEnvironment(old.environment ?? .production),
            verifier.environments.contains(environment.ofAppStore)
        else { throw AppStore.VerificationError(.environment) }
        var receipt = Receipt.nothing
        if old.versionTwoTypes.isEmpty {
            counters.count("tollgate_unknown_types_total", "store=\"app_store\"")
        }
        // A question about what was consumed is no news of a purchase.
        if old.versionTwoTypes != [.consumptionRequest], let id = old.anyTransactionID {
            let key = Purchase.Key(
                store: .appStore,
                environment: environment,
                application: verifier.bundleID,
                id: id
            )
            let wanted = Wanted(kind: .transactionHistory, object: id)
            try await store.want(wanted, about: key, at: await clocks.now())
            receipt = .recorded
        }
        counters.count(
            "tollgate_messages_total",
            "store=\"app_store\",outcome=\"version_1\""
        )
        return receipt
    }

    /// Takes in a transaction that a device presents, signed by the App Store.
    ///
    /// - Parameter customer: who is signed in on the device; `nil` claims for nobody.
    /// - Throws: as `receiveAppStoreNotification`, and a refusal `owned_elsewhere` where the
    ///   purchase is, by the catalog's ownership policy, another customer's; 429 `rate_limited`
    ///   for who restores another's purchase all day.
    public func receiveSignedTransaction(
        _ request: API.AppStoreTransactionRequest,
        from customer: Customer.ID?
    ) async throws -> API.AppStoreTransactionReply {
        let verifier = try verifier()
        let now = await clocks.now()
        let body = Array(request.signedTransaction.utf8)
        try await checkRevocation(of: body)
        let transaction: AppStore.Transaction
        do {
            transaction = try verifier.verifyTransaction(body, now: now.milliseconds)
        } catch {
            noteClock(error)
            throw error
        }
        guard case .facts(var facts, let key) = AppStoreIntake.message(transaction) else {
            throw Refusal.invalid(
                "signed_transaction",
                "This transaction lacks fields that every purchase has."
            )
        }
        let mode = Claim.Mode(rawValue: request.mode.rawValue) ?? .observed
        if let customer {
            facts.append(
                Fact(
                    purchase: key,
                    source: "claim:\(customer)",
                    stated: Stated(now),
                    statement: .claim(Claim(customer: customer, mode: mode))
                )
            )
        }
        // Under `transfer` the last who restores owns it, and a device shows the same bytes each time;
        // but a retry by who has it already is no news. Under other policies only the first counts.
        var turn = ""
        if let customer, mode == .restored,
            try await isMoved(
                by: customer,
                key,
                store.record(of: key),
                bought: Instant(milliseconds: transaction.purchaseDate ?? now.milliseconds)
            )
        {
            try restores.admit("\(customer) \(key.canonical)", at: clocks.wall())
            turn = "\(now.milliseconds)"
        }
        let dedupeKey = RowKey(
            "transaction",
            key.canonical,
            transaction.transactionID ?? "",
            "\(transaction.signedDate ?? 0)",
            customer?.rawValue ?? "",
            mode.rawValue,
            turn
        )
        let evidence = Evidence(
            source: key.id,
            key: dedupeKey,
            stated: Instant(milliseconds: transaction.signedDate ?? now.milliseconds),
            kind: .signed,
            body: body
        )
        let receipt = try await house.journal(
            Translation(.facts(facts, about: key), evidence: evidence),
            of: .appStore
        )
        guard receipt != .parked else {
            throw Refusal(
                500,
                .apiError,
                .internalError,
                "This transaction could not be recorded; it is kept aside, and people were told."
            )
        }
        if let customer, try await !store.holds(customer, key) {
            throw Refusal(
                409,
                .invalidRequestError,
                "owned_elsewhere",
                "This purchase belongs to another customer; the ownership policy of the catalog decides that."
            )
        }
        if let customer, mode == .restored, receipt == .recorded {
            try await tellWhoRestored(transaction, customer, about: key)
        }
        return API.AppStoreTransactionReply(
            environment: API.Environment(rawValue: key.environment.rawValue),
            purchase: key.canonical,
            customer: customer?.rawValue,
            new: receipt == .recorded
        )
    }

    /// Whether one more restore may move a purchase: under `transfer`, to who does not have it.
    ///
    /// The policy is that of the beginning of an epoch, and every epoch begins with a period.
    func isMoved(
        by customer: Customer.ID,
        _ key: Purchase.Key,
        _ record: Purchase?,
        bought: Instant? = nil
    ) async throws -> Bool {
        let starts = (record?.periods.map(\.period.start) ?? []) + [bought].compactMap(\.self)
        guard starts.contains(where: { store.history.ownership(at: $0) == .transfer }) else {
            return false
        }
        return try await !store.holds(customer, key)
    }

    /// Where a purchase goes to who restores it, the App Store is to name them from now on.
    private func tellWhoRestored(
        _ transaction: AppStore.Transaction,
        _ customer: Customer.ID,
        about key: Purchase.Key
    ) async throws {
        let bought = Instant(milliseconds: transaction.purchaseDate ?? transaction.signedDate ?? 0)
        guard store.history.ownership(at: bought) == .transfer,
            appStoreEnvironments.contains(key.environment),
            transaction.inAppOwnershipType == .purchased,
            let original = transaction.originalTransactionID
        else { return }
        let token = try await directory.customer(customer.rawValue).appAccountToken
        // Also where the transaction bears it: it says what was so when it was signed, and somebody
        // else may have restored the purchase since. The question outlives an erasure, so it hashes it.
        let whose = RowKey("account token", token).hex
        let wanted = Wanted(kind: .appAccountToken, object: "\(original) \(whose)")
        try await store.want(wanted, about: key, at: await clocks.now())
    }

    /// Asks the certificates' issuers, if that is configured; nothing is written meanwhile.
    func checkRevocation(of signedData: [UInt8]) async throws {
        guard let checks = appStoreOptions.revocation else { return }
        try await verifier().checkRevocation(
            of: signedData,
            by: checks,
            now: await clocks.now().milliseconds
        )
    }

    func verifier() throws -> AppStore.SignedDataVerifier {
        guard let appStore else {
            throw Refusal(
                503,
                .apiError,
                .storeUnavailable,
                "The App Store is not configured: set TOLLGATE_APP_STORE_ROOTS and TOLLGATE_APP_STORE_BUNDLE_ID."
            )
        }
        return appStore
    }
}
