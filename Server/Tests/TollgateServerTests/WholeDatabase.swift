import Foundation
import Storage
import TollgateSimulation

/// Everything that a database holds: every value of every table.
struct WholeDatabase: Sendable {
    struct Value: Sendable {
        var table: String
        /// As it lies there, and as whoever knows our formats reads it.
        var readings: [[UInt8]]
    }

    let values: [Value]

    init(_ driver: any StorageDriver) async throws {
        values = try await driver.read { connection in
            let names =
                connection.dialect.name == "SQLite"
                ? "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
                : "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
            let tables = try connection.query(names).map { try $0.text(0) }
                .filter { !$0.hasPrefix("sqlite_") }
            func segment(_ id: [UInt8]) -> [UInt8]? {
                try? connection.query("SELECT bytes FROM segment WHERE id = $1", [.blob(id)])
                    .first?.bytes(0)
            }
            return try tables.flatMap { table in
                try connection.query("SELECT * FROM \"\(table)\"").flatMap { row in
                    row.values.compactMap { value -> Value? in
                        switch value {
                        case .null: return nil
                        case .integer(let number):
                            return Value(table: table, readings: [Array("\(number)".utf8)])
                        case .text(let text):
                            return Value(table: table, readings: [Array(text.utf8)])
                        case .blob(let bytes):
                            var readings = [bytes]
                            if let facts = try? PackedBytes.unpacked(bytes) {
                                readings.append(facts)
                            }
                            if let body = try? SignedBody.expand(bytes, segment: segment) {
                                readings += [body] + Self.signed(in: body)
                            }
                            return Value(table: table, readings: readings)
                        }
                    }
                }
            }
        }
    }

    /// What is signed inside a body: parts in base64url, also of parts.
    private static func signed(in body: [UInt8], depth: Int = 0) -> [[UInt8]] {
        guard depth < 3 else { return [] }
        let parts = body.split { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                false
            default: true
            }
        }.filter { $0.count > 20 }
        return parts.flatMap { part -> [[UInt8]] in
            var text = String(decoding: part, as: UTF8.self)
                .replacing("-", with: "+").replacing("_", with: "/")
            text += String(repeating: "=", count: (4 - text.count % 4) % 4)
            guard let decoded = Data(base64Encoded: text).map({ Array($0) }) else { return [] }
            return [decoded] + signed(in: decoded, depth: depth + 1)
        }
    }

    /// The tables in which `needle` stands, as text, in hexadecimal digits, in Base64, or as the
    /// bytes of a UUID.
    func tables(with needle: String) -> Set<String> {
        let plain = Array(needle.utf8)
        var needles = [plain, Array(plain.map { String($0, radix: 16) }.joined().utf8)]
        // Without the last letters, which depend on what follows.
        needles.append(Array(Data(plain).base64EncodedString().utf8.dropLast(4)))
        if let uuid = UUID(uuidString: needle) {
            needles.append(withUnsafeBytes(of: uuid.uuid) { Array($0) })
            needles.append(Array(needle.uppercased().utf8))
        }
        return Set(
            values.filter { value in
                value.readings.contains { reading in
                    // `contains` takes a hundred times as long in a debug build.
                    needles.contains { $0.count > 2 && Data(reading).range(of: Data($0)) != nil }
                }
            }.map(\.table)
        )
    }
}
