internal import CZlib

/// Unpacks gzip (RFC 1952) with zlib.
///
/// Reports come as gzip files, whatever `Content-Encoding` says, so no HTTP client unpacks them.
/// What it writes is bounded: a small file may not become a large one without end.
package enum Inflate {
    /// What is wrong with the bytes.
    package enum Failure: Error, Hashable, CustomStringConvertible {
        case notGzip
        case truncated
        case invalid
        case tooLarge
        case checksum

        package var description: String {
            switch self {
            case .notGzip: "it is not packed with gzip"
            case .truncated: "it ends too early"
            case .invalid: "it cannot be unpacked"
            case .tooLarge: "it is too large unpacked"
            case .checksum: "its checksum is wrong"
            }
        }
    }

    /// The contents of a gzip file, all its members one after another.
    ///
    /// - Parameter limit: the most bytes that it may have.
    package static func gunzip(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        guard let size = UInt32(exactly: bytes.count) else { throw .tooLarge }
        // zlib remembers where its state is, so that stays in one place.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        // Beside the size of the window, 16 stands for gzip and nothing else.
        let begun = inflateInit2_(
            stream,
            MAX_WBITS + 16,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        guard begun == Z_OK else { throw .invalid }
        defer { inflateEnd(stream) }
        return try bytes.withUnsafeBufferPointer { (input) throws(Failure) in
            // zlib reads there, and writes nothing.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = size
            return try contents(stream, limit)
        }
    }

    private static func contents(_ stream: UnsafeMutablePointer<z_stream>, _ limit: Int)
        throws(Failure) -> [UInt8]
    {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let result = buffer.withUnsafeMutableBufferPointer { room in
                stream.pointee.next_out = room.baseAddress
                stream.pointee.avail_out = UInt32(room.count)
                return inflate(stream, Z_NO_FLUSH)
            }
            let count = buffer.count - Int(stream.pointee.avail_out)
            guard count <= limit - output.count else { throw .tooLarge }
            output += buffer[..<count]
            switch result {
            case Z_OK: continue
            case Z_STREAM_END where stream.pointee.avail_in == 0: return output
            case Z_STREAM_END:
                guard inflateReset(stream) == Z_OK else { throw .invalid }
            case Z_BUF_ERROR: throw .truncated
            default: throw failure(stream.pointee.msg.map { String(cString: $0) } ?? "")
            }
        }
    }

    /// The failure that a message of zlib's names.
    private static func failure(_ message: String) -> Failure {
        switch message {
        case "incorrect header check", "unknown compression method", "unknown header flags set",
            "header crc mismatch":
            .notGzip
        case "incorrect data check", "incorrect length check": .checksum
        default: .invalid
        }
    }
}
