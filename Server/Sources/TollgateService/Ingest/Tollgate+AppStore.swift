internal import AppStoreAPI
internal import Foundation
internal import Intake
internal import Logging
internal import Storage
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
            return try await park(
                "\(error)",
                key: key,
                source: key.hex,
                body: body,
                store: .appStore
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
        let receipt = try await journal(
            AppStoreIntake.message(notification),
            source: source,
            dedupeKey: Self.key(ofNotification: notification.notificationUUID, verifier.bundleID),
            stated: Instant(milliseconds: notification.signedDate ?? now),
            kind: kind,
            body: body,
            store: .appStore,
            rereading: AppStoreIntake.wanted(by: notification)
        )
        if receipt != .duplicate, AppStoreIntake.isLeftToTheTeam(notification) {
            leaveToTheTeam(notification, source)
        }
        return receipt
    }

    /// The key under which a notification is journalled or parked.
    static func key(ofNotification uuid: UUID, _ bundleID: String) -> RowKey {
        RowKey("notification", bundleID, uuid.uuidString.lowercased())
    }

    private func leaveToTheTeam(_ notification: AppStore.Notification, _ source: String) {
        let type = notification.notificationType.rawValue
        var labels = "store=\"app_store\",type=\"\(type)\""
        var metadata: Logger.Metadata = ["type": "\(type)", "notification": "\(source)"]
        if notification.notificationType == .externalPurchaseToken,
            let subtype = notification.subtype?.rawValue
        {
            labels += ",subtype=\"\(subtype)\""
            metadata["subtype"] = "\(subtype)"
        }
        counters.count("tollgate_left_to_you_total", labels)
        logger.warning(
            "the App Store asks for something that this server leaves to you",
            metadata: metadata
        )
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
            try callLimits.restores.admit("\(customer) \(key.canonical)", at: clocks.wall())
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
        let receipt = try await journal(
            .facts(facts, about: key),
            source: key.id,
            dedupeKey: dedupeKey,
            stated: Instant(milliseconds: transaction.signedDate ?? now.milliseconds),
            kind: .signed,
            body: body,
            store: .appStore
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

    /// Journals a store's message with its facts and counts what became of it.
    ///
    /// What cannot be used, or what the database refuses for what it is, is parked.
    func journal(
        _ message: StoreMessage,
        source: String,
        dedupeKey: RowKey,
        stated: Instant,
        kind: JournalItem.Kind,
        body: [UInt8],
        store name: Store,
        rereading rereads: [Wanted] = []
    ) async throws -> Receipt {
        var facts: [Fact] = []
        var subject = RowKey("message", name.rawValue, source)
        var receipt = Receipt.recorded
        var wanted: [Wanted] = rereads
        var wantedAbout: Purchase.Key?
        switch message {
        case .facts(let stated, let key):
            facts = stated
            wantedAbout = key
            subject = RecordStore.subject(of: key)
        case .hint(let reads, let about, let reason):
            (wanted, wantedAbout) = (reads, about)
            receipt = .hint
            logger.info(
                "a message is only a hint; the store is asked",
                metadata: [
                    "store": "\(name.rawValue)", "message": "\(source)", "reason": "\(reason)",
                ]
            )
        case .nothing:
            receipt = .nothing
        case .parked(let reason):
            return try await park(
                reason,
                key: dedupeKey,
                source: source,
                body: body,
                store: name
            )
        }
        var item = JournalItem.message(
            dedupeKey: dedupeKey,
            subject: subject,
            kind: kind,
            stated: stated,
            facts: facts,
            received: body
        )
        item.wanted = wanted
        item.wantedAbout = wantedAbout
        // What a purchase's facts do not lead to must be found by whom it is about.
        switch name {
        case .stripe where facts.isEmpty: item.person = Self.payer(in: body)
        case .appStore, .stripe, .tollgate: break
        }
        let outcome: JournalOutcome
        do {
            outcome = try await store.submit(item)
        } catch {
            guard Self.isOfThisMessage(error) else { throw error }
            return try await park(
                "the database refused it: \(error)",
                key: dedupeKey,
                source: source,
                body: body,
                store: name
            )
        }
        if case .duplicate = outcome { receipt = .duplicate }
        count(receipt, name)
        return receipt
    }

    func count(_ receipt: Receipt, _ name: Store) {
        counters.count(
            "tollgate_messages_total",
            "store=\"\(name.rawValue)\",outcome=\"\(receipt.label)\""
        )
    }
}
