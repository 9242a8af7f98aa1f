import Foundation

/// A zip archive with one file in it, stored as it is.
enum ZipFile {
    /// - Parameter instant: the file's date.
    static func containing(_ bytes: Data, named name: String, at instant: Int64) -> Data {
        let crc = crc32(bytes)
        let date = CivilDate(containing: instant)
        // The format counts seven bits of years from 1980.
        let year = min(127, max(0, date.year - 1980))
        let dosDate = UInt16(year << 9 | date.month << 5 | date.day)
        let names = Data(name.utf8)
        var common = Data()
        common.append(little: UInt16(20))  // version
        common.append(little: UInt16(0x0800))  // names are UTF-8
        common.append(little: UInt16(0))  // stored
        common.append(little: UInt16(0))  // midnight
        common.append(little: dosDate)
        common.append(little: crc)
        common.append(little: UInt32(bytes.count))
        common.append(little: UInt32(bytes.count))
        common.append(little: UInt16(names.count))
        common.append(little: UInt16(0))

        var file = Data()
        file.append(little: UInt32(0x0403_4B50))
        file.append(common)
        file.append(names)
        file.append(bytes)
        let directory = file.count
        file.append(little: UInt32(0x0201_4B50))
        file.append(little: UInt16(20))
        file.append(common)
        file.append(Data(repeating: 0, count: 14))  // comment, disk, attributes, offset
        file.append(names)
        let size = file.count - directory
        file.append(little: UInt32(0x0605_4B50))
        file.append(little: UInt32(0))
        file.append(little: UInt16(1))
        file.append(little: UInt16(1))
        file.append(little: UInt32(size))
        file.append(little: UInt32(directory))
        file.append(little: UInt16(0))
        return file
    }

    static func crc32(_ bytes: Data) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return crc ^ 0xFFFF_FFFF
    }
}

extension Data {
    fileprivate mutating func append<Number: FixedWidthInteger>(little number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

/// Rows with the names of their columns, as CSV.
struct CSVTable {
    var columns: [String]
    var rows: [[String]] = []

    var text: String {
        ([columns] + rows).map { $0.map(Self.field).joined(separator: ",") }
            .joined(separator: "\n") + "\n"
    }

    /// The same without some columns.
    func without(_ names: Set<String>) -> CSVTable {
        let places = columns.indices.filter { !names.contains(columns[$0]) }
        return CSVTable(
            columns: places.map { columns[$0] },
            rows: rows.map { row in places.map { row[$0] } }
        )
    }

    /// The same with its columns from the last to the first.
    var reversed: CSVTable {
        CSVTable(columns: columns.reversed(), rows: rows.map { $0.reversed() })
    }

    /// UTF-16, least significant byte first, with its mark.
    var utf16: Data {
        var bytes = Data([0xFF, 0xFE])
        for unit in text.utf16 { bytes.append(little: unit) }
        return bytes
    }

    private static func field(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"\(text.replacingOccurrences(of: "\"", with: "\"\""))\""
    }
}
