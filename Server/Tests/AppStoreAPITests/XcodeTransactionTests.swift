import AppStoreAPI
import Crypto
import Foundation
import StrictJSON
import SwiftASN1
import Testing
import X509
import _CryptoExtras

/// J16: StoreKit testing in Xcode signs with a certificate that only its exact bytes make known.
@Suite struct XcodeTransactionTests {
    typealias Rule = AppStore.VerificationError.Rule

    /// What Xcode has on a developer's machine: a key, and a certificate that it has made for it.
    struct Xcode {
        var chain: SigningChain

        init(
            key: P256.Signing.PrivateKey = P256.Signing.PrivateKey(),
            _ change: (inout SigningChain.Blueprint) -> Void = { _ in }
        ) throws {
            // As Xcode 15 makes them, but for their year of validity.
            var blueprint = SigningChain.Blueprint(
                subject: "StoreKit Testing in Xcode",
                issuer: "StoreKit Testing in Xcode",
                key: Certificate.PrivateKey(key),
                constraints: .isCertificateAuthority(maxPathLength: 0),
                usage: KeyUsage(digitalSignature: true),
                algorithm: .ecdsaWithSHA256
            )
            change(&blueprint)
            let leaf = try SigningChain.certificate(blueprint, signedBy: blueprint.key)
            chain = SigningChain(root: [], intermediate: [], leaf: leaf, key: key)
        }

        var certificates: AppStore.XcodeCertificates {
            get throws { try AppStore.XcodeCertificates(file: chain.leaf) }
        }

        /// A header in Xcode's words: its JSON escapes slashes.
        func header(x5c: [[UInt8]]? = nil, kid: String? = "Apple_Xcode_Key") -> String {
            let list = (x5c ?? [chain.leaf]).map {
                "\"" + Data($0).base64EncodedString().replacing("/", with: "\\/") + "\""
            }
            let name = kid.map { "\"kid\":\"\($0)\"," } ?? ""
            return
                "{\(name)\"typ\":\"JWT\",\"x5c\":[\(list.joined(separator: ","))],\"alg\":\"ES256\"}"
        }

        func sign(_ payload: String, header: String? = nil) throws -> [UInt8] {
            try chain.sign(payload, header: header ?? self.header())
        }
    }

    private let xcode: Xcode
    private let store: SigningChain
    private let verifier: AppStore.SignedDataVerifier

    init() throws {
        xcode = try Xcode()
        store = try SigningChain.make()
        verifier = try Self.verifier(store, xcode.certificates)
    }

    private static func verifier(
        _ store: SigningChain,
        _ xcode: AppStore.XcodeCertificates?,
        roots: [[UInt8]]? = nil,
        environments: Set<AppStore.Environment> = [.sandbox]
    ) throws -> AppStore.SignedDataVerifier {
        try AppStore.SignedDataVerifier(
            roots: roots ?? [store.root],
            bundleID: Payloads.bundleID,
            appAppleID: Payloads.appAppleID,
            environments: environments,
            xcode: xcode
        )
    }

    /// A transaction in the form of Xcode 15: dates with fractions, ids that count from 0.
    static func transaction(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        Payloads.object(
            [
                ("inAppOwnershipType", "\"PURCHASED\""), ("purchaseDate", "1759990000049.7297"),
                ("subscriptionGroupIdentifier", "\"6F3A93AB\""),
                ("signedDate", "1759990000056.485"),
                ("originalPurchaseDate", "1759990000049.7297"), ("isUpgraded", "false"),
                ("deviceVerification", "\"sGDnpg+o\\/b8uwDSu\""), ("offerType", "1"),
                ("quantity", "1"), ("transactionId", "\"0\""),
                ("type", "\"Auto-Renewable Subscription\""), ("transactionReason", "\"PURCHASE\""),
                ("productId", "\"pass.premium\""), ("expiresDate", "1762668400049.7297"),
                ("environment", "\"Xcode\""), ("storefrontId", "\"143441\""),
                ("originalTransactionId", "\"0\""), ("bundleId", "\"\(Payloads.bundleID)\""),
                ("deviceVerificationNonce", "\"7edea87d-98f0-42d0-9682-49ca81022f73\""),
                ("webOrderLineItemId", "\"0\""), ("storefront", "\"USA\""),
            ],
            changes
        )
    }

    private func error(
        _ jws: [UInt8],
        by verifier: AppStore.SignedDataVerifier? = nil,
        now: Int64 = Payloads.now
    ) -> AppStore.VerificationError? {
        refusal {
            _ = try (verifier ?? self.verifier).verifyDeviceTransaction(jws, now: now)
        }
    }

    // MARK: - What is accepted

    @Test func aTransactionUnderThePinnedCertificateIsRead() throws {
        let jws = try xcode.sign(Self.transaction())
        let transaction = try verifier.verifyDeviceTransaction(jws, now: Payloads.now)
        #expect(transaction.environment == .xcode)
        #expect(transaction.transactionID == "0" && transaction.originalTransactionID == "0")
        #expect(transaction.productID == "pass.premium")
        #expect(transaction.purchaseDate == 1_759_990_000_049)
        #expect(transaction.originalPurchaseDate == 1_759_990_000_049)
        #expect(transaction.expiresDate == 1_762_668_400_049)
        #expect(transaction.signedDate == 1_759_990_000_056)
        #expect(transaction.json["deviceVerification"]?.string == "sGDnpg+o/b8uwDSu")
    }

    @Test func newerVersionsWriteWholeMilliseconds() throws {
        let payload = Self.transaction([
            "purchaseDate": "1759990000049", "originalPurchaseDate": "1759990000049",
            "expiresDate": nil, "signedDate": "1759990000056", "type": "\"Non-Consumable\"",
            "price": "4990", "currency": "\"USD\"",
        ])
        let transaction = try verifier.verifyDeviceTransaction(
            xcode.sign(payload),
            now: Payloads.now
        )
        #expect(transaction.purchaseDate == 1_759_990_000_049 && transaction.price == 4990)
        #expect(Array(transaction.json.rawBytes) == Array(payload.utf8))
    }

    @Test func transactionsOfTheAppStoreAreTakenBesideIt() throws {
        let payload = Payloads.transaction(["environment": "\"Sandbox\""])
        let transaction = try verifier.verifyDeviceTransaction(
            store.sign(payload),
            now: Payloads.now
        )
        #expect(transaction.environment == .sandbox)
    }

    @Test func eachOfSeveralCertificatesCounts() throws {
        let other = try Xcode()
        let pem = [other, xcode].map {
            PEMDocument(type: "CERTIFICATE", derBytes: $0.chain.leaf).pemString
        }.joined(separator: "\n")
        let both = try Self.verifier(store, AppStore.XcodeCertificates(file: Array(pem.utf8)))
        for one in [xcode, other] {
            #expect(error(try one.sign(Self.transaction()), by: both) == nil)
        }
        let digest = SHA256.hash(data: xcode.chain.leaf).map { String(format: "%02x", $0) }
        #expect(try xcode.certificates.fingerprints == [digest.joined()])
        #expect(try xcode.certificates.ends == [2_524_608_000_000])
    }

    // MARK: - What is refused

    @Test func withoutTheSettingTheRefusalNamesIt() throws {
        let plain = try Self.verifier(store, nil)
        let jws = try xcode.sign(Self.transaction())
        let error = try #require(self.error(jws, by: plain))
        #expect(error.rule == .xcodeUntrusted)
        #expect(error.code.rawValue == "xcode_certificate")
        #expect(error.description.contains("TOLLGATE_APP_STORE_XCODE_CERTIFICATE_FILE"))
        #expect(error.description.contains("docs/sdk.md"))
        #expect(!error.isRetryable && !error.isAuthentic)
    }

    @Test func onlyTheExactCertificateCounts() throws {
        #expect(error(try Xcode().sign(Self.transaction()))?.rule == .xcodeUnknown)
        // The same names and the same key, issued anew.
        let anew = try Xcode(key: xcode.chain.key)
        #expect(error(try anew.sign(Self.transaction()))?.rule == .xcodeUnknown)
        // Another key signs under the pinned certificate.
        let forger = try Xcode()
        let forged = try forger.sign(Self.transaction(), header: xcode.header())
        #expect(error(forged)?.rule == .signature)
        // One that names no Xcode has a chain of the wrong length.
        let nameless = try forger.sign(Self.transaction(), header: forger.header(kid: nil))
        #expect(error(nameless)?.rule == .chainLength)
    }

    @Test func nothingIsTrustedByAChain() throws {
        // A leaf that the pinned certificate has issued.
        let key = P256.Signing.PrivateKey()
        let leaf = try SigningChain.certificate(
            SigningChain.Blueprint(
                subject: "Leaf",
                issuer: "StoreKit Testing in Xcode",
                key: Certificate.PrivateKey(key),
                algorithm: .ecdsaWithSHA256
            ),
            signedBy: Certificate.PrivateKey(xcode.chain.key)
        )
        let forger = SigningChain(root: [], intermediate: [], leaf: leaf, key: key)
        for (x5c, rule) in [
            ([leaf], .xcodeUnknown), ([leaf, xcode.chain.leaf], .chainLength), ([], .chainLength),
            ([leaf, xcode.chain.leaf, xcode.chain.leaf], .unknownRoot),
        ] as [([[UInt8]], Rule)] {
            let jws = try forger.sign(Self.transaction(), header: xcode.header(x5c: x5c))
            #expect(error(jws)?.rule == rule)
        }
        // The pinned one, and more behind it.
        let long = xcode.header(x5c: [xcode.chain.leaf, store.intermediate, store.root])
        #expect(error(try xcode.sign(Self.transaction(), header: long))?.code == .untrusted)
        let pair = xcode.header(x5c: [xcode.chain.leaf, xcode.chain.leaf])
        #expect(error(try xcode.sign(Self.transaction(), header: pair))?.rule == .chainLength)
    }

    @Test(arguments: [
        "\"Production\"", "\"Sandbox\"", "\"LocalTesting\"", "\"xcode\"", "null", nil,
    ])
    func xcodeSignsForXcodeAlone(_ environment: String?) throws {
        let jws = try xcode.sign(Self.transaction(["environment": environment]))
        #expect(error(jws)?.rule == .notOfXcode)
        #expect(error(jws)?.code == .environment)
    }

    @Test func theAppStoreDoesNotSignForXcode() throws {
        let jws = try store.sign(Payloads.transaction(["environment": "\"Xcode\""]))
        #expect(error(jws)?.rule == .testEnvironment)
    }

    @Test func aChangedPayloadIsRefused() throws {
        let text = String(decoding: try xcode.sign(Self.transaction()), as: UTF8.self)
        var parts = text.split(separator: ".").map(String.init)
        parts[1] = base64url(Self.transaction(["transactionId": "\"1\""]).utf8)
        #expect(error(Array(parts.joined(separator: ".").utf8))?.rule == .signature)
    }

    static let payloads: [(String, Rule)] = [
        (transaction(["bundleId": "\"com.example.other\""]), .bundle),
        (transaction(["bundleId": nil]), .bundle),
        (transaction(["signedDate": nil]), .signedDateMissing),
        (transaction(["signedDate": "\"1759990000056\""]), .dateRange),
        (transaction(["signedDate": "1e300"]), .dateRange),
        (transaction(["purchaseDate": "-1.5"]), .dateRange),
        (transaction(["signedDate": "1760000300001.5"]), .signedInFuture),
        (transaction(["signedDate": "1577836799999.9"]), .certificateNotYetValid),
        (Payloads.renewalInfo(["environment": "\"Xcode\""]), .payloadType),
        (Payloads.appTransaction(["receiptType": "\"Xcode\""]), .payloadType),
        (Payloads.notification(), .payloadType), ("[]", .payloadType), ("{", .invalidJSON),
    ]

    @Test(arguments: payloads)
    func theChecksOfEveryTransactionHold(_ payload: String, _ rule: Rule) throws {
        #expect(error(try xcode.sign(payload))?.rule == rule)
    }

    @Test func anExpiredCertificateSignsNoMore() throws {
        let old = try Xcode { $0.notAfter = SigningChain.instant(1_759_990_000_000) }
        let verifier = try Self.verifier(store, old.certificates)
        #expect(
            error(try old.sign(Self.transaction()), by: verifier)?.rule == .certificateExpired
        )
    }

    @Test func devicesAlonePresentWhatXcodeSigns() throws {
        let transaction = try xcode.sign(Self.transaction())
        let notification = try xcode.sign(Payloads.notification())
        let renewal = try xcode.sign(Payloads.renewalInfo(["environment": "\"Xcode\""]))
        let appTransaction = try xcode.sign(Payloads.appTransaction(["receiptType": "\"Xcode\""]))
        for body in [
            { _ = try verifier.verifyTransaction(transaction, now: Payloads.now) },
            {
                _ = try verifier.verifyNotification(
                    signedPayload: notification,
                    now: Payloads.now
                )
            },
            { _ = try verifier.verifyRenewalInfo(renewal, now: Payloads.now) },
            { _ = try verifier.verifyAppTransaction(appTransaction, now: Payloads.now) },
        ] as [() throws -> Void] {
            #expect(refusal(body)?.rule == .chainLength)
        }
    }

    // MARK: - Settings

    @Test func noVerifierTrustsXcodeBesideProduction() throws {
        let certificates = try xcode.certificates
        for environments: Set<AppStore.Environment> in [[.production], [.production, .sandbox]] {
            #expect(throws: AppStore.SignedDataVerifier.ConfigurationError.xcodeInProduction) {
                try Self.verifier(store, certificates, environments: environments)
            }
        }
    }

    @Test func withoutRootsXcodeAloneIsTrusted() throws {
        let alone = try Self.verifier(store, xcode.certificates, roots: [])
        #expect(error(try xcode.sign(Self.transaction()), by: alone) == nil)
        let apple = try store.sign(Payloads.transaction(["environment": "\"Sandbox\""]))
        #expect(error(apple, by: alone)?.rule == .unknownRoot)
    }

    @Test func aFileWithoutSuchACertificateIsRefused() throws {
        typealias FileError = AppStore.XcodeCertificates.FileError
        let receipts = try SigningChain.certificate(
            SigningChain.Blueprint(
                subject: "StoreKit",
                issuer: "StoreKit",
                key: Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048)),
                algorithm: .sha256WithRSAEncryption
            ),
            signedBy: Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        )
        let key = Array(xcode.chain.key.pemRepresentation.utf8)
        for (bytes, expected) in [
            ([], .noCertificate), (Array("hello".utf8), .noCertificate), (key, .noCertificate),
            (receipts, .anotherKey), (xcode.chain.leaf + [0], .noCertificate),
        ] as [([UInt8], FileError)] {
            #expect(throws: expected) { try AppStore.XcodeCertificates(file: bytes) }
        }
    }
}
