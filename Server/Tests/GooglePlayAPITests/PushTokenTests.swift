import CryptoExtras
import Foundation
import JWTKit
import StrictJSON
import Testing

@testable import GooglePlayAPI

@Suite("The token of a push")
struct PushTokenTests {
    private static let now: Int64 = 1_795_597_200
    private let verifier = GooglePlay.PushTokenVerifier(
        audience: "https://billing.example.com/webhooks/google_play",
        serviceAccountEmail: "push@project.iam.gserviceaccount.com"
    )

    struct Claims: JWTPayload {
        var iss = "https://accounts.google.com"
        var aud = "https://billing.example.com/webhooks/google_play"
        var email: String? = "push@project.iam.gserviceaccount.com"
        var email_verified: Bool? = true
        var sub = "113774264463038321964"
        var iat: Int64 = PushTokenTests.now - 10
        var exp: Int64 = PushTokenTests.now + 3590

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private func refusal(
        of claims: Claims,
        key: TestKey = .google,
        kid: String = "k1"
    ) async throws -> GooglePlay.PushTokenVerifier.Refusal? {
        await refusal(of: try await key.signed(claims, kid: kid))
    }

    private func refusal(of token: String) async -> GooglePlay.PushTokenVerifier.Refusal? {
        do {
            let keys = try await GooglePlay.PushKeys(jwks: TestKey.google.jwks(kid: "k1"))
            try await verifier.verify(token, keys: keys, now: Self.now)
            return nil
        } catch {
            return error as? GooglePlay.PushTokenVerifier.Refusal
        }
    }

    @Test("One of Google's, for our audience, about our service account is believed")
    func genuine() async throws {
        #expect(try await refusal(of: Claims()) == nil)
        #expect(try await refusal(of: Claims(iss: "accounts.google.com")) == nil)
    }

    @Test("Another account's token for the same audience is not: any project may have one minted")
    func otherAccount() async throws {
        #expect(try await refusal(of: Claims(email: "x@evil.iam.gserviceaccount.com")) == .email)
        #expect(try await refusal(of: Claims(email_verified: false)) == .email)
        #expect(try await refusal(of: Claims(email: nil)) == .email)
        #expect(try await refusal(of: Claims(email_verified: nil)) == .email)
    }

    @Test("Another audience, another issuer, an old and a coming token are refused")
    func otherClaims() async throws {
        #expect(try await refusal(of: Claims(aud: "https://elsewhere.example.com")) == .audience)
        #expect(try await refusal(of: Claims(iss: "https://evil.example.com")) == .issuer)
        #expect(try await refusal(of: Claims(exp: Self.now - 61)) == .expired)
        #expect(try await refusal(of: Claims(exp: Self.now - 59)) == nil)
        #expect(try await refusal(of: Claims(iat: Self.now + 61)) == .notYet)
    }

    @Test("A stranger's key, an unknown key, no algorithm and no token are refused")
    func otherSignatures() async throws {
        #expect(try await refusal(of: Claims(), key: .stranger) == .signature)
        #expect(try await refusal(of: Claims(), kid: "k2") == .unknownKey("k2"))
        let token = try await TestKey.google.signed(Claims(), kid: "k1")
        let parts = token.split(separator: ".")
        let none = Data(#"{"alg":"none","kid":"k1"}"#.utf8).base64EncodedString()
            .replacing("=", with: "")
        #expect(await refusal(of: "\(none).\(parts[1]).") == .form)
        #expect(await refusal(of: "\(none).\(parts[1]).\(parts[2])") == .form)
        #expect(await refusal(of: "\(parts[0]).\(parts[1])") == .form)
        #expect(await refusal(of: "") == .form)
        let hmac = Data(#"{"alg":"HS256","kid":"k1"}"#.utf8).base64EncodedString()
            .replacing("=", with: "")
        #expect(await refusal(of: "\(hmac).\(parts[1]).\(parts[2])") == .form)
    }

    @Test("Keys are fetched when their age is over, and for unknown ids every five minutes at most")
    func cache() async throws {
        var cache = GooglePlay.PushKeyCache()
        guard case .fetch = cache.step(now: 0) else {
            Issue.record("nothing is there yet")
            return
        }
        #expect(cache.mayFetchAnew(now: 0))
        let keys = try await GooglePlay.PushKeys(jwks: TestKey.google.jwks(kid: "k1"))
        cache.take(keys, maximumAge: 1000, now: 0)
        guard case .use(let used) = cache.step(now: 999) else {
            Issue.record("they are fresh")
            return
        }
        #expect(used.ids == ["k1"])
        #expect(!cache.mayFetchAnew(now: 299) && cache.mayFetchAnew(now: 300))
        guard case .fetch = cache.step(now: 1000) else {
            Issue.record("they are old")
            return
        }
        #expect(cache.stale?.ids == ["k1"])
    }
}

/// A key of Google's, or a stranger's.
struct TestKey: Sendable {
    static let google = TestKey()
    static let stranger = TestKey()

    let pem: String

    init() {
        guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else {
            preconditionFailure("a fresh key")
        }
        pem = key.pemRepresentation
    }

    func signed(_ claims: some JWTPayload, kid: String) async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(
            rsa: try Insecure.RSA.PrivateKey(pem: pem),
            digestAlgorithm: .sha256,
            kid: JWKIdentifier(string: kid)
        )
        return try await keys.sign(claims, kid: JWKIdentifier(string: kid))
    }

    /// A JSON Web Key Set, as `oauth2/v3/certs` serves it.
    func jwks(kid: String) throws -> [UInt8] {
        let numbers = try Insecure.RSA.PrivateKey(pem: pem).publicKey.getKeyPrimitives()
        func text(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return Array(
            """
            {"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":"\(kid)",\
            "n":"\(text(numbers.modulus))","e":"\(text(numbers.publicExponent))"}]}
            """.utf8
        )
    }
}
