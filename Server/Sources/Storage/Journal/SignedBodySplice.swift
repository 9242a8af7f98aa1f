internal import Crypto
internal import Foundation
internal import Synchronization
internal import TextFormats

/// Takes a body apart, and gathers its segments.
struct SignedBodySplice {
    private(set) var segments: [SignedBody.Segment] = []
    private var form: [UInt8] = []
    /// Strings that looked like the start of a JWS and were none: bounds the time for hostile input.
    private var disappointments = 0

    /// A header this short holds no certificates and is not worth a row of its own.
    private static let shortestSegment = 256
    private static let mostDisappointments = 32

    /// The compact form of `body`, or nil if there is nothing in it to take apart.
    mutating func takeApart(_ body: [UInt8]) -> [UInt8]? {
        form.reserveCapacity(4096)
        body.withUnsafeBufferPointer { appendText($0, depth: 0) }
        guard !segments.isEmpty else { return nil }
        var compact: [UInt8] = [SignedBodyForm.spliced]
        compact.reserveCapacity(form.count + 64)
        compact.appendNumber(segments.count)
        for segment in segments { compact.append(contentsOf: segment.id) }
        compact.append(contentsOf: form)
        return compact
    }

    private mutating func appendText(_ text: UnsafeBufferPointer<UInt8>, depth: Int) {
        var literalStart = 0
        var position = 0
        if depth < SignedBodyForm.deepest {
            while let start = nextCandidate(in: text, from: position) {
                let mark = form.count
                appendLiteral(text, literalStart..<start)
                if let end = appendSigned(text, from: start, depth: depth) {
                    literalStart = end
                    position = end
                } else {
                    form.removeSubrange(mark...)
                    position = start + 1
                    disappointments += 1
                }
            }
        }
        appendLiteral(text, literalStart..<text.count)
        form.append(SignedBodyForm.end)
    }

    private mutating func appendLiteral(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        form.append(SignedBodyForm.literal)
        form.appendNumber(range.count)
        form.append(contentsOf: text[range])
    }

    /// Where the next string begins that starts like base64url of `{"`: after a quotation mark, or
    /// at the very start of the text.
    private func nextCandidate(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard disappointments < Self.mostDisappointments, text.count >= 3 else { return nil }
        for position in start..<max(start, text.count - 2)
        where text[position] == UInt8(ascii: "e") && text[position + 1] == UInt8(ascii: "y")
            && text[position + 2] == UInt8(ascii: "J")
            && (position == 0 || text[position - 1] == UInt8(ascii: "\""))
        {
            return position
        }
        return nil
    }

    /// Appends the JWS that starts at `start` and returns where it ends; nil, with rubbish appended,
    /// if there is none.
    private mutating func appendSigned(
        _ text: UnsafeBufferPointer<UInt8>,
        from start: Int,
        depth: Int
    ) -> Int? {
        let dot = UInt8(ascii: ".")
        let quote = UInt8(ascii: "\"")
        guard let firstDot = text.firstIndex(of: dot, from: start),
            firstDot - start >= Self.shortestSegment,
            let secondDot = text.firstIndex(of: dot, from: firstDot + 1)
        else { return nil }
        let end = text.firstIndex(of: quote, from: secondDot + 1) ?? text.count
        let header = UnsafeBufferPointer(rebasing: text[start..<firstDot])
        guard header.firstIndex(of: quote, from: 0) == nil,
            let payload = Base64.decodeURL(
                UnsafeRawBufferPointer(
                    UnsafeBufferPointer(rebasing: text[(firstDot + 1)..<secondDot])
                )
            ),
            let signature = Base64.decodeURL(
                UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: text[(secondDot + 1)..<end]))
            )
        else { return nil }
        form.append(SignedBodyForm.signed)
        form.appendNumber(segmentNumber(header))
        payload.withUnsafeBufferPointer { appendText($0, depth: depth + 1) }
        form.appendNumber(signature.count)
        form.append(contentsOf: signature)
        return end
    }

    private mutating func segmentNumber(_ header: UnsafeBufferPointer<UInt8>) -> Int {
        if let known = segments.firstIndex(where: { header.isEqual(to: $0.bytes) }) {
            return known
        }
        segments.append(RecentSegments.segment(header))
        return segments.count - 1
    }
}

/// The last few segments seen, so that their hash is not computed again for each body: stores sign
/// with one chain for weeks.
private enum RecentSegments {
    private static let recent = Mutex<[SignedBody.Segment]>([])
    private static let most = 16

    static func segment(_ bytes: UnsafeBufferPointer<UInt8>) -> SignedBody.Segment {
        let known = recent.withLock { $0.first { bytes.isEqual(to: $0.bytes) } }
        if let known { return known }
        let digest = SHA256.hash(data: UnsafeRawBufferPointer(bytes))
        let segment = SignedBody.Segment(
            id: Array(digest.prefix(SignedBodyForm.idLength)),
            bytes: Array(bytes)
        )
        recent.withLock { recent in
            if recent.count == most { recent.removeFirst() }
            recent.append(segment)
        }
        return segment
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Equality at the speed of memory; that of arrays goes byte by byte.
    func isEqual(to other: [UInt8]) -> Bool {
        guard count == other.count, let start = baseAddress else { return false }
        return other.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp(start, $0, count) == 0 } ?? true
        }
    }

    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let base = baseAddress,
            let found = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
}

extension [UInt8] {
    /// Appends a number that is not negative in groups of seven bits, the lowest first.
    fileprivate mutating func appendNumber(_ number: Int) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}
