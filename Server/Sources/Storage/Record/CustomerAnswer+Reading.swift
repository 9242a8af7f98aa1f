internal import TollgateCore

extension CustomerAnswer {
    /// Reads what `RecordEncoder` wrote of an answer, without the general decoder: every question
    /// "what may they use" reads one, and this takes a tenth of the time.
    ///
    /// - Throws: `StorageError` for bytes that are no answer; never traps.
    init(reading bytes: [UInt8]) throws(StorageError) {
        var reader = AnswerReader(bytes)
        var holdings: [Holding] = []
        try reader.map { name, reader throws(StorageError) in
            guard name == "holdings" else { throw reader.corrupt }
            try reader.list { reader throws(StorageError) in
                holdings.append(try Self.holding(&reader))
            }
        }
        self.init(holdings: holdings)
    }

    private static func holding(_ reader: inout AnswerReader) throws(StorageError) -> Holding {
        var purchase: Purchase.Key?
        var access = PurchaseAccess()
        try reader.map { name, reader throws(StorageError) in
            switch name {
            case "purchase": purchase = Purchase.Key(canonical: try reader.text())
            case "access":
                try reader.map { name, reader throws(StorageError) in
                    try reader.list { reader throws(StorageError) in
                        if name == "intervals" {
                            access.intervals.append(try Self.interval(&reader))
                        } else {
                            access.passes.append(try Self.pass(&reader))
                        }
                    }
                }
            default: throw reader.corrupt
            }
        }
        guard let purchase else { throw reader.corrupt }
        return Holding(purchase: purchase, access: access)
    }

    private static func interval(
        _ reader: inout AnswerReader
    ) throws(StorageError) -> AccessInterval {
        var product: StoreProduct?
        var since: Instant?
        var until: Instant?
        var ground: Ground?
        var evidence = ""
        try reader.map { name, reader throws(StorageError) in
            switch name {
            case "product": product = try Self.product(&reader)
            case "since": since = try reader.instant()
            case "until": until = try reader.instant()
            case "ground": ground = Ground(rawValue: try reader.text())
            case "evidence": evidence = try reader.text()
            default: throw reader.corrupt
            }
        }
        guard let product, let since, let ground else { throw reader.corrupt }
        return AccessInterval(
            product: product,
            since: since,
            until: until,
            ground: ground,
            evidence: evidence
        )
    }

    private static func pass(_ reader: inout AnswerReader) throws(StorageError) -> Pass {
        var product: StoreProduct?
        var purchased: Instant?
        var duration: CalendarDuration?
        var cut: Instant?
        var evidence = ""
        try reader.map { name, reader throws(StorageError) in
            switch name {
            case "product": product = try Self.product(&reader)
            case "purchased": purchased = try reader.instant()
            case "duration": duration = CalendarDuration(iso8601: try reader.text())
            case "cut": cut = try reader.instant()
            case "evidence": evidence = try reader.text()
            default: throw reader.corrupt
            }
        }
        guard let product, let purchased else { throw reader.corrupt }
        return Pass(
            product: product,
            purchased: purchased,
            duration: duration,
            cut: cut,
            evidence: evidence
        )
    }

    private static func product(_ reader: inout AnswerReader) throws(StorageError) -> StoreProduct {
        var store: Store?
        var id: String?
        try reader.map { name, reader throws(StorageError) in
            switch name {
            case "store": store = Store(rawValue: try reader.text())
            case "id": id = try reader.text()
            default: throw reader.corrupt
            }
        }
        guard let store, let id else { throw reader.corrupt }
        return StoreProduct(store, id)
    }
}

/// Walks over the subset of CBOR that `RecordEncoder` writes.
private struct AnswerReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var corrupt: StorageError { StorageError(.corrupt, "an answer cannot be read") }

    private func peek() throws(StorageError) -> UInt8 {
        guard offset < bytes.count else { throw corrupt }
        return bytes[offset]
    }

    mutating func map(
        _ member: (String, inout AnswerReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard try peek() == 0xBF else { throw corrupt }
        offset += 1
        while try peek() != 0xFF { try member(try text(), &self) }
        offset += 1
    }

    mutating func list(
        _ element: (inout AnswerReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard try peek() == 0x9F else { throw corrupt }
        offset += 1
        while try peek() != 0xFF { try element(&self) }
        offset += 1
    }

    mutating func text() throws(StorageError) -> String {
        let (major, value) = try head()
        guard major == 3, value <= UInt64(bytes.count - offset) else { throw corrupt }
        let end = offset + Int(value)
        defer { offset = end }
        return String(decoding: bytes[offset..<end], as: UTF8.self)
    }

    mutating func instant() throws(StorageError) -> Instant {
        let (major, value) = try head()
        guard major <= 1, let magnitude = Int64(exactly: value) else { throw corrupt }
        return Instant(milliseconds: major == 0 ? magnitude : ~magnitude)
    }

    private mutating func head() throws(StorageError) -> (major: UInt8, value: UInt64) {
        let first = try peek()
        offset += 1
        let short = first & 0x1F
        guard short >= 24 else { return (first >> 5, UInt64(short)) }
        guard short <= 27 else { throw corrupt }
        let length = 1 << Int(short - 24)
        guard length <= bytes.count - offset else { throw corrupt }
        var value: UInt64 = 0
        for index in offset..<offset + length { value = value << 8 | UInt64(bytes[index]) }
        offset += length
        return (first >> 5, value)
    }
}
