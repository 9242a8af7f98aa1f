/// A signed payload as the journal keeps it: its exact bytes without what it shares with others.
///
/// A notification of 19 KB is three signed strings (JWS), one holding the other two, each with the
/// same certificates in its header and each base64 of the one inside. Taken apart it is some 2 KB of
/// JSON and three signatures; the headers are `segments`, stored once for all (RULES.md §11).
/// Any bytes may be given: what is not of that shape is kept as it is, and putting together is
/// checked against the original before anything is stored.
public struct SignedBody: Hashable, Sendable {
    /// A part that many bodies share: the first part of a JWS, in its base64url text.
    public struct Segment: Hashable, Sendable {
        /// The first 16 bytes of the SHA-256 of `bytes`.
        public let id: [UInt8]
        /// The text.
        public let bytes: [UInt8]
    }

    /// The body without its segments, in the form that `expand` reads.
    public let compact: [UInt8]
    /// The segments that `compact` refers to, each once.
    public let segments: [Segment]

    /// Takes `body` apart: an HTTP body that holds signed strings, or one signed string.
    public init(_ body: [UInt8]) {
        var splice = SignedBodySplice()
        if let compact = splice.takeApart(body) {
            let segments = splice.segments
            let expanded = try? Self.expand(compact) { id in
                segments.first { $0.id == id }?.bytes
            }
            if let expanded, body.withUnsafeBufferPointer({ $0.isEqual(to: expanded) }) {
                self.compact = PackedBytes.pack(compact, .appStore)
                self.segments = segments
                return
            }
        }
        compact = PackedBytes.pack([SignedBodyForm.raw] + body, .stripe)
        segments = []
    }

    /// The ids of the segments that `compact` refers to; what `expand` will ask for.
    ///
    /// Throws `.corrupt` if `compact` is not of our making.
    public static func segmentIDs(in compact: [UInt8]) throws(StorageError) -> [[UInt8]] {
        var expansion = SignedBodyExpansion(try PackedBytes.unpacked(compact))
        return try expansion.segmentIDs()
    }

    /// The exact bytes that `compact` was made from.
    ///
    /// `segment` gives the bytes of a segment by its id. Throws `.corrupt` if one is missing, or if
    /// `compact` is not of our making.
    public static func expand(
        _ compact: [UInt8],
        segment: ([UInt8]) throws(StorageError) -> [UInt8]?
    ) throws(StorageError) -> [UInt8] {
        var expansion = SignedBodyExpansion(try PackedBytes.unpacked(compact))
        return try expansion.expand(segment)
    }
}

/// The compact form.
///
/// First a byte for the version: 0, and the body follows as it is; or 1, and there follow the
/// number of segments, their ids of 16 bytes, and a text; or 2, and one of those follows packed
/// (`PackedBytes`).
///
/// A text is a sequence of parts: `literal`, its length, its bytes; or `signed`, the number of a
/// segment, the text that the payload decodes to, the length and the bytes of the signature. The
/// sequence closes with `end`. Numbers are in groups of seven bits, the lowest first.
enum SignedBodyForm {
    static let raw: UInt8 = 0
    static let spliced: UInt8 = 1

    static let end: UInt8 = 0
    static let literal: UInt8 = 1
    static let signed: UInt8 = 2

    static let idLength = 16
    /// A body in a payload in a payload; Apple's go one deep.
    static let deepest = 3
}
