package import Crypto
import Foundation
import StrictJSON
import SwiftASN1
internal import TextFormats
import X509

extension AppStore {
    /// Verifies and decodes what the App Store signs.
    ///
    /// The rules are Apple's (`SignedDataVerifier` of its server library), except where theirs are
    /// lenient: encodings are strict, dates are range-checked before use, and data that Xcode
    /// signs is accepted only under a certificate that is configured for it, and never beside
    /// production. A chain of certificates is proven once and then known by its bytes.
    public struct SignedDataVerifier: Sendable {
        /// How far a signing date may lie ahead of `now`, in milliseconds.
        public static let maximumClockSkew: Int64 = 300_000
        /// Signing dates from 2008 to 2200: the App Store is not older, nothing of ours younger.
        public static let signingDates: ClosedRange<Int64> = 1_199_145_600_000...7_258_118_400_000

        /// The apps for which data is accepted; one verifier serves all, since the signature is checked
        /// before anything is believed that names an app.
        public let apps: [App]
        /// The environments that are accepted.
        public let environments: Set<Environment>

        let roots: [Certificate]
        /// The certificates of StoreKit testing in Xcode; `nil`: nothing that Xcode signs is accepted.
        let xcode: XcodeCertificates?
        private let chains: KnownChains

        /// A verifier for several apps.
        ///
        /// - Parameters:
        ///   - roots: DER of the root certificates that are trusted, such as Apple Root CA - G3.
        ///   - apps: Each app's number in the store is needed for production.
        ///   - environments: Production, Sandbox or both.
        ///   - xcode: The certificates under which devices may present transactions of StoreKit
        ///     testing in Xcode; not beside production. With them there may be no roots.
        ///   - maximumChains: How many proven certificate chains are remembered.
        ///   - maximumNewChainsPerSecond: How many unknown chains are proven within a second of
        ///     `now`; each costs 0.7 ms of CPU, and anybody can send some.
        public init(
            roots: [[UInt8]],
            apps: [App],
            environments: Set<Environment>,
            xcode: XcodeCertificates? = nil,
            maximumChains: Int = 64,
            maximumNewChainsPerSecond: Int = 50
        ) throws(ConfigurationError) {
            guard !apps.isEmpty, apps.allSatisfy({ !$0.bundleID.isEmpty }) else {
                throw ConfigurationError.noBundleID
            }
            guard !environments.isEmpty else { throw ConfigurationError.noEnvironment }
            for environment in environments
            where environment != .production && environment != .sandbox {
                throw ConfigurationError.environment(environment)
            }
            if environments.contains(.production),
                let app = apps.first(where: { $0.appAppleID == nil })
            {
                throw apps.count == 1
                    ? ConfigurationError.noAppAppleID
                    : ConfigurationError.noAppAppleIDOf(bundleID: app.bundleID)
            }
            guard xcode == nil || !environments.contains(.production) else {
                throw ConfigurationError.xcodeInProduction
            }
            guard !roots.isEmpty || xcode != nil else { throw ConfigurationError.noRoot }
            var certificates: [Certificate] = []
            for (index, der) in roots.enumerated() {
                do { certificates.append(try Certificate(derEncoded: der)) } catch {
                    throw ConfigurationError.unreadableRoot(index)
                }
            }
            self.roots = certificates
            self.apps = apps
            self.environments = environments
            self.xcode = xcode
            chains = KnownChains(
                capacity: maximumChains,
                budgetPerSecond: maximumNewChainsPerSecond
            )
        }

        /// Why a verifier cannot be made.
        public enum ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
            case noRoot
            case unreadableRoot(Int)
            case noBundleID
            case noEnvironment
            case environment(Environment)
            case noAppAppleID
            case noAppAppleIDOf(bundleID: String)
            case xcodeInProduction

            public var description: String {
                switch self {
                case .noRoot: "no root certificate is configured"
                case .unreadableRoot(let index): "root certificate \(index + 1) is no X.509 in DER"
                case .noBundleID: "no bundle id is configured"
                case .noEnvironment: "no environment is configured"
                case .environment(let environment):
                    "environment \(environment.rawValue): only Production and Sandbox are signed "
                        + "by the App Store"
                case .noAppAppleID: "the production environment needs the app's Apple id"
                case .noAppAppleIDOf(let bundleID):
                    "the production environment needs the Apple id of every app, and \(bundleID) "
                        + "has none: add app_apple_id to it in the catalog"
                case .xcodeInProduction:
                    "what Xcode signs is never accepted beside the production environment"
                }
            }
        }

        /// The subjects of the trusted roots, such as "CN=Apple Root CA - G3,…,O=Apple Inc.,C=US".
        public var rootNames: [String] { roots.map { "\($0.subject)" } }

        /// The expiry of each trusted root, in UNIX milliseconds; in the order of ``rootNames``.
        public var rootEnds: [Int64] {
            roots.map { Int64($0.notValidAfter.timeIntervalSince1970) * 1000 }
        }

        /// How many chains were proven in full since the start, with success or without.
        public var fullChainValidations: Int { chains.fullValidations }

        /// How many proven chains are remembered at the moment.
        public var knownChains: Int { chains.count }

        /// SHA-256 digests of the proven chains under which a signature was valid, newest use first.
        public var provenChains: [[UInt8]] { chains.digests }

        /// Lets chains that were proven before a restart be proven again outside of the budget.
        ///
        /// A digest proves nothing: each chain is checked in full, once, before it is trusted. So
        /// whoever writes digests into the place where they are kept gains no trust.
        ///
        /// - Parameter digests: what `provenChains` said.
        public func recall(_ digests: [[UInt8]]) { chains.expect(digests) }
    }
}

// MARK: - What can be verified

extension AppStore.SignedDataVerifier {
    /// Verifies a notification.
    ///
    /// Its signature covers the signed objects inside, so theirs are not checked again; that they
    /// are for the same app, environment and purchase is.
    ///
    /// - Parameters:
    ///   - signedPayload: The JWS of the body's member of that name.
    ///   - now: UNIX milliseconds.
    public func verifyNotification(
        signedPayload: [UInt8],
        now: Int64
    ) throws(AppStore.VerificationError) -> AppStore.Notification {
        let json = try open(signedPayload, .notification, dated: "signedDate", now: now)
        return try authentic { () throws(AppStore.VerificationError) in
            let notification = try decodeNotification(json)
            try check(notification)
            return notification
        }
    }

    private func decodeNotification(
        _ json: JSON
    ) throws(AppStore.VerificationError) -> AppStore.Notification {
        do throws(AppStore.VerificationError) {
            return try AppStore.Notification(json: json)
        } catch {
            throw !error.rule.isBinding && isOurs(json) ? error.unusable : error
        }
    }

    /// Whether every part that names an app names ours, read without decoding all the rest.
    private func isOurs(_ payload: JSON) -> Bool {
        let parts = [
            payload["data"], payload["summary"], payload["externalPurchaseToken"],
            payload["appData"],
        ].compactMap { $0 }
        guard !parts.isEmpty else { return payload["unclaimInfo"] != nil }
        guard Set(parts.compactMap { $0["bundleId"]?.string }).count <= 1 else { return false }
        return parts.allSatisfy { part in
            var environment = part["environment"]?.string.map(AppStore.Environment.init)
            if let token = part["externalPurchaseId"]?.string {
                environment = token.hasPrefix("SANDBOX") ? .sandbox : .production
            }
            do {
                if part["externalPurchaseId"] != nil, Self.namesNoApp(part) {
                    try check(environment: environment)
                    return true
                }
                try check(
                    bundleID: part["bundleId"]?.string,
                    appAppleID: .some(part["appAppleId"]?.int64),
                    environment: environment
                )
                return true
            } catch {
                return false
            }
        }
    }

    /// Tokens and released seats state nothing of a purchase, and may come without an app.
    private static func namesNoApp(_ part: JSON) -> Bool {
        part["bundleId"] == nil && part["appAppleId"] == nil
    }

    /// Verifies a signed transaction that stands alone.
    public func verifyTransaction(
        _ signedTransaction: [UInt8],
        now: Int64
    ) throws(AppStore.VerificationError) -> AppStore.Transaction {
        let json = try open(signedTransaction, .transaction, dated: "signedDate", now: now)
        return try authentic { () throws(AppStore.VerificationError) in
            let transaction = try AppStore.Transaction(json: json)
            try check(bundleID: transaction.bundleID, environment: transaction.environment)
            return transaction
        }
    }

    /// Verifies signed renewal info that stands alone.
    ///
    /// It does not name its app, so it should come with the transaction beside it.
    ///
    /// - Parameter transaction: A verified transaction of the same purchase.
    public func verifyRenewalInfo(
        _ signedRenewalInfo: [UInt8],
        of transaction: AppStore.Transaction? = nil,
        now: Int64
    ) throws(AppStore.VerificationError) -> AppStore.RenewalInfo {
        let json = try open(signedRenewalInfo, .renewalInfo, dated: "signedDate", now: now)
        return try authentic { () throws(AppStore.VerificationError) in
            let renewalInfo = try AppStore.RenewalInfo(json: json)
            try check(environment: renewalInfo.environment)
            if let transaction { try AppStore.checkBinding(renewalInfo, to: transaction) }
            return renewalInfo
        }
    }

    /// Verifies a signed app transaction.
    public func verifyAppTransaction(
        _ signedAppTransaction: [UInt8],
        now: Int64
    ) throws(AppStore.VerificationError) -> AppStore.AppTransaction {
        let json = try open(
            signedAppTransaction,
            .appTransaction,
            dated: "receiptCreationDate",
            now: now
        )
        return try authentic { () throws(AppStore.VerificationError) in
            let appTransaction = try AppStore.AppTransaction(json: json)
            try check(
                bundleID: appTransaction.bundleID,
                appAppleID: .some(appTransaction.appAppleID),
                environment: appTransaction.receiptType
            )
            return appTransaction
        }
    }
}

extension AppStore.SignedDataVerifier {
    /// Verifies a realtime request of the Retention Messaging API.
    ///
    /// It names the app by its number in the store alone.
    public func verifyRealtimeRequest(
        signedPayload: [UInt8],
        now: Int64
    ) throws(AppStore.VerificationError) -> AppStore.RealtimeRequest {
        let json = try open(signedPayload, .realtimeRequest, dated: "signedDate", now: now)
        return try authentic { () throws(AppStore.VerificationError) in
            let request = try AppStore.RealtimeRequest(json: json)
            _ = try app(appAppleID: request.appAppleID)
            try check(environment: request.environment)
            return request
        }
    }
}

// MARK: - Signature and date

extension AppStore.SignedDataVerifier {
    /// Everything but the identity: encoding, chain, signature, JSON, type, date.
    private func open(
        _ jws: [UInt8],
        _ type: PayloadType,
        dated dateField: StaticString,
        now: Int64
    ) throws(AppStore.VerificationError) -> JSON {
        let opened = jws.withUnsafeBytes { text in
            Result { () throws(AppStore.VerificationError) in try open(text, now: now) }
        }
        let (payload, chain) = try opened.get()
        return try authentic { () throws(AppStore.VerificationError) in
            let json = try AppStore.parse(payload)
            guard PayloadType(of: json) == type else {
                throw AppStore.VerificationError(.payloadType)
            }
            try check(
                signed: json,
                dateField,
                from: chain.notBefore,
                to: chain.notAfter,
                now: now
            )
            return json
        }
    }

    func open(
        _ text: UnsafeRawBufferPointer,
        now: Int64
    ) throws(AppStore.VerificationError) -> (payload: [UInt8], chain: CertificateChain) {
        let jws = try CompactJWS(text)
        guard let signature = Base64.decodeURL(jws.signature) else {
            throw AppStore.VerificationError(.notBase64URL, at: "signature")
        }
        let payload = try jws.decodePayload()
        let known = chains.chain(header: jws.header)
        let chain: CertificateChain
        if let known { chain = known } else { chain = try prove(jws.header, now: now) }
        var hash = SHA256()
        hash.update(bufferPointer: jws.signingInput)
        guard Self.isGenuine(signature, over: hash.finalize(), by: chain.key) else {
            throw AppStore.VerificationError(.signature)
        }
        if known == nil { chains.remember(header: jws.header, of: chain) }
        return (payload, chain)
    }

    /// Whether 64 bytes, r and s side by side, are the signature of what has this digest.
    package static func isGenuine(
        _ signature: [UInt8],
        over digest: SHA256Digest,
        by key: P256.Signing.PublicKey
    ) -> Bool {
        guard signature.count == 64,
            let value = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(value, for: digest)
    }

    private func prove(
        _ segment: UnsafeRawBufferPointer,
        now: Int64
    ) throws(AppStore.VerificationError) -> CertificateChain {
        let header = try SignedHeader(segment)
        func known() -> CertificateChain? {
            chains.chain(leaf: header.leaf, intermediate: header.intermediate)
        }
        if let chain = known() { return chain }
        // Anybody can send junk: it waits for nobody, and nobody for it.
        let claim = try CertificateChain.Claim(header, roots: roots)
        return try chains.proving { () throws(AppStore.VerificationError) in
            if let chain = known() { return chain }
            let digest = KnownChains.digest(leaf: header.leaf, intermediate: header.intermediate)
            try chains.spend(now: now, isFree: chains.recall(digest))
            let chain = try CertificateChain(claim)
            chains.insert(chain)
            return chain
        }
    }

    /// - Parameters:
    ///   - from: since when the certificates are valid.
    ///   - to: until when.
    func check(
        signed payload: JSON,
        _ field: StaticString,
        from notBefore: Int64,
        to notAfter: Int64,
        now: Int64
    ) throws(AppStore.VerificationError) {
        guard let value = payload[field] else {
            throw AppStore.VerificationError(.signedDateMissing, at: "\(field)")
        }
        guard let date = value.int64, Self.signingDates.contains(date) else {
            throw AppStore.VerificationError(.dateRange, at: "\(field)")
        }
        guard date >= notBefore else {
            throw AppStore.VerificationError(.certificateNotYetValid)
        }
        guard date <= notAfter else {
            throw AppStore.VerificationError(.certificateExpired)
        }
        guard date - Self.maximumClockSkew <= now else {
            throw AppStore.VerificationError(
                .signedInFuture,
                secondsAhead: date.subtractingReportingOverflow(now).partialValue / 1000
            )
        }
    }

    /// Marks errors of what follows a valid signature.
    private func authentic<Value>(
        _ body: () throws(AppStore.VerificationError) -> Value
    ) throws(AppStore.VerificationError) -> Value {
        do { return try body() } catch { throw error.authentic }
    }
}

// MARK: - Identity

extension AppStore.SignedDataVerifier {
    /// Each part of a notification that names an app must name ours, and there must be one.
    ///
    /// Excepted are a token of the external purchase programme that bears no app, and released
    /// seats, which have nowhere to name one: nothing follows from either, and a refusal would
    /// have the App Store send a genuine notice for six days.
    private func check(_ notification: AppStore.Notification) throws(AppStore.VerificationError) {
        let identities = notification.identities
        var isOfNoPurchase = notification.unclaimSeatIDs != nil
        if let token = notification.externalPurchaseToken, token.namesNoApp {
            isOfNoPurchase = true
            try check(environment: token.environment)
        }
        guard !identities.isEmpty || isOfNoPurchase else {
            throw AppStore.VerificationError(.bundle)
        }
        // Of several apps, too, one notification is about one.
        for identity in identities.dropFirst()
        where identity.bundleID != identities.first?.bundleID && apps.count > 1 {
            throw AppStore.VerificationError(.innerApp)
        }
        for identity in identities {
            try check(
                bundleID: identity.bundleID,
                appAppleID: .some(identity.appAppleID),
                environment: identity.environment
            )
        }
    }

    /// The order is Apple's: the app first, then the environment.
    private func check(
        bundleID: String?,
        appAppleID: Int64?? = .none,
        environment: AppStore.Environment?
    ) throws(AppStore.VerificationError) {
        let app = try app(bundleID: bundleID)
        if let appAppleID, environment == .production, environments.contains(.production) {
            guard appAppleID == app.appAppleID else {
                throw AppStore.VerificationError(.appAppleID)
            }
        }
        try check(environment: environment)
    }

    private func check(environment: AppStore.Environment?) throws(AppStore.VerificationError) {
        guard environment != .xcode, environment != .localTesting else {
            throw AppStore.VerificationError(.testEnvironment)
        }
        guard let environment, environments.contains(environment) else {
            throw AppStore.VerificationError(.environment)
        }
    }
}

extension AppStore {
    /// Renewal info names no app: only its purchase binds it to the transaction beside it.
    static func checkBinding(
        _ renewalInfo: RenewalInfo,
        to transaction: Transaction
    ) throws(VerificationError) {
        guard let purchase = renewalInfo.originalTransactionID,
            purchase == transaction.originalTransactionID
        else { throw VerificationError(.innerSubscription) }
        guard renewalInfo.environment == transaction.environment else {
            throw VerificationError(.innerEnvironment)
        }
    }

    static func parse(
        _ text: [UInt8],
        of part: String = "payload"
    ) throws(VerificationError) -> JSON {
        do { return try JSON(text) } catch { throw VerificationError.json(error, of: part) }
    }
}
