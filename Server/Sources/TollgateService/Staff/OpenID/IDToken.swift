internal import Stores
internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import StrictJSON
internal import TollgateAPI
internal import TollgateCore

/// What an issuer says of somebody who has signed in there (OpenID Connect Core 1.0 §2), verified.
struct IDToken: Sendable {
    /// Who it is, as the issuer numbers people: 1 to 255 characters.
    var subject: String
    /// In lower case, as the issuer has verified it; `nil` where the token does not say: the userinfo
    /// endpoint may.
    var email: String?

    /// Why a token is not believed; for the log, without anything of the token's.
    enum Refusal: String, Error {
        case form = "it is no signed token"
        case algorithm = "its algorithm is neither RS256 nor ES256"
        case unknownKey = "no key of the issuer verifies it"
        case signature = "its signature is wrong"
        case issuer = "it is another issuer's"
        case audience = "it is for another client"
        case expired = "it has expired"
        case notYet = "it is from the future"
        case nonce = "it belongs to another sign-in"
        case nobody = "it has no sub of 1 to 255 characters"
        case email = "it names no verified email"
        case subject = "the userinfo endpoint speaks of somebody else"
    }

    /// What must stand in it.
    struct Expectation: Sendable {
        var issuer: String
        var clientID: String
        var nonce: String
        var now: Instant
    }

    /// How far the clocks may be apart, in seconds.
    private static let leeway: Int64 = 60

    /// Verifies a token (OpenID Connect Core 1.0 §3.1.3.7).
    ///
    /// - Throws: `IDToken.Refusal`; `.unknownKey` where newer keys of the issuer may help.
    init(_ text: String, keys: JSON, _ expected: Expectation) throws(Refusal) {
        guard text.utf8.count <= 16 << 10 else { throw .form }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .form }
        // What has to be understood and is not (RFC 7515 §4.1.11).
        guard header["crit"] == nil else { throw .form }
        guard let algorithm = header["alg"]?.string.flatMap({ Algorithm(rawValue: $0) }) else {
            throw .algorithm
        }
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        try Self.verify(signed, signature, algorithm, kid: header["kid"]?.string, keys)
        try Self.check(claims, expected)
        guard let named = claims["sub"]?.string, (1...255).contains(named.utf8.count) else {
            throw .nobody
        }
        subject = named
        let saysAll = claims["email"] != nil && claims["email_verified"] != nil
        email = saysAll ? try Self.email(claims) : nil
    }

    /// The verified email in an answer of the userinfo endpoint (OpenID Connect Core 1.0 §5.3.2).
    ///
    /// - Throws: `.subject` where it is not about whom this token names: it may be substituted.
    func email(in userinfo: JSON) throws(Refusal) -> String {
        // What equals it is neither empty nor too long.
        guard let named = userinfo["sub"]?.string, named == subject else { throw .subject }
        return try Self.email(userinfo)
    }

    private static func email(_ claims: JSON) throws(Refusal) -> String {
        guard isTrue(claims["email_verified"]), let email = claims["email"]?.string,
            email.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            email.utf8.count(where: { $0 == UInt8(ascii: "@") }) == 1, email.utf8.count <= 120
        else { throw .email }
        return email.lowercased()
    }

    private enum Algorithm: String {
        case rs256 = "RS256"
        case es256 = "ES256"

        /// The kind of key that it takes: a key of another kind is never tried.
        var keyType: String { self == .rs256 ? "RSA" : "EC" }
    }

    private static func json(_ part: Substring) -> JSON? {
        guard let data = Base64URL.decode(part), let json = try? JSON(Array(data)),
            json.kind == .object
        else { return nil }
        return json
    }

    private static func verify(
        _ signed: Data,
        _ signature: Data,
        _ algorithm: Algorithm,
        kid: String?,
        _ keys: JSON
    ) throws(Refusal) {
        var candidates: [JSON] = []
        if let all = keys["keys"]?.elements {
            for key in all
            where key["kty"]?.string == algorithm.keyType
                && (kid == nil || key["kid"]?.string == kid)
                && key["use"]?.string ?? "sig" == "sig"
                && key["alg"]?.string ?? algorithm.rawValue == algorithm.rawValue
            {
                candidates.append(key)
            }
        }
        // Without a name there must be no choice.
        guard candidates.count == 1, let key = candidates.first else { throw .unknownKey }
        func bytes(_ value: JSON?) -> Data {
            value?.string.flatMap { Base64URL.decode($0) } ?? Data()
        }
        switch algorithm {
        case .rs256:
            let modulus = bytes(key["n"])
            guard modulus.count >= 256, modulus.count <= 1024,
                let key = try? _RSA.Signing.PublicKey(n: modulus, e: bytes(key["e"]))
            else { throw .unknownKey }
            guard
                key.isValidSignature(
                    _RSA.Signing.RSASignature(rawRepresentation: signature),
                    for: SHA256.hash(data: signed),
                    padding: .insecurePKCS1v1_5
                )
            else { throw .signature }
        case .es256:
            let point = Data([4]) + bytes(key["x"]) + bytes(key["y"])
            guard key["crv"]?.string == "P-256",
                let key = try? P256.Signing.PublicKey(x963Representation: point)
            else { throw .unknownKey }
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
                key.isValidSignature(signature, for: SHA256.hash(data: signed))
            else { throw .signature }
        }
    }

    private static func check(_ claims: JSON, _ expected: Expectation) throws(Refusal) {
        guard claims["iss"]?.string == expected.issuer else { throw .issuer }
        var audience: [String] = []
        if let one = claims["aud"]?.string { audience = [one] }
        if let several = claims["aud"]?.elements, audience.isEmpty {
            for element in several { audience.append(element.string ?? "") }
        }
        let party = claims["azp"]?.string
        guard audience.contains(expected.clientID), party == nil || party == expected.clientID,
            audience.count == 1 || party != nil
        else { throw .audience }
        let now = expected.now.milliseconds / 1000
        guard let expires = claims["exp"]?.double, expires > Double(now - leeway) else {
            throw .expired
        }
        guard let issued = claims["iat"]?.double, issued <= Double(now + leeway),
            claims["nbf"]?.double ?? 0 <= Double(now + leeway)
        else { throw .notYet }
        guard let nonce = claims["nonce"]?.string, nonce == expected.nonce else { throw .nonce }
    }

    /// Some issuers write the word.
    private static func isTrue(_ value: JSON?) -> Bool {
        value?.bool == true || value?.string == "true"
    }
}
