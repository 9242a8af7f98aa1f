import AppStoreAPI
import Crypto
import Foundation
import SwiftASN1
import Testing
import X509
import _CryptoExtras

/// Attacks with certificates: trust (J4) and policy (J5).
///
/// One mutation each.
@Suite struct ChainAttackTests {
    struct Mutation: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rule: AppStore.VerificationError.Rule
        var change: @Sendable (inout SigningChain.Blueprints) throws -> Void

        init(
            _ description: String,
            _ rule: AppStore.VerificationError.Rule,
            _ change: @escaping @Sendable (inout SigningChain.Blueprints) throws -> Void
        ) {
            testDescription = description
            self.rule = rule
            self.change = change
        }
    }

    private static let unknown = Certificate.Extension(
        oid: [1, 3, 6, 1, 4, 1, 99999, 1],
        critical: true,
        value: SigningChain.null[...]
    )

    static let policies: [Mutation] = [
        Mutation("leaf without marker", .marker) { $0.leaf.extensions = [] },
        Mutation("intermediate without marker", .marker) { $0.intermediate.extensions = [] },
        Mutation("markers exchanged", .marker) {
            swap(&$0.leaf.extensions, &$0.intermediate.extensions)
        },
        Mutation("leaf has the intermediate's marker only", .marker) {
            $0.leaf.extensions = [SigningChain.marker(SigningChain.intermediateMarker)]
        },
        Mutation("a marker that is one arc longer", .marker) {
            $0.leaf.extensions = [SigningChain.marker([1, 2, 840, 113635, 100, 6, 11, 1, 1])]
        },
        Mutation("intermediate is no authority", .notAuthority) {
            $0.intermediate.constraints = .notCertificateAuthority
        },
        Mutation("intermediate without basic constraints", .notAuthority) {
            $0.intermediate.constraints = nil
        },
        Mutation("root is no authority", .notAuthority) {
            $0.root.constraints = .notCertificateAuthority
        },
        Mutation("leaf is an authority", .notAuthority) {
            $0.leaf.constraints = .isCertificateAuthority(maxPathLength: nil)
        },
        Mutation("root allows no intermediate", .pathLength) {
            $0.root.constraints = .isCertificateAuthority(maxPathLength: 0)
        },
        Mutation("unknown critical extension in the leaf", .criticalExtension) {
            $0.leaf.extensions.append(unknown)
        },
        Mutation("unknown critical extension in the intermediate", .criticalExtension) {
            $0.intermediate.extensions.append(unknown)
        },
        Mutation("intermediate may not sign certificates", .keyUsage) {
            $0.intermediate.usage = KeyUsage(digitalSignature: true)
        },
        Mutation("leaf may not sign", .keyUsage) { $0.leaf.usage = KeyUsage(keyAgreement: true) },
        Mutation("leaf with a P-384 key", .keyType) {
            $0.leaf.key = Certificate.PrivateKey(P384.Signing.PrivateKey())
        },
        Mutation("leaf with an RSA key", .keyType) {
            $0.leaf.key = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        },
        Mutation("intermediate with an RSA key", .keyType) {
            $0.intermediate.key = Certificate.PrivateKey(
                try _RSA.Signing.PrivateKey(keySize: .bits2048)
            )
            $0.leaf.algorithm = .sha256WithRSAEncryption
        },
        Mutation("intermediate signed with RSA", .certificateAlgorithm) {
            $0.root.key = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
            $0.root.algorithm = .sha256WithRSAEncryption
            $0.intermediate.algorithm = .sha256WithRSAEncryption
        },
    ]

    static let trusts: [Mutation] = [
        Mutation("intermediate signed by another key", .certificateSignature) {
            $0.intermediateSigner = Certificate.PrivateKey(P384.Signing.PrivateKey())
        },
        Mutation("leaf signed by another key", .certificateSignature) {
            $0.leafSigner = Certificate.PrivateKey(P384.Signing.PrivateKey())
        },
        Mutation("leaf signed by the root", .certificateSignature) { $0.leafSigner = $0.root.key },
        Mutation("leaf names another issuer", .issuerName) { $0.leaf.issuer = "Somebody" },
        Mutation("leaf issued by the root", .issuerName) {
            $0.leaf.issuer = "Test Root"
            $0.leafSigner = $0.root.key
        },
        Mutation("intermediate names another root", .unknownRoot) {
            $0.intermediate.issuer = "Somebody"
        },
        Mutation("leaf of 9 KB", .certificateEncoding) {
            $0.leaf.extensions.append(
                Certificate.Extension(
                    oid: [1, 3, 6, 1, 4, 1, 99999, 1],
                    critical: false,
                    value: [UInt8](repeating: 0, count: 9 << 10)[...]
                )
            )
        },
    ]

    @Test(arguments: policies + trusts)
    func aMutatedChainIsRefused(_ mutation: Mutation) throws {
        let chain = try SigningChain.make(mutation.change)
        let verifier = try Payloads.verifier(chain)
        let jws = try chain.sign(Payloads.transaction())
        for _ in 0..<2 {
            let error = refusal { _ = try verifier.verifyTransaction(jws, now: Payloads.now) }
            #expect(error?.rule == mutation.rule)
            #expect(error?.isAuthentic == false)
        }
        #expect(verifier.knownChains == 0)
    }

    @Test func theCodesAreThoseOfTheTable() {
        #expect(Self.policies.allSatisfy { $0.rule.code == .policy })
        #expect(Self.trusts.allSatisfy { $0.rule.code == .untrusted })
        #expect(
            AppStore.VerificationError.Code.allCases.map(\.rawValue) == [
                "jws_alg", "jws_header", "jws_chain_length", "jws_untrusted", "jws_policy",
                "jws_date", "jws_signature", "jws_encoding", "json", "app_unknown", "environment",
                "jws_type", "jws_binding", "chain_budget", "jws_revoked",
                "revocation_unknown", "xcode_certificate",
            ]
        )
    }

    @Test func aRootOfTheSameNameIsNotTrusted() throws {
        let ours = try SigningChain.make()
        let theirs = try SigningChain.make()
        let verifier = try Payloads.verifier(ours)
        let jws = try theirs.sign(Payloads.transaction())
        let error = refusal { _ = try verifier.verifyTransaction(jws, now: Payloads.now) }
        #expect(error?.code == .untrusted)
    }

    @Test(arguments: [
        [1, 0, 2], [2, 1, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 2, 1], [1, 2, 2],
    ])
    func certificatesInAnotherOrderAreRefused(_ order: [Int]) throws {
        let chain = try SigningChain.make()
        let verifier = try Payloads.verifier(chain)
        let header = chain.header(x5c: order.map { chain.x5c[$0] })
        let jws = try chain.sign(Payloads.transaction(), header: header)
        let error = refusal { _ = try verifier.verifyTransaction(jws, now: Payloads.now) }
        #expect(error?.code == .untrusted || error?.code == .policy)
    }

    @Test func oneOfSeveralRootsIsEnough() throws {
        let other = try SigningChain.make()
        let chain = try SigningChain.make()
        let verifier = try AppStore.SignedDataVerifier(
            roots: [other.root, chain.root],
            bundleID: Payloads.bundleID,
            appAppleID: Payloads.appAppleID,
            environments: [.production, .sandbox]
        )
        for signer in [other, chain] {
            _ = try verifier.verifyTransaction(
                try signer.sign(Payloads.transaction()),
                now: Payloads.now
            )
        }
    }
}
