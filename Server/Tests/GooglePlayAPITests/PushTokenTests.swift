import CryptoExtras
import Foundation
import JWTKit
import StrictJSON
import Synchronization
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
    }

    @Test("A failed fetch leaves the keys in use for a day and is repeated at growing pauses")
    func failedFetches() async throws {
        var cache = GooglePlay.PushKeyCache()
        cache.failed(now: 0)
        guard case .wait = cache.step(now: 9), case .fetch = cache.step(now: 10) else {
            Issue.record("the second attempt comes after ten seconds")
            return
        }
        let keys = try await GooglePlay.PushKeys(jwks: TestKey.google.jwks(kid: "k1"))
        cache.take(keys, maximumAge: 1000, now: 10)
        for (at, pause) in [(2000, 10), (2100, 20), (2200, 40), (4000, 80), (5000, 160)] {
            guard case .fetch = cache.step(now: Int64(at)) else {
                Issue.record("due at \(at)")
                return
            }
            cache.failed(now: Int64(at))
            let before = cache.step(now: Int64(at + pause - 1))
            guard case .use(let kept) = before else {
                Issue.record("the keys stay at \(at)")
                return
            }
            #expect(kept.ids == ["k1"] && !cache.mayFetchAnew(now: Int64(at + pause - 1)))
            #expect(cache.mayFetchAnew(now: Int64(at + pause)))
        }
        cache.failed(now: 90_000)
        guard case .wait = cache.step(now: 90_001) else {
            Issue.record("after a day they are not believed any more")
            return
        }
    }

    @Test("A clock that goes back does not freeze the keys")
    func clockGoesBack() async throws {
        var cache = GooglePlay.PushKeyCache()
        let keys = try await GooglePlay.PushKeys(jwks: TestKey.google.jwks(kid: "k1"))
        cache.take(keys, maximumAge: 1000, now: 1_000_000)
        #expect(cache.mayFetchAnew(now: 500))
        guard case .fetch = cache.step(now: 500) else {
            Issue.record("their age is not known")
            return
        }
        cache.failed(now: 1_000_000)
        guard case .fetch = cache.step(now: 500) else {
            Issue.record("neither is that of the failure")
            return
        }
    }

    @Test("Keys of other kinds are skipped")
    func foreignKeys() async throws {
        let set = String(decoding: try TestKey.google.jwks(kid: "k1"), as: UTF8.self)
        let more = set.replacing(
            #"{"keys":["#,
            with: #"{"keys":[{"kty":"ML-DSA","kid":"k0"},{"kty":"EC","kid":"k2","crv":"P-256","#
                + #""x":"AA","y":"AA"},{"kty":"RSA","kid":"k3"},7,"#
        )
        #expect(try await GooglePlay.PushKeys(jwks: Array(more.utf8)).ids == ["k1"])
        for none in [#"{"keys":[]}"#, "{}", "<html>", #"{"keys":[{"kty":"EC","kid":"k"}]}"#] {
            await #expect(throws: GooglePlay.DecodingError.self) {
                try await GooglePlay.PushKeys(jwks: Array(none.utf8))
            }
        }
    }

    /// Serves keys and counts how often.
    private final class Keys: Sendable {
        private let state: Mutex<(ids: [String], fetches: Int)>

        init(_ ids: [String]) { state = Mutex((ids, 0)) }

        var fetches: Int { state.withLock { $0.fetches } }

        func rotate(to ids: [String]) { state.withLock { $0.ids = ids } }

        func answer() throws -> GooglePlay.HTTPResponse {
            let ids = state.withLock { state in
                state.fetches += 1
                return state.ids
            }
            guard let id = ids.first else { return GooglePlay.HTTPResponse(status: 503) }
            return GooglePlay.HTTPResponse(
                status: 200,
                headers: ["Cache-Control": "public, max-age=19000, must-revalidate"],
                body: try TestKey.google.jwks(kid: id)
            )
        }
    }

    @Test("An unknown key is looked for once, and many pushes ask for the keys together")
    func pushTokens() async throws {
        let keys = Keys(["k1"])
        let clock = Mutex(Self.now)
        let tokens = GooglePlay.PushTokens(
            verifier,
            transport: { _ in
                try await Task.sleep(for: .milliseconds(2))
                return try keys.answer()
            },
            now: { clock.withLock { $0 } }
        )
        let genuine = "Bearer " + (try await TestKey.google.signed(Claims(), kid: "k1"))
        await withTaskGroup(of: GooglePlay.PushTokens.Verdict.self) { group in
            for _ in 0..<20 {
                group.addTask { await tokens.verdict(onAuthorization: genuine) }
            }
            for await verdict in group { #expect(verdict == .genuine) }
        }
        #expect(keys.fetches == 1)
        for header in [nil, "", "Basic x", "Bearer", "Bearer a.b.c"] {
            #expect(await tokens.verdict(onAuthorization: header) == .refused(.form))
        }
        // Keys of a stranger's choice: one fetch, then none for five minutes.
        clock.withLock { $0 += 300 }
        for number in 0..<5 {
            let kid = "x\(number)"
            let strange = "bearer " + (try await TestKey.stranger.signed(Claims(), kid: kid))
            #expect(
                await tokens.verdict(onAuthorization: strange) == .refused(.unknownKey(kid))
            )
        }
        #expect(keys.fetches == 2)
        // Google's rotation is noticed by the first token that is signed anew.
        clock.withLock { $0 += 300 }
        keys.rotate(to: ["k2"])
        let rotated = "Bearer " + (try await TestKey.google.signed(Claims(), kid: "k2"))
        #expect(await tokens.verdict(onAuthorization: rotated) == .genuine)
        #expect(keys.fetches == 3)
    }

    @Test("Without any keys nothing is judged: the push has to come again")
    func noKeys() async throws {
        let keys = Keys([])
        let tokens = GooglePlay.PushTokens(
            verifier,
            transport: { _ in try keys.answer() },
            now: { Self.now }
        )
        let genuine = "Bearer " + (try await TestKey.google.signed(Claims(), kid: "k1"))
        for _ in 0..<3 { #expect(await tokens.verdict(onAuthorization: genuine) == .noKeys) }
        #expect(keys.fetches == 1)
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
