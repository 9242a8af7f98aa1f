import StrictJSON
import TextFormats

/// The header of a JWS that the App Store signed: its rules, and the two certificates that count.
///
/// Keys are never taken from `jwk`, `jku`, `x5u` or the like; such members are ignored.
struct SignedHeader {
    /// Three of Apple's certificates make a header of 6 KB.
    static let maximumLength = 64 << 10

    /// DER of the first and second certificate.
    ///
    /// The third is only counted: trust comes from the configured roots.
    let leaf: [UInt8]
    let intermediate: [UInt8]

    init(_ segment: UnsafeRawBufferPointer) throws(AppStore.VerificationError) {
        guard segment.count <= Self.maximumLength else {
            throw AppStore.VerificationError(.chainLength, at: "header")
        }
        guard let text = Base64.decodeURL(segment) else {
            throw AppStore.VerificationError(.notBase64URL, at: "header")
        }
        let header: JSON
        do { header = try JSON(text) } catch {
            throw AppStore.VerificationError.json(error, of: "header")
        }
        guard header.kind == .object else { throw AppStore.VerificationError(.headerNotObject) }
        guard header["alg"]?.isString("ES256") == true else {
            throw AppStore.VerificationError(.algorithm)
        }
        guard header["crit"] == nil, header["b64"] == nil, header["zip"] == nil else {
            throw AppStore.VerificationError(.headerExtension)
        }
        guard let chain = header["x5c"], chain.kind == .array, chain.count == 3 else {
            throw AppStore.VerificationError(.chainLength)
        }
        let certificates = Array(chain.elements)
        guard certificates.count == 3, certificates.allSatisfy({ $0.kind == .string }) else {
            throw AppStore.VerificationError(.chainLength)
        }
        leaf = try Self.decode(certificates[0], at: "x5c[0]")
        intermediate = try Self.decode(certificates[1], at: "x5c[1]")
    }

    private static func decode(
        _ certificate: JSON,
        at place: String
    ) throws(AppStore.VerificationError) -> [UInt8] {
        guard let bytes = certificate.withUTF8({ Base64.decode($0) }) ?? nil else {
            throw AppStore.VerificationError(.certificateEncoding, at: place)
        }
        return bytes
    }
}
