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
        let certificates = try Self.certificates(of: Self.members(of: segment), count: 3)
        leaf = try Self.decode(certificates[0], at: "x5c[0]")
        intermediate = try Self.decode(certificates[1], at: "x5c[1]")
    }

    /// The only certificate of a header, as StoreKit testing in Xcode writes it.
    static func ofOneCertificate(
        _ segment: UnsafeRawBufferPointer
    ) throws(AppStore.VerificationError) -> (der: [UInt8], namesXcode: Bool) {
        let header = try members(of: segment)
        let certificates = try certificates(of: header, count: 1)
        return (
            try decode(certificates[0], at: "x5c[0]"),
            header["kid"]?.isString("Apple_Xcode_Key") == true
        )
    }

    private static func members(
        of segment: UnsafeRawBufferPointer
    ) throws(AppStore.VerificationError) -> JSON {
        guard segment.count <= maximumLength else {
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
        return header
    }

    private static func certificates(
        of header: JSON,
        count: Int
    ) throws(AppStore.VerificationError) -> [JSON] {
        guard let chain = header["x5c"], chain.kind == .array, chain.count == count else {
            throw AppStore.VerificationError(.chainLength)
        }
        let certificates = Array(chain.elements)
        guard certificates.count == count, certificates.allSatisfy({ $0.kind == .string }) else {
            throw AppStore.VerificationError(.chainLength)
        }
        return certificates
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
