internal import TollgateCore

// The answer's own form. Every question "what may they use" reads one and every message writes one,
// so it is denser than that of the records and takes a tenth of the time to read.
//
// A version, then lists with their length before them. Texts have their length before them,
// instants are 8 bytes, the highest first. A member that may be missing has a byte before it.

extension CustomerAnswer {
    /// What the first byte says; another form would get another number.
    private static let form: UInt8 = 1

    /// Equal answers have equal bytes.
    package var bytes: [UInt8] {
        var writer = AnswerWriter()
        writer.bytes.append(Self.form)
        writer.count(holdings.count)
        for holding in holdings { writer.write(holding) }
        return writer.bytes
    }

    /// Reads what `bytes` wrote.
    ///
    /// - Throws: `StorageError` for bytes that are no answer; never traps.
    package init(reading bytes: [UInt8]) throws(StorageError) {
        let read: Result<[Holding], StorageError> = bytes.withUnsafeBytes { bytes in
            do throws(StorageError) {
                var reader = AnswerReader(bytes)
                guard try reader.byte() == Self.form else { throw reader.corrupt }
                let holdings = try reader.holdings()
                guard reader.isAtEnd else { throw reader.corrupt }
                return .success(holdings)
            } catch {
                return .failure(error)
            }
        }
        self.init(holdings: try read.get())
    }
}

extension CustomerAnswer {
    /// Returns `true` if two answers give access at the same times for the same grounds.
    ///
    /// Offers and renewal may differ: apps show them to customers, and events do not carry them.
    static func giveSameAccess(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one != other else { return true }
        guard let one = try? CustomerAnswer(reading: one),
            let other = try? CustomerAnswer(reading: other)
        else { return false }
        return one.withoutWhatIsShown == other.withoutWhatIsShown
    }

    private var withoutWhatIsShown: CustomerAnswer {
        CustomerAnswer(
            holdings: holdings.map { holding in
                var holding = holding
                for index in holding.access.intervals.indices {
                    holding.access.intervals[index].offer = nil
                    holding.access.intervals[index].lacksRenewalTerms = false
                }
                return holding
            }
        )
    }
}

/// The enumerations as they are kept: numbers that never change.
extension Store {
    fileprivate var number: UInt8 {
        switch self {
        case .appStore: 0
        case .stripe: 1
        case .tollgate: 2
        case .googlePlay: 3
        }
    }

    fileprivate init?(number: UInt8) {
        switch number {
        case 0: self = .appStore
        case 1: self = .stripe
        case 2: self = .tollgate
        case 3: self = .googlePlay
        default: return nil
        }
    }
}

extension Ground {
    fileprivate var number: UInt8 {
        switch self {
        case .payment: 0
        case .renewal: 1
        case .status: 2
        case .grace: 3
        case .family: 4
        case .grant: 5
        }
    }

    fileprivate init?(number: UInt8) {
        switch number {
        case 0: self = .payment
        case 1: self = .renewal
        case 2: self = .status
        case 3: self = .grace
        case 4: self = .family
        case 5: self = .grant
        default: return nil
        }
    }
}

extension OfferKind {
    fileprivate var number: UInt8 {
        switch self {
        case .trial: 1
        case .introductory: 2
        case .promotional: 3
        case .offerCode: 4
        case .winBack: 5
        }
    }

    fileprivate init?(number: UInt8) {
        switch number {
        case 1: self = .trial
        case 2: self = .introductory
        case 3: self = .promotional
        case 4: self = .offerCode
        case 5: self = .winBack
        default: return nil
        }
    }
}

private struct AnswerWriter {
    var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(256)
    }

    mutating func count(_ value: Int) {
        var rest = UInt(bitPattern: value)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func write(_ text: String) {
        count(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(_ instant: Instant) {
        withUnsafeBytes(of: instant.milliseconds.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ instant: Instant?) {
        guard let instant else { return bytes.append(0) }
        bytes.append(1)
        write(instant)
    }

    mutating func write(_ product: StoreProduct) {
        bytes.append(product.store.number)
        write(product.id)
    }

    mutating func write(_ holding: CustomerAnswer.Holding) {
        bytes.append(holding.purchase.store.number)
        bytes.append(holding.purchase.environment == .production ? 1 : 0)
        write(holding.purchase.application)
        write(holding.purchase.id)
        count(holding.access.intervals.count)
        for interval in holding.access.intervals {
            write(interval.product)
            write(interval.since)
            write(interval.until)
            let hasStop: UInt8 = interval.stop == nil ? 0 : 0x80
            // From the lowest bit: the ground in three, whether terms lack, the offer in three.
            let lacksTerms: UInt8 = interval.lacksRenewalTerms ? 0x08 : 0
            let offer = (interval.offer?.number ?? 0) << 4
            bytes.append(interval.ground.number | lacksTerms | offer | hasStop)
            write(interval.evidence)
            if let stop = interval.stop { write(stop) }
        }
        count(holding.access.passes.count)
        for pass in holding.access.passes {
            write(pass.product)
            write(pass.purchased)
            write(pass.duration?.iso8601 ?? "")
            write(pass.cut)
            write(pass.evidence)
        }
    }
}

private struct AnswerReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    var corrupt: StorageError { StorageError(.corrupt, "an answer cannot be read") }

    mutating func byte() throws(StorageError) -> UInt8 {
        guard offset < bytes.count else { throw corrupt }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// How many follow; never more than there are bytes left.
    private mutating func count() throws(StorageError) -> Int {
        var value = 0
        var shift = 0
        while true {
            let next = try byte()
            value |= Int(next & 0x7F) << shift
            guard next >= 0x80 else { break }
            shift += 7
            guard shift < 35 else { throw corrupt }
        }
        guard value <= bytes.count - offset else { throw corrupt }
        return value
    }

    private mutating func text() throws(StorageError) -> String {
        let length = try count()
        defer { offset += length }
        return String(decoding: bytes[offset..<offset + length], as: UTF8.self)
    }

    private mutating func instant() throws(StorageError) -> Instant {
        guard bytes.count - offset >= 8 else { throw corrupt }
        defer { offset += 8 }
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self)
        return Instant(milliseconds: Int64(bigEndian: value))
    }

    private mutating func instantIfAny() throws(StorageError) -> Instant? {
        switch try byte() {
        case 0: return nil
        case 1: return try instant()
        default: throw corrupt
        }
    }

    private mutating func store() throws(StorageError) -> Store {
        guard let store = Store(number: try byte()) else { throw corrupt }
        return store
    }

    private mutating func product() throws(StorageError) -> StoreProduct {
        StoreProduct(try store(), try text())
    }

    mutating func holdings() throws(StorageError) -> [CustomerAnswer.Holding] {
        let count = try count()
        var holdings: [CustomerAnswer.Holding] = []
        holdings.reserveCapacity(count)
        for _ in 0..<count { holdings.append(try holding()) }
        return holdings
    }

    private mutating func holding() throws(StorageError) -> CustomerAnswer.Holding {
        let store = try store()
        let environment: StoreEnvironment
        switch try byte() {
        case 0: environment = .sandbox
        case 1: environment = .production
        default: throw corrupt
        }
        let purchase = Purchase.Key(
            store: store,
            environment: environment,
            application: try text(),
            id: try text()
        )
        var access = PurchaseAccess()
        let intervals = try count()
        access.intervals.reserveCapacity(intervals)
        for _ in 0..<intervals { access.intervals.append(try interval()) }
        for _ in 0..<(try count()) { access.passes.append(try pass()) }
        return CustomerAnswer.Holding(purchase: purchase, access: access)
    }

    private mutating func interval() throws(StorageError) -> AccessInterval {
        let product = try product()
        let since = try instant()
        let until = try instantIfAny()
        let number = try byte()
        guard let ground = Ground(number: number & 0x07) else { throw corrupt }
        let offer = OfferKind(number: number >> 4 & 0x07)
        guard offer != nil || number & 0x70 == 0 else { throw corrupt }
        return AccessInterval(
            product: product,
            since: since,
            until: until,
            ground: ground,
            evidence: try text(),
            stop: number & 0x80 == 0 ? nil : try instant(),
            offer: offer,
            lacksRenewalTerms: number & 0x08 != 0
        )
    }

    private mutating func pass() throws(StorageError) -> Pass {
        let product = try product()
        let purchased = try instant()
        let duration = try text()
        return Pass(
            product: product,
            purchased: purchased,
            duration: duration.isEmpty ? nil : CalendarDuration(iso8601: duration),
            cut: try instantIfAny(),
            evidence: try text()
        )
    }
}
