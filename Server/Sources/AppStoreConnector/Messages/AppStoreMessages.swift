internal import AppStoreAPI
internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// Verifies what the App Store signed and says it in our words: each message comes here once.
struct AppStoreMessages: Sendable {
    let context: StoreContext
    /// Checks what the App Store signs; `nil` where no trusted root is configured.
    let verifier: AppStore.SignedDataVerifier?
    /// By which notifications of version 1 are known.
    let sharedSecret: String?
    /// Asks whether certificates were revoked, where that is wanted.
    let revocation: AppStore.RevocationChecks?
    /// How often a signature may have us say that our clock is wrong.
    private let clockPace = WorkPace()

    init(
        _ context: StoreContext,
        _ verifier: AppStore.SignedDataVerifier?,
        _ options: AppStoreOptions
    ) {
        self.context = context
        self.verifier = verifier
        sharedSecret = options.sharedSecret
        revocation = options.revocation
    }

    /// - Throws: a refusal 503 where no trusted root is configured.
    func configured() throws -> AppStore.SignedDataVerifier {
        guard let verifier else {
            throw Refusal(
                503,
                .storeUnavailable,
                "The App Store is not configured: set TOLLGATE_APP_STORE_ROOTS, and TOLLGATE_APP_STORE_BUNDLE_ID or ‘apps’ in the catalog."
            )
        }
        return verifier
    }

    /// The app that an unsigned message names; the first one where it names none.
    ///
    /// - Throws: `AppStore.VerificationError` for another app's; a refusal 503 where no trusted root
    ///   is configured.
    func application(_ bundleID: String?) throws -> String {
        let verifier = try configured()
        return try bundleID.map { try verifier.app(bundleID: $0).bundleID } ?? verifier.bundleIDs[0]
    }

    /// Asks the certificates' issuers, if that is configured; nothing is written meanwhile.
    func checkRevocation(of signedData: @autoclosure () -> [UInt8]?) async throws {
        guard let revocation, let signedData = signedData() else { return }
        try await configured().checkRevocation(
            of: signedData,
            by: revocation,
            now: await context.clocks.now().milliseconds
        )
    }

    /// Does what verifies something, and says so where it shows that our clock is behind.
    ///
    /// Each warning comes once a minute at most: whoever sends what shows it again and again must not
    /// fill the log.
    func verified<Value>(
        _ verify: (AppStore.SignedDataVerifier) throws(AppStore.VerificationError) -> Value
    ) throws -> Value {
        let verifier = try configured()
        do {
            return try verify(verifier)
        } catch {
            noteClock(error)
            throw error
        }
    }

    private func noteClock(_ error: AppStore.VerificationError) {
        guard let seconds = error.secondsAhead,
            clockPace.isDue(context.clocks.wall(), every: 60_000)
        else { return }
        context.logger.error(
            "this server's clock is \(seconds) seconds behind the App Store's: set it; until then nothing that the App Store signs now is taken in, and it sends its notifications again"
        )
    }

    // MARK: - Notifications

    /// Translates a notification, or what was parked of an answer.
    ///
    /// One of version 1 is a rumour, since it is not signed.
    ///
    /// - Throws: `AppStore.VerificationError` for what the App Store did not sign for this app;
    ///   refusals 401 `shared_secret`, 404 `app_unknown`, 400 `environment` of version 1.
    func translate(_ message: ReceivedMessage, at now: Instant) throws -> Translation {
        let signedPayload: [UInt8]
        do {
            signedPayload = try AppStore.NotificationBody(message.body).signedPayload
        } catch {
            switch message.way {
            case .parked: return try translate(answer: message.body, at: now)
            case .delivered:
                if let old = AppStore.VersionOneNotification(message.body) {
                    return try translate(old, in: message.body, at: now)
                }
            case .fetched: break
            }
            throw error
        }
        let verifier = try configured()
        let kind: JournalItem.Kind = message.way == .fetched ? .fetched : .signed
        let notification: AppStore.Notification
        do {
            notification = try verifier.verifyNotification(
                signedPayload: signedPayload,
                now: now.milliseconds
            )
        } catch {
            noteClock(error)
            guard error.isUnusable else { throw error }
            // Whatever its signature, one payload is one message.
            let payload = signedPayload.split(separator: UInt8(ascii: "."))
                .dropFirst().first.map { String(decoding: $0, as: UTF8.self) }
            let key = RowKey("unusable", verifier.bundleIDs[0], payload ?? "")
            return Translation(
                .parked(reason: "\(error)"),
                evidence: Evidence(
                    source: key.hex,
                    key: key,
                    stated: now,
                    kind: kind,
                    body: message.body
                )
            )
        }
        if !notification.notificationType.isKnown {
            countUnknownType()
            context.logger.notice(
                "a notification type that this program does not know was taken in by its content",
                metadata: ["type": "\(notification.notificationType.rawValue)"]
            )
        }
        return Translation(
            AppStoreTranslator.message(notification),
            evidence: Evidence(
                source: notification.notificationUUID.uuidString.lowercased(),
                key: Self.key(
                    ofNotification: notification.notificationUUID,
                    notification.bundleID ?? verifier.bundleIDs[0]
                ),
                stated: Instant(milliseconds: notification.signedDate ?? now.milliseconds),
                kind: kind,
                body: message.body
            ),
            questions: AppStoreTranslator.wanted(by: notification),
            leftToTheTeam: AppStoreTranslator.leftToTheTeam(by: notification)
        )
    }

    private func countUnknownType() {
        context.counters.count("tollgate_unknown_types_total", "store=\"app_store\"")
    }

    /// The key under which a notification is journalled or parked.
    static func key(ofNotification uuid: UUID, _ bundleID: String) -> RowKey {
        RowKey("notification", bundleID, uuid.uuidString.lowercased())
    }

    /// A look-up of the customer whom a notification of version 1 names.
    private func translate(
        _ old: AppStore.VersionOneNotification,
        in body: [UInt8],
        at now: Instant
    ) throws -> Translation {
        let verifier = try configured()
        guard let sharedSecret, let password = old.password,
            // Hashes, so that the time it takes tells nothing.
            RowKey("shared secret", sharedSecret) == RowKey("shared secret", password)
        else {
            throw Refusal(
                401,
                "shared_secret",
                "A notification of version 1 needs the app's shared secret: set TOLLGATE_APP_STORE_SHARED_SECRET, or switch to version 2."
            )
        }
        let application = try application(old.bundleID)
        guard let environment = StoreEnvironment(old.environment ?? .production),
            verifier.environments.contains(environment.ofAppStore)
        else { throw AppStore.VerificationError(.environment) }
        if old.versionTwoTypes.isEmpty { countUnknownType() }
        // A question about what was consumed is no news of a purchase.
        let id = old.versionTwoTypes == [.consumptionRequest] ? nil : old.anyTransactionID
        return Translation(
            .rumour(
                id.map { [Wanted(kind: .transactionHistory, object: $0)] } ?? [],
                about: id.map { key($0, environment, application) },
                outcome: "version_1"
            ),
            evidence: Evidence(
                source: "version_1",
                key: RowKey("version 1", application, id ?? ""),
                stated: now,
                kind: .delivered,
                body: body
            )
        )
    }

    private func key(
        _ id: String,
        _ environment: StoreEnvironment,
        _ application: String
    ) -> Purchase.Key {
        Purchase.Key(store: .appStore, environment: environment, application: application, id: id)
    }

    // MARK: - Answers

    /// An entry of a status response, as it is kept.
    struct StatusBody: Codable {
        var status: Int?
        var signedTransactionInfo: String
        var signedRenewalInfo: String?
    }

    /// Translates an entry of a status response.
    func translate(_ entry: StatusBody, at now: Instant) throws -> Translation {
        let (transaction, renewalInfo) = try verified {
            verifier throws(AppStore.VerificationError) in
            let transaction = try verifier.verifyTransaction(
                Array(entry.signedTransactionInfo.utf8),
                now: now.milliseconds
            )
            guard let renewal = entry.signedRenewalInfo else {
                return (transaction, AppStore.RenewalInfo?.none)
            }
            let renewalInfo = try verifier.verifyRenewalInfo(
                Array(renewal.utf8),
                of: transaction,
                now: now.milliseconds
            )
            return (transaction, renewalInfo)
        }
        let source = "read:\(transaction.originalTransactionID ?? "")"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Self.answer(
            AppStoreTranslator.message(
                transaction,
                renewalInfo: renewalInfo,
                status: entry.status.map(AppStore.Status.init),
                at: transaction.signedDate,
                source: source
            ),
            source,
            stated: Instant(
                milliseconds: renewalInfo?.signedDate ?? transaction.signedDate
                    ?? now.milliseconds
            ),
            Array(try encoder.encode(entry))
        )
    }

    /// Translates a transaction that an answer holds, or what was kept of another answer.
    func translate(answer body: [UInt8], at now: Instant) throws -> Translation {
        if body.first == UInt8(ascii: "{"),
            let entry = try? JSONDecoder().decode(StatusBody.self, from: Data(body))
        {
            return try translate(entry, at: now)
        }
        let transaction = try transaction(body, at: now)
        let source = "read:\(transaction.transactionID ?? "")"
        return Self.answer(
            AppStoreTranslator.message(transaction, source: source),
            source,
            stated: Instant(milliseconds: transaction.signedDate ?? now.milliseconds),
            body
        )
    }

    /// Translates an answer, under a key that the same answer has again.
    static func answer(
        _ meaning: Translation.Meaning,
        _ source: String,
        stated: Instant,
        _ body: [UInt8]
    ) -> Translation {
        Translation(
            meaning,
            evidence: Evidence(
                source: source,
                key: RowKey("read", source, digest(body)),
                stated: stated,
                kind: .fetched,
                body: body
            )
        )
    }

    /// A transaction that the App Store signed for this app.
    func transaction(_ signed: [UInt8], at now: Instant) throws -> AppStore.Transaction {
        try verified { verifier throws(AppStore.VerificationError) in
            try verifier.verifyTransaction(signed, now: now.milliseconds)
        }
    }

    /// A transaction that a device presents, signed for this app by the App Store, or by Xcode where its
    /// certificate is configured.
    func presentedTransaction(
        _ signed: [UInt8],
        at now: Instant
    ) async throws -> AppStore.Transaction {
        let transaction = try verified { verifier throws(AppStore.VerificationError) in
            try verifier.verifyDeviceTransaction(signed, now: now.milliseconds)
        }
        // Nobody has issued Xcode's certificate, so nobody revokes it.
        if transaction.environment != .xcode { try await checkRevocation(of: signed) }
        return transaction
    }
}
