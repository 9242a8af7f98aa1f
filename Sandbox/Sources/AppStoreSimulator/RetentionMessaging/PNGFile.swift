import Foundation

/// The size of a PNG file, and its transparency: Apple limits both in uploaded images.
struct PNGFile {
    var width: Int
    var height: Int
    /// True where it has neither an alpha channel nor a transparent color.
    var isOpaque: Bool

    /// Reads the chunks up to the end; `nil` where they are not a whole PNG file.
    init?(_ data: Data) {
        let bytes = [UInt8](data)
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else {
            return nil
        }
        var at = 8
        var header: (width: Int, height: Int, colorType: UInt8)?
        var hasPixels = false
        var hasTransparency = false
        while at + 12 <= bytes.count {
            let length = Self.number(bytes[at..<at + 4])
            let type = String(decoding: bytes[at + 4..<at + 8], as: UTF8.self)
            let start = at + 8
            guard length <= bytes.count - start - 4 else { return nil }
            switch type {
            case "IHDR":
                guard at == 8, length == 13 else { return nil }
                header = (
                    Self.number(bytes[start..<start + 4]),
                    Self.number(bytes[start + 4..<start + 8]), bytes[start + 9]
                )
            case "tRNS": hasTransparency = true
            case "IDAT": hasPixels = true
            case "IEND":
                guard let header, hasPixels else { return nil }
                width = header.width
                height = header.height
                isOpaque = !hasTransparency && header.colorType != 4 && header.colorType != 6
                return
            default: break
            }
            at = start + length + 4
        }
        return nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
