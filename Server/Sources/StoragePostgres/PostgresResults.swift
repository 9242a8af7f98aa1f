internal import CLibPQ
internal import Foundation
internal import Storage

/// What libpq's `result` says became of a command.
func postgresOutcome(_ result: OpaquePointer) -> PostgresSession.Outcome {
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK:
        do throws(StorageError) {
            return .done(try rows(result), affected: affected(result), tag: tag(result))
        } catch {
            return .failed(error)
        }
    case PGRES_COMMAND_OK:
        let count = PQnparams(result)
        if count > 0 { return .described((0..<count).map { PQparamtype(result, $0) }) }
        let tag = tag(result)
        // Neither Parse nor Describe has a tag; a statement without parameters is described too.
        return tag.isEmpty ? .described([]) : .done([], affected: affected(result), tag: tag)
    case PGRES_EMPTY_QUERY: return .failed(StorageError(.other, "an empty statement"))
    case PGRES_PIPELINE_ABORTED: return .skipped
    default: return .failed(storageError(result))
    }
}

private func tag(_ result: OpaquePointer) -> String {
    PQcmdStatus(result).map { String(cString: $0) } ?? ""
}

private func affected(_ result: OpaquePointer) -> Int {
    PQcmdTuples(result).map { atol($0) } ?? 0
}

private func rows(_ result: OpaquePointer) throws(StorageError) -> [Row] {
    let columns = PQnfields(result)
    let types = (0..<columns).map { PQftype(result, $0) }
    var rows: [Row] = []
    rows.reserveCapacity(Int(PQntuples(result)))
    for row in 0..<PQntuples(result) {
        var values: [SQLValue] = []
        values.reserveCapacity(Int(columns))
        for column in 0..<columns {
            if PQgetisnull(result, row, column) == 1 {
                values.append(.null)
                continue
            }
            let bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(result, row, column),
                count: Int(PQgetlength(result, row, column))
            )
            values.append(try value(bytes, types[Int(column)]))
        }
        rows.append(Row(values))
    }
    return rows
}

private func value(_ bytes: UnsafeRawBufferPointer, _ type: Oid) throws(StorageError) -> SQLValue {
    switch type {
    case PostgresType.int8: return .integer(integer(bytes, Int64.self))
    case PostgresType.int4: return .integer(Int64(integer(bytes, Int32.self)))
    case PostgresType.int2: return .integer(Int64(integer(bytes, Int16.self)))
    case PostgresType.bool: return .integer(bytes.first == 0 ? 0 : 1)
    case PostgresType.bytes: return .blob([UInt8](bytes))
    case PostgresType.text, PostgresType.varchar, PostgresType.name, PostgresType.character,
        PostgresType.unknown:
        return .text(String(decoding: bytes, as: UTF8.self))
    case PostgresType.numeric: return .integer(try wholeNumber(bytes))
    case PostgresType.void: return .null
    default: throw StorageError(.typeMismatch, "a column of PostgreSQL's type \(type)")
    }
}

private func integer<I: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, _: I.Type) -> I {
    guard bytes.count == MemoryLayout<I>.size else { return 0 }
    return I(bigEndian: bytes.loadUnaligned(as: I.self))
}

/// A `numeric` that is a whole number, as sums of bigint are: digits to the base 10,000, the first
/// worth 10,000 to the power of `weight`.
private func wholeNumber(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> Int64 {
    let words = stride(from: 0, to: bytes.count - 1, by: 2).map { offset in
        Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self))
    }
    let mismatch = StorageError(.typeMismatch, "a number that is no 64-bit integer")
    guard words.count >= 4, words.count == 4 + Int(words[0]) else { throw mismatch }
    let weight = Int(words[1])
    let isNegative = words[2] == 0x4000
    guard isNegative || words[2] == 0, weight < 5 else { throw mismatch }
    var number: Int64 = 0
    for place in 0..<max(weight + 1, Int(words[0])) {
        let digit = place < Int(words[0]) ? Int64(words[4 + place]) : 0
        guard place <= weight else {
            if digit != 0 { throw mismatch }
            continue
        }
        let (shifted, isTooLarge) = number.multipliedReportingOverflow(by: 10_000)
        let (sum, overflows) =
            isNegative
            ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
        guard !isTooLarge, !overflows else { throw mismatch }
        number = sum
    }
    return number
}

/// A failed result as our error: code and primary message.
///
/// The detail is left out, it has values.
private func storageError(_ result: OpaquePointer) -> StorageError {
    func field(_ letter: Unicode.Scalar) -> String? {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
    }
    // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY, macros that Swift cannot import.
    guard let code = field("C") else {
        return StorageError(.unavailable, String(cString: PQresultErrorMessage(result)))
    }
    // Class 22 quotes the value that it cannot read.
    let message = code.hasPrefix("22") ? "a value that the statement cannot take" : field("M") ?? ""
    return StorageError(kind(ofSQLState: code), message, code: code)
}

private func kind(ofSQLState code: String) -> StorageError.Kind {
    switch code {
    case "40001", "40P01", "55P03": .contention
    case "23505": .uniqueViolation
    case "53100": .diskFull
    case "25006": .readOnly
    case "XX001", "XX002": .corrupt
    case "42804", "42883": .typeMismatch
    default:
        switch code.prefix(2) {
        case "08", "53", "57", "58": .unavailable
        case "23": .constraintViolation
        case "22": .typeMismatch
        default: .other
        }
    }
}
