internal import TextFormats

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The three parts of a JWS in compact form (RFC 7515, section 7.1), not yet decoded.
struct CompactJWS {
    /// A notification has 19 KB; three certificates can be larger than Apple's.
    static let maximumLength = 1 << 20

    let header: UnsafeRawBufferPointer
    let payload: UnsafeRawBufferPointer
    let signature: UnsafeRawBufferPointer
    /// Header, dot and payload: what was signed.
    let signingInput: UnsafeRawBufferPointer

    init(_ text: UnsafeRawBufferPointer) throws(AppStore.VerificationError) {
        guard text.count <= Self.maximumLength else { throw AppStore.VerificationError(.tooLong) }
        guard let first = Self.dot(in: text, from: 0),
            let second = Self.dot(in: text, from: first + 1),
            Self.dot(in: text, from: second + 1) == nil
        else { throw AppStore.VerificationError(.notThreeParts) }
        header = UnsafeRawBufferPointer(rebasing: text[..<first])
        payload = UnsafeRawBufferPointer(rebasing: text[(first + 1)..<second])
        signature = UnsafeRawBufferPointer(rebasing: text[(second + 1)...])
        signingInput = UnsafeRawBufferPointer(rebasing: text[..<second])
    }

    /// The decoded payload.
    func decodePayload() throws(AppStore.VerificationError) -> [UInt8] {
        guard let bytes = Base64.decodeURL(payload) else {
            throw AppStore.VerificationError(.notBase64URL, at: "payload")
        }
        return bytes
    }

    private static func dot(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < text.count, let base = text.baseAddress else { return nil }
        let found = memchr(base + start, Int32(UInt8(ascii: ".")), text.count - start)
        return found.map { UnsafeRawPointer($0) - base }
    }
}
