package import Crypto
package import TollgateCore

/// The 16 bytes under which a row is kept: the front half of a SHA-256 over what it names.
public struct RowKey: Hashable, Comparable, Sendable {
    public let high: UInt64
    public let low: UInt64

    /// Hashes the parts, each with its length before it, so that no two lists of parts collide.
    public init(_ parts: String...) {
        var hash = SHA256()
        for part in parts {
            var part = part
            part.withUTF8 { text in
                withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.count).littleEndian) {
                    hash.update(bufferPointer: $0)
                }
                hash.update(bufferPointer: UnsafeRawBufferPointer(text))
            }
        }
        self.init(digest: hash.finalize())
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(digest: SHA256Digest) {
        (high, low) = digest.withUnsafeBytes {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    package init(bytes: [UInt8]) throws {
        guard bytes.count == 16 else {
            throw StorageError(.corrupt, "a key of \(bytes.count) bytes")
        }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    package var value: SQLValue { .blob(bytes) }

    public static func < (left: RowKey, right: RowKey) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension RowKey {
    package init(_ purchase: Purchase.Key) {
        self.init("purchase", purchase.canonical)
    }

    /// The name of a holder, whatever the environment.
    package init(_ holder: Holder) {
        // The hash that stands for a name leads where the name did.
        if case .erased(let hash) = holder, let key = RowKey(hex: hash) {
            self = key
        } else {
            self.init("holder", holder.canonical)
        }
    }

    /// The row in which a holder's purchases of one environment are answered.
    package func inEnvironment(_ environment: StoreEnvironment) -> RowKey {
        environment == .production ? self : inSandbox
    }

    /// The same for the sandbox; statements on SQLite have it as `in_sandbox(key)`.
    package var inSandbox: RowKey { RowKey(high: high ^ Self.sandboxMark, low: low) }

    /// Keeps the two environments of one holder apart; any constant would do.
    private static let sandboxMark: UInt64 = 0x7361_6E64_626F_7821

    /// Purchases that wait for a catalog which knows the product.
    package init(waitingFor product: StoreProduct) {
        self.init("waiting", product.store.rawValue, product.withoutPlan.id)
    }

    /// An email, however it is spelled in capitals.
    package init(email: String) {
        self.init("email", email.lowercased())
    }

    /// 32 hexadecimal digits.
    public var hex: String {
        func pad(_ value: UInt64) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return pad(high) + pad(low)
    }
}

extension RowKey {
    /// Reads what `hex` wrote; `nil` for anything else.
    public init?(hex text: String) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }
}

extension RowKey: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let key = RowKey(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not a row key"
            )
        }
        self = key
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}

extension StorageConnection {
    /// The row of the customer who is known by one of `names`; of the first name where nobody
    /// registered any.
    func row(of names: HolderNames, in environment: StoreEnvironment) throws -> RowKey? {
        for name in names {
            guard let alias = name.aliasKey else { return RowKey(name).inEnvironment(environment) }
            let rows = try query("SELECT customer FROM alias WHERE key = $1", [alias.value])
            if let row = rows.first {
                return try RowKey(bytes: row.bytes(0)).inEnvironment(environment)
            }
        }
        return names.first.map { RowKey($0).inEnvironment(environment) }
    }
}
