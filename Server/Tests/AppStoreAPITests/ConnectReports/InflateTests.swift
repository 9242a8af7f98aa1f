import Foundation
import Testing
import AppStoreAPI

@Suite("gzip")
struct InflateTests {
    /// Made with Python's zlib: a stored block, and the fixed code.
    static let files = [
        "H4sIAAAAAAAEAwEFAPr/aGVsbG+GphA2BQAAAA==", "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==",
    ]

    /// The same with dynamic codes: a header and sixty lines.
    static let dynamic = [
        "H4sIAAAAAAACA03SO24DMQwE0Jo+RY4g/snjuNjCgOMuOX8USOSqGywE8Wm4n+f3Bb/P98/1eL8+",
        "19eAsYInJuDKaKpAOxMR8MpmNED2+RACXVkiAmx/d1PwfV7MIFbORMh9JYsD1lxlAdyDU0UB92Tn",
        "aB0Obp1SFk5DR+MytXCcJoUzn3njlCd04zKEC4eohTMibVygZuM00RuXOqxwcVQnqNY6IikdIVrp",
        "JOZjto457KhOSud5V8eZVDwNyeax8miej7mQ4hl7dHfz1cWjo7xkxeJhZm9WbPRi3bB0c8lWumAt",
        "HNndHeFhM733SoncthiDj+q893r8dXFUZzbPSA3uvUZQ0eyf6Y8/8yOnX9wCAAA=",
    ].joined()

    private func bytes(_ base64: String) throws -> [UInt8] {
        Array(try #require(Data(base64Encoded: base64)))
    }

    @Test("what other programs packed is unpacked, also one file after another", arguments: files)
    func known(_ base64: String) throws {
        let file = try bytes(base64)
        #expect(try Inflate.gunzip(file, limit: 100) == Array("hello".utf8))
        #expect(try Inflate.gunzip(file + file, limit: 100) == Array("hellohello".utf8))
    }

    @Test("codes of the file's own are read")
    func dynamicCodes() throws {
        let lines = (0..<60).map { "line \($0 * $0 * 7919 % 10_007)\t\($0 % 13)\n" }
        let text = "name\tvalue\n" + lines.joined()
        #expect(
            try Inflate.gunzip(try bytes(Self.dynamic), limit: 10_000) == Array(text.utf8)
        )
        let table = try AppStore.TabularReport(try bytes(Self.dynamic))
        #expect(table.columns == ["name", "value"])
        #expect(table.rows.count == 60)
    }

    @Test("nothing that is cut, damaged or endless does harm", arguments: files + [dynamic])
    func hostile(_ base64: String) throws {
        let file = try bytes(base64)
        let text = try Inflate.gunzip(file, limit: 10_000)
        for length in 0..<file.count {
            #expect(throws: Inflate.Failure.self) {
                try Inflate.gunzip(Array(file[..<length]), limit: 10_000)
            }
        }
        for index in file.indices {
            for bit in 0..<8 {
                var damaged = file
                damaged[index] ^= 1 << UInt8(bit)
                // Some bits of the header mean nothing to us; no other damage goes unnoticed.
                guard let read = try? Inflate.gunzip(damaged, limit: 10_000) else { continue }
                #expect(read == text, "byte \(index), bit \(bit)")
            }
        }
        #expect(throws: Inflate.Failure.tooLarge) {
            try Inflate.gunzip(file, limit: text.count - 1)
        }
    }
}
