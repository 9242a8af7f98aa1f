internal import TollgateCore

/// A value that reads itself from the bytes that `RecordWritable` writes, without `Codable`'s
/// containers.
///
/// Bytes that are in any way not as we write them now are left to `Codable`, which alone decides what
/// is corrupt.
protocol RecordReadable: Decodable {
    /// `nil`, or an error, for bytes of another shape.
    init?(reading cursor: inout RecordCursor) throws
}

/// A place in a record.
struct RecordCursor {
    let source: RecordSource
    var offset: Int

    mutating func open(_ marker: UInt8) -> Bool {
        guard offset < source.bytes.count, source.bytes[offset] == marker else { return false }
        offset += 1
        return true
    }

    mutating func openMap() -> Bool { open(0xBF) }
    mutating func openList() -> Bool { open(0x9F) }
    mutating func close() -> Bool { open(0xFF) }

    /// Goes behind the key if it is the next one.
    mutating func key(_ key: StaticString) -> Bool {
        let count = key.utf8CodeUnitCount
        // Our keys are shorter than 24 bytes, so the length is in the first byte.
        guard offset + 1 + count <= source.bytes.count,
            source.bytes[offset] == 0x60 | UInt8(truncatingIfNeeded: count)
        else { return false }
        let isEqual = key.withUTF8Buffer { key in
            source.bytes[offset + 1..<offset + 1 + count].elementsEqual(key)
        }
        if isEqual { offset += 1 + count }
        return isEqual
    }

    mutating func string() throws -> String {
        let (range, next) = try source.text(offset)
        offset = next
        return String(decoding: source.bytes[range], as: UTF8.self)
    }

    mutating func int64() throws -> Int64 {
        let value = try source.int64(offset)
        offset = try source.head(offset).next
        return value
    }

    mutating func bool() throws -> Bool {
        let value = try source.bool(offset)
        offset += 1
        return value
    }

    mutating func instant() throws -> Instant { Instant(milliseconds: try int64()) }

    mutating func instant(_ name: StaticString) throws -> Instant? {
        key(name) ? try instant() : nil
    }

    mutating func int64(_ name: StaticString) throws -> Int64? { key(name) ? try int64() : nil }
    mutating func string(_ name: StaticString) throws -> String? { key(name) ? try string() : nil }

    mutating func value<Value: RecordReadable>(
        _ type: Value.Type,
        _ name: StaticString
    ) throws -> Value? {
        key(name) ? try Value(reading: &self) : nil
    }
}

extension Array: RecordReadable where Element: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openList() else { return nil }
        self = []
        while !cursor.close() {
            guard let element = try Element(reading: &cursor) else { return nil }
            append(element)
        }
    }
}

extension Newest: RecordReadable where Value: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), let value = try cursor.value(Value.self, "value"),
            let stated = try cursor.value(Stated.self, "stated"),
            let source = try cursor.string("source"), cursor.close()
        else { return nil }
        self.init(value, stated: stated, source: source)
    }
}

extension Stated: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), let instant = try cursor.instant("instant"), cursor.key("isRead")
        else { return nil }
        self.init(instant, isRead: try cursor.bool())
        guard cursor.close() else { return nil }
    }
}

extension PeriodRecord: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), let newest = try cursor.value(Newest<Period>.self, "newest")
        else { return nil }
        self.init(
            newest: newest,
            upgradedBy: try cursor.instant("upgradedBy"),
            revocation: try cursor.value(StatedRevocation.self, "revocation"),
            seatStatements: try cursor.value([SeatStatement].self, "seatStatements"),
            receipt: try cursor.value(Newest<Period>.self, "receipt"),
            chargedAhead: try cursor.instant("chargedAhead")
        )
        guard cursor.close() else { return nil }
    }
}

extension SeatStatement: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), let seats = try cursor.int64("seats"),
            let first = try cursor.instant("first"), let last = try cursor.instant("last"),
            cursor.close()
        else { return nil }
        self.init(seats: seats, first: first, last: last)
    }
}

extension StatedRevocation: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), let date = try cursor.instant("date"),
            let stated = try cursor.value(Stated.self, "stated"),
            let source = try cursor.string("source"), cursor.close()
        else { return nil }
        self.init(date: date, stated: stated, source: source)
    }
}

extension Period: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), let id = try cursor.string("id"),
            let transactionID = try cursor.string("transactionID"),
            let product = try cursor.string("product"),
            let kind = try cursor.string("kind").flatMap({ Kind(rawValue: $0) }),
            let start = try cursor.instant("start")
        else { return nil }
        self.init(id: id, transactionID: transactionID, product: product, kind: kind, start: start)
        end = try cursor.instant("end")
        revoked = try cursor.instant("revoked")
        revokedShare = try cursor.int64("revokedShare")
        guard cursor.key("isUpgraded") else { return nil }
        isUpgraded = try cursor.bool()
        guard let quantity = try cursor.int64("quantity") else { return nil }
        self.quantity = quantity
        token = try cursor.string("token")
        guard cursor.key("isFamilyShared") else { return nil }
        isFamilyShared = try cursor.bool()
        price = try cursor.int64("price")
        currency = try cursor.string("currency")
        offerType = try cursor.int64("offerType")
        discount = try cursor.string("discount")
        offer = try cursor.string("offer")
        storefront = try cursor.string("storefront")
        previous = try cursor.string("previous")
        additionalReason = try cursor.string("additionalReason")
        revokedSeats = try cursor.int64("revokedSeats")
        if cursor.key("isSwitched") { isSwitched = try cursor.bool() }
        if cursor.key("installment") {
            guard cursor.openMap() else { return nil }
            installment = Installment(
                try cursor.int64("number"),
                of: try cursor.int64("total")
            )
            guard installment != nil, cursor.close() else { return nil }
        }
        guard cursor.close() else { return nil }
    }
}

extension RenewalTerms: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), cursor.key("willRenew") else { return nil }
        self.init(willRenew: try cursor.bool())
        nextProduct = try cursor.string("nextProduct")
        graceEnd = try cursor.instant("graceEnd")
        guard cursor.key("awaitsConsent") else { return nil }
        awaitsConsent = try cursor.bool()
        guard cursor.key("isInBillingRetry") else { return nil }
        isInBillingRetry = try cursor.bool()
        expirationIntent = try cursor.int64("expirationIntent")
        renewalDate = try cursor.instant("renewalDate")
        guard cursor.close() else { return nil }
    }
}

extension SubscriptionStatus: RecordReadable {
    init?(reading cursor: inout RecordCursor) throws {
        guard cursor.openMap(), let value = try cursor.int64("value") else { return nil }
        self.init(value: value, reachesTo: try cursor.instant("reachesTo"))
        guard cursor.close() else { return nil }
    }
}
