internal import CZlib

/// Reads zip files: what their central directory lists, stored or deflated
/// (APPNOTE.TXT, https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT).
///
/// Neither encryption nor zip64 nor several disks: no report comes so. All contents together are bounded,
/// also where entries share their bytes.
enum ZipArchive {
    /// One file of an archive.
    struct File: Hashable, Sendable {
        var name: String
        var contents: [UInt8]
    }

    /// A reason for which bytes cannot be read as an archive.
    enum Failure: Error, Hashable, CustomStringConvertible {
        case notZip
        case truncated
        case invalid
        /// Encryption, zip64, several disks, another way of packing.
        case unsupported(String)
        case tooLarge
        case checksum(String)

        var description: String {
            switch self {
            case .notZip: "it is no zip file"
            case .truncated: "the zip file ends too early"
            case .invalid: "the zip file cannot be read"
            case .unsupported(let what): "the zip file uses \(what), which is not read here"
            case .tooLarge: "the zip file is too large unpacked"
            case .checksum(let name): "the checksum of ‘\(name)’ in the zip file is wrong"
            }
        }
    }

    /// The most files of one archive.
    private static let mostFiles = 256

    /// Returns `true` if bytes begin as a zip file does.
    static func recognizes(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0x50, 0x4B, 0x03, 0x04])
            || bytes.starts(with: [0x50, 0x4B, 0x05, 0x06])
    }

    /// The files of an archive, in the order of its directory; folders are left out.
    ///
    /// - Parameter limit: the most bytes that all contents may have together.
    static func files(_ bytes: [UInt8], limit: Int) throws(Failure) -> [File] {
        guard let end = end(of: bytes) else {
            throw recognizes(bytes) ? .truncated : .notZip
        }
        let count = try bytes.number(end + 10, 2)
        let offset = try bytes.number(end + 16, 4)
        guard try bytes.number(end + 4, 2) == 0, try bytes.number(end + 6, 2) == 0,
            try bytes.number(end + 8, 2) == count
        else { throw .unsupported("several disks") }
        guard count != 0xFFFF, offset != 0xFFFF_FFFF else { throw .unsupported("zip64") }
        guard count <= mostFiles else { throw .tooLarge }
        var place = offset
        var left = limit
        var files: [File] = []
        for _ in 0..<count {
            let entry = try Entry(bytes, at: place)
            place = entry.end
            guard !entry.name.hasSuffix("/") else { continue }
            let contents = try entry.contents(in: bytes, limit: left)
            left -= contents.count
            files.append(File(name: entry.name, contents: contents))
        }
        return files
    }

    /// The offset of the end-of-central-directory record: the last one whose comment ends with the file.
    private static func end(of bytes: [UInt8]) -> Int? {
        let shortest = 22
        guard bytes.count >= shortest else { return nil }
        let last = bytes.count - shortest
        for place in stride(from: last, through: max(0, last - 0xFFFF), by: -1)
        where bytes[place] == 0x50 && bytes[place + 1] == 0x4B && bytes[place + 2] == 0x05
            && bytes[place + 3] == 0x06
            && Int(bytes[place + 20]) | Int(bytes[place + 21]) << 8 == last - place
        {
            return place
        }
        return nil
    }
}

/// One file's entry in the central directory.
private struct Entry {
    var name: String
    /// The offset of the next entry.
    var end: Int
    private var method: Int
    private var checksum: UInt32
    private var packed: Int
    private var size: Int
    private var header: Int

    init(_ bytes: [UInt8], at place: Int) throws(ZipArchive.Failure) {
        guard try bytes.number(place, 4) == 0x0201_4B50 else { throw .invalid }
        guard try bytes.number(place + 8, 2) & 1 == 0 else { throw .unsupported("encryption") }
        method = try bytes.number(place + 10, 2)
        checksum = UInt32(truncatingIfNeeded: try bytes.number(place + 16, 4))
        packed = try bytes.number(place + 20, 4)
        size = try bytes.number(place + 24, 4)
        let nameLength = try bytes.number(place + 28, 2)
        let extra = try bytes.number(place + 30, 2)
        let comment = try bytes.number(place + 32, 2)
        header = try bytes.number(place + 42, 4)
        guard packed != 0xFFFF_FFFF, size != 0xFFFF_FFFF, header != 0xFFFF_FFFF else {
            throw .unsupported("zip64")
        }
        name = String(decoding: try bytes.part(place + 46, nameLength), as: UTF8.self)
        end = place + 46 + nameLength + extra + comment
    }

    func contents(in bytes: [UInt8], limit: Int) throws(ZipArchive.Failure) -> [UInt8] {
        guard size <= limit else { throw .tooLarge }
        guard try bytes.number(header, 4) == 0x0403_4B50 else { throw .invalid }
        let begin =
            header + 30 + (try bytes.number(header + 26, 2))
            + (try bytes.number(header + 28, 2))
        let part = try bytes.part(begin, packed)
        let contents: [UInt8]
        switch method {
        case 0: contents = Array(part)
        case 8:
            contents = try Self.inflated(part, size)
        default: throw .unsupported("compression method \(method)")
        }
        guard contents.count == size else { throw .invalid }
        guard Self.checksum(contents) == checksum else { throw .checksum(name) }
        return contents
    }

    /// Inflates bytes (RFC 1951) of which the directory says how many they become, so that they become no
    /// more.
    private static func inflated(
        _ bytes: ArraySlice<UInt8>,
        _ size: Int
    ) throws(ZipArchive.Failure) -> [UInt8] {
        guard let given = UInt32(exactly: bytes.count), let wanted = UInt32(exactly: size + 1)
        else {
            throw .tooLarge
        }
        // Deflate makes at most 1,032 bytes of one, so what says more is no reason to make room.
        guard size <= bytes.count * 1_032 + 64 else { throw .invalid }
        // zlib remembers where its state is, so that stays in one place.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        // A negative size of the window stands for bytes without a header.
        let begun = inflateInit2_(
            stream,
            -MAX_WBITS,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        guard begun == Z_OK else { throw .invalid }
        defer { inflateEnd(stream) }
        // One byte of room shows what is longer than it says.
        var output = [UInt8](repeating: 0, count: size + 1)
        let result = bytes.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { room in
                // zlib reads there, and writes nothing.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = given
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = wanted
                return inflate(stream, Z_FINISH)
            }
        }
        guard result == Z_STREAM_END, stream.pointee.avail_in == 0, stream.pointee.avail_out == 1
        else { throw .invalid }
        output.removeLast()
        return output
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { bytes in
            UInt32(truncatingIfNeeded: crc32(0, bytes.baseAddress, UInt32(bytes.count)))
        }
    }
}

extension [UInt8] {
    /// A number, its least significant byte first.
    fileprivate func number(_ place: Int, _ count: Int) throws(ZipArchive.Failure) -> Int {
        try part(place, count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    fileprivate func part(_ place: Int, _ count: Int) throws(ZipArchive.Failure) -> ArraySlice<
        UInt8
    > {
        guard place >= 0, count >= 0, place <= self.count, count <= self.count - place else {
            throw .truncated
        }
        return self[place..<(place + count)]
    }
}
