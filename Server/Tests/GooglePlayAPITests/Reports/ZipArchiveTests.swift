import Foundation
import Testing

@testable import GooglePlayAPI

@Suite("zip")
struct ZipArchiveTests {
    /// Made with Python's zipfile: `hello.csv`, stored and deflated.
    static let files = [
        """
        UEsDBBQAAAAAAAAAwVyGphA2BQAAAAUAAAAJAAAAaGVsbG8uY3N2aGVsbG9QSwECFAMUAAAAAAAAAMFchqYQNgUAAAAF\
        AAAACQAAAAAAAAAAAAAAgAEAAAAAaGVsbG8uY3N2UEsFBgAAAAABAAEANwAAACwAAAAAAA==
        """,
        """
        UEsDBBQAAAAIAAAAwVyGphA2BwAAAAUAAAAJAAAAaGVsbG8uY3N2y0jNyckHAFBLAQIUAxQAAAAIAAAAwVyGphA2BwAA\
        AAUAAAAJAAAAAAAAAAAAAACAAQAAAABoZWxsby5jc3ZQSwUGAAAAAAEAAQA3AAAALgAAAAAA
        """,
    ]

    /// The same program: a folder, a file of sixty lines with codes of its own, an empty file.
    static let several = """
        UEsDBBQAAAAIAAAAwVwAAAAAAgAAAAAAAAAHAAAAZm9sZGVyLwMAUEsDBBQAAAAIAAAAwVyZR4zXAgEA\
        ANwCAAAFAAAAYS5jc3ZN0jtuAzEMBNDep8gBWIh/8jgutjDguEvOHwUSueoGC0F8Gu7n+X3B7/P9cz3e\
        r8/1NWCs4IkJuDKaKtDORAS8shkNkH0+hEBXlogA29/dFHyfFzOIlTMRcl/J4oA1V1kA9+BUUcA92Tla\
        h4Nbp5SF09DRuEwtHKdJ4cxn3jjlCd24DOHCIWrhjEgbF6jZOE30xqUOK1wc1QmqtY5ISkeIVjqJ+Zit\
        Yw47qpPSed7VcSYVT0Oyeaw8mudjLqR4xh7d3Xx18egoL1mxeJjZmxUbvVg3LN1cspUuWAtHdndHeNhM\
        771SIrctxuCjOu+9Hn9dHNWZzTNSg3uvEVQ0+2f64w9QSwMEFAAAAAgAAADBXAAAAAACAAAAAAAAAAUA\
        AABiLmNzdgMAUEsBAhQDFAAAAAgAAADBXAAAAAACAAAAAAAAAAcAAAAAAAAAAAAAAIABAAAAAGZvbGRl\
        ci9QSwECFAMUAAAACAAAAMFcmUeM1wIBAADcAgAABQAAAAAAAAAAAAAAgAEnAAAAYS5jc3ZQSwECFAMU\
        AAAACAAAAMFcAAAAAAIAAAAAAAAABQAAAAAAAAAAAAAAgAFMAQAAYi5jc3ZQSwUGAAAAAAMAAwCbAAAA\
        cQEAAAAA
        """

    /// 300,000 zeros in 415 bytes.
    static let bomb = """
        UEsDBBQAAAAIAAAAwVz74rL2MwEAAOCTBAAFAAAAemVyb3PtwQENAAAAwqD3T20PBxQ\
        \(String(repeating: "A", count: 386))\
        PwYUEsBAhQDFAAAAAgAAADBXPvisvYzAQAA4JMEAAUAAAAAAAAAAAAAAIABAAAAAHplcm9zUEsFBgAAAAABAAEAMwAAAFYBAAAAAA==
        """

    /// Packed with LZMA.
    static let lzma = """
        UEsDBD8AAgAOAAAAwVyGphA2GAAAAAUAAAAJAAAAaGVsbG8uY3N2CQQFAF0AAIAAADQZSe6OaCH///+54AAAUEsBAj8D\
        PwACAA4AAADBXIamEDYYAAAABQAAAAkAAAAAAAAAAAAAAIABAAAAAGhlbGxvLmNzdlBLBQYAAAAAAQABADcAAAA/AAAA\
        AAA=
        """

    private func bytes(_ base64: String) throws -> [UInt8] {
        Array(try #require(Data(base64Encoded: base64)))
    }

    @Test("What other programs packed is unpacked, with a comment behind it too", arguments: files)
    func known(_ base64: String) throws {
        let file = try bytes(base64)
        let hello = ZipArchive.File(name: "hello.csv", contents: Array("hello".utf8))
        #expect(try ZipArchive.files(file, limit: 5) == [hello])
        var commented = file
        let comment = Array("PK\u{5}\u{6} is no end".utf8)
        commented[file.count - 2] = UInt8(comment.count)
        #expect(try ZipArchive.files(commented + comment, limit: 5) == [hello])
    }

    @Test("Several files are read, and folders are passed over")
    func severalFiles() throws {
        let lines = (0..<60).map { "line \($0 * $0 * 7919 % 10_007),\($0 % 13)\n" }
        let files = try ZipArchive.files(try bytes(Self.several), limit: 1000)
        #expect(files.map(\.name) == ["a.csv", "b.csv"])
        #expect(files[0].contents == Array(("name,value\n" + lines.joined()).utf8))
        #expect(files[1].contents.isEmpty)
    }

    @Test("Nothing that is cut or damaged does harm", arguments: files + [several])
    func hostile(_ base64: String) throws {
        let file = try bytes(base64)
        let whole = try ZipArchive.files(file, limit: 10_000).map(\.contents)
        for length in 0..<file.count {
            #expect(throws: length < 4 ? ZipArchive.Failure.notZip : .truncated) {
                try ZipArchive.files(Array(file[..<length]), limit: 10_000)
            }
        }
        for index in file.indices {
            for bit in 0..<8 {
                var damaged = file
                damaged[index] ^= 1 << UInt8(bit)
                // Names, dates and some other bits may change; no content does unnoticed.
                guard let read = try? ZipArchive.files(damaged, limit: 10_000) else { continue }
                #expect(
                    read.map(\.contents).allSatisfy(whole.contains),
                    "byte \(index), bit \(bit)"
                )
            }
        }
    }

    @Test("A small file does not become a large one, and not by saying that it is small")
    func bombs() throws {
        var file = try bytes(Self.bomb)
        #expect(try ZipArchive.files(file, limit: 300_000).first?.contents.count == 300_000)
        #expect(throws: ZipArchive.Failure.tooLarge) {
            try ZipArchive.files(file, limit: 299_999)
        }
        // The directory's size of the content, which is in place 24 of its only entry.
        let entry = try #require(file.firstRange(of: [0x50, 0x4B, 0x01, 0x02])?.lowerBound)
        file.replaceSubrange((entry + 24)..<(entry + 28), with: [10, 0, 0, 0])
        #expect(throws: ZipArchive.Failure.invalid) {
            try ZipArchive.files(file, limit: 299_999)
        }
    }

    @Test("What is not read here is named")
    func unsupported() throws {
        #expect(throws: ZipArchive.Failure.unsupported("compression method 14")) {
            try ZipArchive.files(try bytes(Self.lzma), limit: 1000)
        }
        var encrypted = try bytes(Self.files[0])
        let entry = try #require(encrypted.firstRange(of: [0x50, 0x4B, 0x01, 0x02])?.lowerBound)
        encrypted[entry + 8] |= 1
        #expect(throws: ZipArchive.Failure.unsupported("encryption")) {
            try ZipArchive.files(encrypted, limit: 1000)
        }
        #expect(throws: ZipArchive.Failure.notZip) {
            try ZipArchive.files(Array("Order Number,Order Charged Date".utf8), limit: 1000)
        }
    }
}
