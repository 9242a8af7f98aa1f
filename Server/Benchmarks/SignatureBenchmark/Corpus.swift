import Foundation

/// Requests from a corpus file: "TGCORP1\n", the count (UInt64), then per record the lengths of
/// target, head and body (UInt32, little endian) and these three strings.
struct Corpus {
    /// One request.
    struct Record {
        var head: String
        var body: [UInt8]
    }

    enum Failure: Error {
        case notACorpus(String)
        case truncated(String)
    }

    let records: [Record]

    /// Reads up to `limit` records.
    init(path: String, limit: Int) throws {
        guard let file = FileHandle(forReadingAtPath: path) else { throw Failure.notACorpus(path) }
        defer { try? file.close() }
        guard let start = try file.read(upToCount: 16), start.count == 16,
            start.prefix(8).elementsEqual("TGCORP1\n".utf8)
        else { throw Failure.notACorpus(path) }
        let count = start.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var records: [Record] = []
        for _ in 0..<min(count, UInt64(limit)) {
            let lengths = try Self.bytes(12, of: file, path)
            let target = Self.length(lengths[0..<4])
            let head = Self.length(lengths[4..<8])
            let body = Self.length(lengths[8..<12])
            let text = try Self.bytes(target + head + body, of: file, path)
            records.append(
                Record(
                    head: String(decoding: text[target..<target + head], as: UTF8.self),
                    body: Array(text[(target + head)...])
                )
            )
        }
        self.records = records
    }

    private static func bytes(
        _ count: Int,
        of file: FileHandle,
        _ path: String
    ) throws -> [UInt8] {
        guard count > 0 else { return [] }
        guard let data = try file.read(upToCount: count), data.count == count else {
            throw Failure.truncated(path)
        }
        return [UInt8](data)
    }

    private static func length(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
