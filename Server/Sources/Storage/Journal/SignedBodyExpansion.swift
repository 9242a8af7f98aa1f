internal import TextFormats

/// Puts a compact body together again.
///
/// Reads anything without trapping: a database may be damaged.
struct SignedBodyExpansion {
    private let form: [UInt8]
    private var position = 0

    init(_ form: [UInt8]) {
        self.form = form
    }

    mutating func segmentIDs() throws(StorageError) -> [[UInt8]] {
        switch try byte() {
        case SignedBodyForm.raw: return []
        case SignedBodyForm.spliced:
            let count = try number()
            guard count <= (form.count - position) / SignedBodyForm.idLength else { throw damaged }
            var ids: [[UInt8]] = []
            for _ in 0..<count { ids.append(Array(try bytes(SignedBodyForm.idLength))) }
            return ids
        default: throw StorageError(.corrupt, "a journalled body of a form from the future")
        }
    }

    mutating func expand(
        _ segment: ([UInt8]) throws(StorageError) -> [UInt8]?
    ) throws(StorageError) -> [UInt8] {
        let ids = try segmentIDs()
        if form[0] == SignedBodyForm.raw { return Array(form[1...]) }
        var segments: [[UInt8]] = []
        for id in ids {
            guard let bytes = try segment(id) else {
                throw StorageError(.corrupt, "a segment of a journalled body is missing")
            }
            segments.append(bytes)
        }
        let body = try text(segments, depth: 0)
        guard position == form.count else { throw damaged }
        return body
    }

    private mutating func text(_ segments: [[UInt8]], depth: Int) throws(StorageError) -> [UInt8] {
        guard depth <= SignedBodyForm.deepest else { throw damaged }
        var text: [UInt8] = []
        // Four texts in one another, the outermost some 20 KB.
        text.reserveCapacity(24_576 >> depth)
        while true {
            switch try byte() {
            case SignedBodyForm.literal: text.append(contentsOf: try bytes(try number()))
            case SignedBodyForm.signed:
                let index = try number()
                guard segments.indices.contains(index) else { throw damaged }
                text.append(contentsOf: segments[index])
                text.append(UInt8(ascii: "."))
                let payload = try self.text(segments, depth: depth + 1)
                payload.withUnsafeBytes { Base64.appendURL($0, to: &text) }
                text.append(UInt8(ascii: "."))
                try bytes(try number()).withUnsafeBytes { Base64.appendURL($0, to: &text) }
            case SignedBodyForm.end: return text
            default: throw damaged
            }
        }
    }

    private mutating func byte() throws(StorageError) -> UInt8 {
        guard position < form.count else { throw damaged }
        defer { position += 1 }
        return form[position]
    }

    private mutating func bytes(_ count: Int) throws(StorageError) -> ArraySlice<UInt8> {
        guard count <= form.count - position else { throw damaged }
        defer { position += count }
        return form[position..<(position + count)]
    }

    private mutating func number() throws(StorageError) -> Int {
        var number = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            let group = try byte()
            number |= Int(group & 0x7f) << shift
            if group < 0x80 { return number }
        }
        throw damaged
    }

    private var damaged: StorageError { StorageError(.corrupt, "a journalled body is damaged") }
}
