import ArgumentParser
import Foundation
import TollgateCore

/// A folder of copies, named by their time: `tollgate-20261126T042000Z.sqlite`.
struct BackupFolder: Sendable {
    let path: String

    /// The file of a copy that is made at `instant`.
    func file(at instant: Instant) -> String {
        let time = instant.description.filter { $0 != "-" && $0 != ":" }
        return path + "/tollgate-\(time).sqlite"
    }

    /// The copies that are whole, newest first; a file of any other name is somebody's own.
    func copies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path)
            .filter(Self.isCopy)
            .sorted(by: >)
            .map { path + "/" + $0 }
    }

    private static func isCopy(_ name: String) -> Bool {
        let form = "tollgate-00000000T000000Z.sqlite".utf8
        return name.utf8.count == form.count
            && zip(name.utf8, form).allSatisfy { byte, wanted in
                wanted == UInt8(ascii: "0")
                    ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
            }
    }

    /// Keeps a copy whose proof failed under another name, in place of the one before it.
    func setAside(_ file: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        for name in names where name.hasPrefix("tollgate-") && name.hasSuffix(".sqlite.unproven") {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
        try FileManager.default.moveItem(atPath: file, toPath: file + ".unproven")
    }

    /// When the newest copy was made; `nil`: there is none.
    func newest() throws -> Date? {
        guard let file = try copies().first else { return nil }
        return try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
    }

    /// Removes all but the newest `count` copies.
    ///
    /// - Returns: the files that are gone.
    func keep(newest count: Int) throws -> [String] {
        let old = Array(try copies().dropFirst(count))
        for file in old { try FileManager.default.removeItem(atPath: file) }
        return old
    }

    /// Makes the folder, for its owner only, if it is missing; removes what a copy left that was ended a
    /// day ago or earlier.
    func make() throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name.hasPrefix("tollgate-") && name.hasSuffix(".sqlite.part") {
            let file = path + "/" + name
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            guard let written = attributes[.modificationDate] as? Date,
                written.timeIntervalSinceNow < -86_400
            else { continue }
            try FileManager.default.removeItem(atPath: file)
        }
    }
}

/// A span of time on the command line: `90s`, `30m`, `1h`, `1d`.
struct TimeSpan: Sendable {
    var duration: Duration

    /// - Throws: a usage error for anything else, and for none.
    init(_ text: String, option: String) throws {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...100_000).contains(count)
        else {
            throw ValidationError("\(option): '\(text)' is no span of time like 30m, 1h or 1d.")
        }
        duration = .seconds(count * unit)
    }
}
