internal import CLibPQ
internal import Storage

/// The types that we speak in binary, by PostgreSQL's numbers (pg_type.dat), which never change.
enum PostgresType {
    static let bool: Oid = 16
    static let bytes: Oid = 17
    static let name: Oid = 19
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
    static let character: Oid = 1042
    static let varchar: Oid = 1043
    static let numeric: Oid = 1700
    static let void: Oid = 2278
    static let unknown: Oid = 705
}

/// Parameters on their way to libpq: one buffer, used again for each statement.
final class PostgresParameters {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Queues one run of `statement` and returns libpq's verdict, 1 for success.
    ///
    /// Throws `.typeMismatch`, and queues nothing, if a value does not suit its parameter.
    func send(
        _ values: [SQLValue],
        to statement: PostgresSession.Prepared,
        _ connection: OpaquePointer
    ) throws(StorageError) -> Int32 {
        guard values.count == statement.parameterTypes.count else {
            throw StorageError(
                .typeMismatch,
                "the statement wants \(statement.parameterTypes.count) parameters, "
                    + "not \(values.count)"
            )
        }
        try take(values, as: statement.parameterTypes)
        return withPointers { pointers in
            PQsendQueryPrepared(
                connection,
                statement.name,
                Int32(values.count),
                pointers,
                lengths,
                formats,
                1
            )
        }
    }

    /// Queues one run of a statement that is not prepared; its parameters have the types of their values.
    func send(
        _ values: [SQLValue],
        with sql: String,
        _ connection: OpaquePointer
    ) throws(StorageError) -> Int32 {
        let types = values.map { value -> Oid in
            switch value {
            case .null: 0
            case .integer: PostgresType.int8
            case .text: PostgresType.text
            case .blob: PostgresType.bytes
            }
        }
        try take(values, as: types)
        return withPointers { pointers in
            PQsendQueryParams(
                connection,
                sql,
                Int32(values.count),
                types,
                pointers,
                lengths,
                formats,
                1
            )
        }
    }

    private func take(_ values: [SQLValue], as types: [Oid]) throws(StorageError) {
        bytes.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
        for (index, value) in values.enumerated() { try append(value, as: types[index], index) }
    }

    private func withPointers(_ send: ([UnsafePointer<CChar>?]) -> Int32) -> Int32 {
        bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                // An empty value still needs an address: none means null.
                send(
                    offsets.map { offset in
                        offset.flatMap { start in characters.baseAddress.map { $0 + start } }
                    }
                )
            }
        }
    }

    private func append(_ value: SQLValue, as type: Oid, _ index: Int) throws(StorageError) {
        switch (value, type) {
        case (.null, _):
            offsets.append(nil)
            lengths.append(0)
            formats.append(1)
        case (.integer(let number), PostgresType.int8):
            append(isBinary: true) { bytes in
                withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
            }
        case (.integer(let number), _) where type != PostgresType.bytes:
            append(isBinary: false) { $0.append(contentsOf: String(number).utf8) }
        case (.text(let text), _) where type != PostgresType.bytes:
            append(isBinary: type == PostgresType.text) { $0.append(contentsOf: text.utf8) }
        case (.blob(let blob), PostgresType.bytes):
            append(isBinary: true) { $0.append(contentsOf: blob) }
        default:
            throw StorageError(
                .typeMismatch,
                "parameter \(index + 1) is \(value.typeName); PostgreSQL wants its type \(type)"
            )
        }
    }

    private func append(isBinary: Bool, _ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        offsets.append(start)
        lengths.append(Int32(bytes.count - start))
        formats.append(isBinary ? 1 : 0)
        // libpq reads text up to a null, and an empty value needs an address.
        bytes.append(0)
    }
}
