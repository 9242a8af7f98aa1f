import AppStoreAPI
import CommandOutput
import Foundation

/// The lines of a file, one after the other, however large it is.
struct LineReader {
    private let file: FileHandle?
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private static let chunk = 1 << 16

    init(path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CheckFailed(message: "\(path): cannot be read")
        }
        self.file = file
    }

    /// The lines of a file that may be packed with gzip: then it is unpacked in memory.
    init(unpacking path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CheckFailed(message: "\(path): cannot be read")
        }
        let start = try file.read(upToCount: 2) ?? Data()
        guard start.elementsEqual([0x1F, 0x8B]) else {
            buffer = Array(start)
            self.file = file
            return
        }
        do throws(Inflate.Failure) {
            let rest = (try? file.readToEnd()) ?? Data()
            buffer = try Inflate.gunzip(Array(start) + Array(rest), limit: Self.mostUnpacked)
        } catch {
            throw CheckFailed(
                message: "\(path): \(error). Unpack it with gunzip, and import the CSV file."
            )
        }
        self.file = nil
        isAtEnd = true
    }

    private static let mostUnpacked = 1 << 30

    /// The next line without its end; `nil` after the last one.
    mutating func next() throws -> [UInt8]? {
        while true {
            if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[position..<end])
                position = end + 1
                return line
            }
            guard !isAtEnd else {
                guard position < buffer.count else { return nil }
                let line = Array(buffer[position...])
                position = buffer.count
                return line
            }
            buffer.removeFirst(position)
            position = 0
            let more = try file?.read(upToCount: Self.chunk) ?? Data()
            isAtEnd = more.isEmpty
            buffer += more
        }
    }

    /// A hash of the whole file, by which it is known across runs.
    static func name(ofFile path: String) throws -> String {
        var reader = try LineReader(path: path)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        while let line = try reader.next() {
            // FNV-1a: tells files apart, proves nothing.
            for byte in line + [UInt8(ascii: "\n")] {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        return String(hash, radix: 16)
    }
}
