internal import AppStoreAPI
internal import Foundation
internal import Intake
internal import Logging
internal import Storage
public import TollgateAPI
public import TollgateCore

extension Tollgate {
    /// Takes in the body of an App Store Server Notification V2.
    ///
    /// Durable when this returns.
    ///
    /// - Throws: `AppStore.VerificationError` for what the App Store did not sign for this app;
    ///   `StorageError` where it could not be kept, so that the store sends it again.
    public func receiveAppStoreNotification(_ body: [UInt8]) async throws -> Receipt {
        let verifier = try verifier()
        let now = await clocks.now().milliseconds
        let signedPayload = try AppStore.NotificationBody(body).signedPayload
        let notification = try verifier.verifyNotification(signedPayload: signedPayload, now: now)
        let source = notification.notificationUUID.uuidString.lowercased()
        let stated = Instant(milliseconds: notification.signedDate ?? now)
        return try await journal(
            AppStoreIntake.message(notification),
            source: source,
            dedupeKey: RowKey("notification", verifier.bundleID, source),
            stated: stated,
            kind: .signed,
            body: body,
            store: .appStore,
            rereading: AppStoreIntake.wanted(by: notification)
        )
    }

    /// Takes in a transaction that a device presents, signed by the App Store.
    ///
    /// - Parameter customer: who is signed in on the device; `nil` claims for nobody.
    /// - Throws: as `receiveAppStoreNotification`, and a refusal `owned_elsewhere` where the
    ///   purchase is, by the catalog's ownership policy, another customer's.
    public func receiveSignedTransaction(
        _ request: API.AppStoreTransactionRequest,
        from customer: Customer.ID?
    ) async throws -> API.AppStoreTransactionReply {
        let verifier = try verifier()
        let now = await clocks.now()
        let body = Array(request.signedTransaction.utf8)
        let transaction = try verifier.verifyTransaction(body, now: now.milliseconds)
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
        // The last who restores may own it, and a device shows the same bytes each time; but a
        // retry by who has it already is no news.
        var turn = ""
        if let customer, mode == .restored, try await !store.holds(customer, key) {
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
        if let customer, try await !store.holds(customer, key) {
            throw Refusal(
                409,
                .invalidRequestError,
                "owned_elsewhere",
                "This purchase belongs to another customer; the ownership policy of the catalog decides that."
            )
        }
        return API.AppStoreTransactionReply(
            environment: API.Environment(rawValue: key.environment.rawValue),
            purchase: key.canonical,
            customer: customer?.rawValue,
            new: receipt == .recorded
        )
    }

    private func verifier() throws -> AppStore.SignedDataVerifier {
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
            receipt = .parked
            logger.warning(
                "a genuine message could not be used and is parked",
                metadata: [
                    "store": "\(name.rawValue)", "message": "\(source)", "reason": "\(reason)",
                ]
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
        let outcome = try await store.submit(item)
        if case .duplicate = outcome { receipt = .duplicate }
        counters.count(
            "tollgate_messages_total",
            "store=\"\(name.rawValue)\",outcome=\"\(receipt.label)\""
        )
        return receipt
    }
}
