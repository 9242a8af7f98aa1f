import Foundation

/// Puts bytes into a gzip file as they are: blocks that are stored, not compressed.
enum GzipFile {
    static func packed(_ contents: Data) -> Data {
        var file = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
        var rest = contents[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            file.append(rest.isEmpty ? 1 : 0)
            append(UInt16(block.count), to: &file)
            append(~UInt16(block.count), to: &file)
            file.append(block)
        } while !rest.isEmpty
        append(checksum(contents), to: &file)
        append(UInt32(truncatingIfNeeded: contents.count), to: &file)
        return file
    }

    private static func append(_ number: some FixedWidthInteger, to file: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { file.append(contentsOf: $0) }
    }

    /// CRC-32, bit by bit: reports are small.
    private static func checksum(_ contents: Data) -> UInt32 {
        var register = UInt32.max
        for byte in contents {
            register ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = register & 1 == 1
                register >>= 1
                if isOdd { register ^= 0xEDB8_8320 }
            }
        }
        return ~register
    }
}
