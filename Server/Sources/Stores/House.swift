public import Foundation
public import Logging
public import Storage

/// The server around every store's room: where messages are kept, what time it is, and where is told
/// what happened.
public struct House: Sendable {
    public let records: RecordStore
    public let clocks: Clocks
    public let counters: Counters
    public let logger: Logger
    /// Unguessable bytes.
    public let randomBytes: @Sendable (Int) -> [UInt8]

    public init(
        records: RecordStore,
        clocks: Clocks,
        counters: Counters,
        logger: Logger,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.records = records
        self.clocks = clocks
        self.counters = counters
        self.logger = logger
        self.randomBytes = randomBytes
    }

    /// A new identifier: the prefix and random letters and digits.
    public func newID(_ prefix: String, length: Int = 24) -> String {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        return prefix
            + String(randomBytes(length).map { alphabet[Int($0) % alphabet.count] })
    }

    /// A random UUID (version 4).
    public func newUUID() -> UUID {
        var bytes = randomBytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
