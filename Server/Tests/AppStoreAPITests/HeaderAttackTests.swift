import AppStoreAPI
import Foundation
import Testing

/// Attacks on the envelope: encoding (J9), algorithm (J1), header (J2), number of certificates (J3).
@Suite struct HeaderAttackTests {
    private let chain: SigningChain
    private let verifier: AppStore.SignedDataVerifier

    init() throws {
        chain = try SigningChain.make()
        verifier = try Payloads.verifier(chain)
    }

    private func verify(_ jws: [UInt8]) throws {
        _ = try verifier.verifyTransaction(jws, now: Payloads.now)
    }

    private func verify(header: String) throws {
        try verify(try chain.sign(Payloads.transaction(), header: header))
    }

    @Test(arguments: [
        "\"none\"", "\"None\"", "\"NONE\"", "\"\"", "null", "0", "[]", "[\"ES256\"]", "{}",
        "\"HS256\"", "\"HS384\"", "\"HS512\"", "\"ES384\"", "\"ES512\"", "\"ES256K\"",
        "\"RS256\"", "\"PS256\"", "\"EdDSA\"", "\"es256\"", "\"ES256 \"",
    ])
    func onlyES256IsAccepted(_ alg: String) {
        #expect(refusal { try verify(header: chain.header(alg: alg)) }?.code == .algorithm)
    }

    @Test func aHeaderWithoutAlgorithmIsRefused() {
        let header = "{\"x5c\":[\"\",\"\",\"\"]}"
        #expect(refusal { try verify(header: header) }?.code == .algorithm)
    }

    @Test(arguments: [
        "\"crit\":[\"b64\"]", "\"crit\":[]", "\"crit\":[\"exp\"],\"exp\":1", "\"b64\":false",
        "\"b64\":true", "\"zip\":\"DEF\"",
    ])
    func extensionsOfTheHeaderAreRefused(_ member: String) {
        let header = chain.header(more: ",\(member)")
        #expect(refusal { try verify(header: header) }?.code == .header)
    }

    @Test(arguments: ["[]", "\"x\"", "1", "null"])
    func aHeaderIsAnObject(_ header: String) {
        #expect(refusal { try verify(header: header) }?.code == .header)
    }

    @Test(arguments: [
        "\"jku\":\"http://127.0.0.1:1/\"", "\"x5u\":\"http://127.0.0.1:1/\"",
        "\"kid\":\"Apple_Xcode_Key\"", "\"jwk\":{\"kty\":\"EC\"}", "\"x5t\":\"abc\"",
        "\"typ\":\"JWT\"",
    ])
    func otherWaysToNameAKeyAreIgnored(_ member: String) throws {
        try verify(header: chain.header(more: ",\(member)"))
        let other = try SigningChain.make()
        let forged = try other.sign(
            Payloads.transaction(),
            header: chain.header(more: ",\(member)")
        )
        #expect(refusal { try verify(forged) }?.code == .signature)
    }

    @Test(arguments: [0, 1, 2, 4, 100])
    func aHeaderCarriesExactlyThreeCertificates(_ count: Int) {
        let certificates = (0..<count).map { chain.x5c[min($0, 2)] }
        let header = chain.header(x5c: certificates)
        #expect(refusal { try verify(header: header) }?.code == .chainLength)
    }

    @Test(arguments: [
        "null", "{}", "\"abc\"", "[null,null,null]", "[1,2,3]", "[[],[],[]]", "3",
    ])
    func certificatesAreStrings(_ x5c: String) {
        let header = "{\"alg\":\"ES256\",\"x5c\":\(x5c)}"
        #expect(refusal { try verify(header: header) }?.code == .chainLength)
    }

    @Test func aHugeChainIsRefusedBeforeItIsRead() {
        let header = chain.header(x5c: [String](repeating: chain.x5c[0], count: 1000))
        #expect(refusal { try verify(header: header) }?.code == .chainLength)
        #expect(verifier.fullChainValidations == 0)
    }

    @Test(arguments: ["", "AA==", "not a certificate", "e30="])
    func theThirdCertificateIsOnlyCounted(_ junk: String) throws {
        var certificates = chain.x5c
        certificates[2] = junk
        try verify(header: chain.header(x5c: certificates))
    }

    @Test(arguments: [0, 1], ["", "AA==", "****", "AAAA", "MII", "MIIB-_=="])
    func anUnreadableCertificateIsRefused(_ place: Int, _ text: String) {
        var certificates = chain.x5c
        certificates[place] = text
        let header = chain.header(x5c: certificates)
        #expect(refusal { try verify(header: header) }?.code == .untrusted)
    }

    // MARK: - Encoding

    static let encodings: [(String, @Sendable (String) -> String)] = [
        ("one part", { String($0.prefix { $0 != "." }) }),
        ("two parts", { String($0[..<($0.lastIndex(of: ".") ?? $0.endIndex)]) }),
        ("four parts", { $0 + ".e30" }),
        ("five parts", { $0 + ".e30.e30" }),
        ("a dot at the end", { $0 + "." }),
        ("empty", { _ in "" }),
        ("only dots, four", { _ in "...." }),
        ("padding", { $0 + "==" }),
        ("one equals sign", { $0 + "=" }),
        ("a space at the end", { $0 + " " }),
        ("a line break in front", { "\n" + $0 }),
        ("NUL at the end", { $0 + "\0" }),
        ("a plus sign", { replaceThird($0) { "+" + $0.dropFirst() } }),
        ("a slash", { replaceThird($0) { "/" + $0.dropFirst() } }),
        ("a comma", { replaceThird($0) { "," + $0.dropFirst() } }),
        ("beyond ASCII", { replaceThird($0) { "é" + $0.dropFirst(2) } }),
        ("a single last character", { replaceThird($0) { $0.dropLast(1) + "" } }),
        ("trailing bits", { replaceThird($0) { $0.dropLast() + trailing($0.last) } }),
    ]

    private static func replaceThird(_ jws: String, _ change: (Substring) -> String) -> String {
        let dot = jws.lastIndex(of: ".") ?? jws.startIndex
        return jws[...dot] + change(jws[jws.index(after: dot)...])
    }

    /// Another character whose upper two bits are the same: 86 characters leave four bits over.
    private static func trailing(_ last: Character?) -> String {
        switch last {
        case "A": "B"
        case "Q": "R"
        case "g": "h"
        default: "x"
        }
    }

    @Test(arguments: encodings.indices)
    func theEncodingIsStrict(_ index: Int) throws {
        let (name, change) = Self.encodings[index]
        let jws = String(decoding: try chain.sign(Payloads.transaction()), as: UTF8.self)
        let changed = change(jws)
        #expect(changed != jws)
        #expect(refusal { try verify(Array(changed.utf8)) }?.code == .encoding, "\(name)")
    }

    @Test(arguments: ["a", "e30=", "e3 0", "e30+", "e31", "e3"])
    func headerAndPayloadAreStrictToo(_ part: String) {
        let signature = base64url([UInt8](repeating: 1, count: 64))
        let header = base64url(chain.header().utf8)
        for jws in ["\(part).e30.\(signature)", "\(header).\(part).\(signature)"] {
            let code = refusal { try verify(Array(jws.utf8)) }?.code
            // "e3" alone is an incomplete but well-formed byte in base64url.
            #expect(code == .encoding)
        }
    }
}
