import StrictJSON
import Testing

@Suite struct ValueTests {
    @Test func membersAreFoundByName() throws {
        let json = try JSON(
            Array("{\"data\":{\"status\":1,\"list\":[1,\"two\",{\"x\":3}]},\"n\":null}".utf8)
        )
        #expect(json["data"]?["status"]?.int64 == 1)
        #expect(json["data"]?["missing"] == nil)
        #expect(json["status"] == nil)
        #expect(json["n"]?.isNull == true)
        #expect(json["data"]?["list"]?.elements.map(\.kind) == [.number, .string, .object])
        #expect(json.members.map(\.name) == ["data", "n"])
        #expect(json[named: "data"]?.count == 2)
        #expect(json["n"]?["x"] == nil)
        #expect(json["data"]?["list"]?["x"] == nil)
        #expect(json["n"].map { Array($0.elements).isEmpty } == true)
    }

    @Test func escapedNamesAndStringsAreUnescaped() throws {
        let json = try JSON(
            Array("{\"\\u0061\\n\":\"\\u00e9\\\\\\uD83D\\uDE00/\\t\",\"b\":1}".utf8)
        )
        #expect(json["a\n"]?.string == "é\\😀/\t")
        #expect(json["a\n"]?.utf8 == Array("é\\😀/\t".utf8))
        #expect(json["a\n"]?.isString("é\\😀/\t") == true)
        #expect(json["b"]?.int == 1)
        #expect(Array(json.members).first?.name == "a\n")
    }

    @Test(arguments: [
        ("0", 0), ("-0", 0), ("-1", -1), ("9223372036854775807", Int64.max),
        ("-9223372036854775808", Int64.min), ("9223372036854775808", nil),
        ("-9223372036854775809", nil), ("18446744073709551616", nil),
        ("99999999999999999999", nil), ("1.0", nil), ("1e3", nil), ("true", nil), ("\"1\"", nil),
    ])
    func integersAreExactOrAbsent(_ text: String, _ expected: Int64?) throws {
        #expect(try JSON(Array(text.utf8)).int64 == expected)
    }

    @Test func numbersKeepTheirText() throws {
        let json = try JSON(Array("[1.10, -0.0, 1E+2, 179769313486231580000e300]".utf8))
        #expect(
            json.elements.map(\.number) == ["1.10", "-0.0", "1E+2", "179769313486231580000e300"]
        )
        #expect(json.elements.map(\.double) == [1.1, -0.0, 100, nil])
    }

    @Test func rawBytesAreThoseOfTheText() throws {
        let text = "{ \"a\" : [ 1, \"x\\u0041\" ] , \"b\" : \"\\n\" }"
        let json = try JSON(Array(" \(text)\n".utf8))
        #expect(String(decoding: json.rawBytes, as: UTF8.self) == text)
        #expect(
            json["a"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == "[ 1, \"x\\u0041\" ]"
        )
        #expect(json["b"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == "\"\\n\"")
    }

    @Test func aDescriptionShowsNoContent() throws {
        let json = try JSON(Array("{\"secret\":\"whsec\"}".utf8))
        #expect(!"\(json) \(String(reflecting: json))".contains("sec"))
    }
}
