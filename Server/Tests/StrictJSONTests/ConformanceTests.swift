import StrictJSON
import Testing

/// RFC 8259 row by row, and what we refuse beyond it because parsers disagree.
@Suite struct ConformanceTests {
    static let accepted: [String] = [
        "null", "true", "false", "0", "-0", "1", "-1", "10", "1.5", "-1.50", "1e3", "1E+3",
        "1e-3", "0.1e1", "9223372036854775807", "-9223372036854775808", "1e308", "\"\"",
        "\"a\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0001\"", "\"\\u00e9\"",
        "\"\\uD83D\\uDE00\"", "\"\u{7f}\"", "\"é\"", "\"€\"", "\"😀\"", "\"\u{FFFF}\"",
        "\"\u{10FFFF}\"", "[]", "{}", "[ ]", "{ }", " \t\r\n[ 1 , 2 ]\n", "[[[]]]",
        "{\"a\":1}", "{ \"a\" : { \"a\" : 1 } }", "[{},{}]", "{\"\":0}",
        "{\"a\":1,\"A\":1,\"a \":1}", "[1,null,true,\"x\",{\"y\":[]}]",
    ]

    @Test(arguments: accepted)
    func validTextIsRead(_ text: String) throws {
        _ = try JSON(Array(text.utf8))
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        var text: [UInt8]
        var rule: JSON.Rule
        var testDescription: String {
            "\(rule) \(String(decoding: text.prefix(40), as: UTF8.self))"
        }

        init(_ text: String, _ rule: JSON.Rule) {
            self.text = Array(text.utf8)
            self.rule = rule
        }

        init(bytes: [UInt8], _ rule: JSON.Rule) {
            text = bytes
            self.rule = rule
        }
    }

    static let refused: [Refused] = [
        Refused("", .endOfText), Refused(" ", .endOfText), Refused("[", .endOfText),
        Refused("{", .endOfText), Refused("[1", .endOfText), Refused("[1,", .endOfText),
        Refused("{\"a\"", .endOfText), Refused("{\"a\":", .endOfText),
        Refused("{\"a\":1", .endOfText), Refused("{\"a\":1,", .endOfText),
        Refused("\"abc", .endOfText), Refused("\"a\\", .endOfText), Refused("\"\\u12", .endOfText),
        Refused("tru", .endOfText), Refused("-", .endOfText), Refused("1.", .endOfText),
        Refused("1e", .endOfText), Refused("1e+", .endOfText),
        Refused("]", .unexpectedByte), Refused("[1,]", .unexpectedByte),
        Refused("[,1]", .unexpectedByte), Refused("[1 2]", .unexpectedByte),
        Refused("[1}", .unexpectedByte), Refused("{\"a\" 1}", .unexpectedByte),
        Refused("{\"a\":1,}", .unexpectedByte), Refused("{,}", .unexpectedByte),
        Refused("{1:1}", .unexpectedByte), Refused("{a:1}", .unexpectedByte),
        Refused("{'a':1}", .unexpectedByte), Refused("'a'", .unexpectedByte),
        Refused("True", .unexpectedByte), Refused("nul1", .unexpectedByte),
        Refused("NaN", .unexpectedByte), Refused("Infinity", .unexpectedByte),
        Refused("+1", .unexpectedByte), Refused(".5", .unexpectedByte),
        Refused("// c\n1", .unexpectedByte), Refused("\u{A0}1", .unexpectedByte),
        Refused("1 1", .trailingBytes), Refused("{}{}", .trailingBytes),
        Refused("[]]", .trailingBytes), Refused("1\0", .trailingBytes),
        Refused("truee", .trailingBytes), Refused("1,", .trailingBytes),
        Refused("01", .invalidNumber), Refused("-01", .invalidNumber),
        Refused("00", .invalidNumber), Refused("-a", .invalidNumber),
        Refused("1.x", .invalidNumber), Refused("1ex", .invalidNumber),
        Refused("[-]", .invalidNumber), Refused("[1.]", .invalidNumber),
        Refused("0x10", .trailingBytes), Refused("1_000", .trailingBytes),
        Refused("1e309", .numberOutOfRange), Refused("1e-309", .numberOutOfRange),
        Refused("1e99999999999999999999", .numberOutOfRange),
        Refused(String(repeating: "9", count: 129), .numberOutOfRange),
        Refused("\"a\nb\"", .controlCharacter), Refused("\"\t\"", .controlCharacter),
        Refused("\"\0\"", .controlCharacter), Refused("\"0123456\u{1f}\"", .controlCharacter),
        Refused("\"\\x41\"", .invalidEscape), Refused("\"\\'\"", .invalidEscape),
        Refused("\"\\u12G4\"", .invalidEscape), Refused("\"\\U0041\"", .invalidEscape),
        Refused("\"\\u+123\"", .invalidEscape),
        Refused("\"\\uD800\"", .loneSurrogate), Refused("\"\\uDC00\"", .loneSurrogate),
        Refused("\"\\uD800x\"", .loneSurrogate), Refused("\"\\uD800\\n\"", .loneSurrogate),
        Refused("\"\\uD800\\u0041\"", .loneSurrogate),
        Refused("\"\\uDC00\\uD800\"", .loneSurrogate),
        Refused("\"\\u0000\"", .nullCharacter), Refused("{\"a\\u0000\":1}", .nullCharacter),
        Refused("{\"a\":1,\"a\":2}", .duplicateName),
        Refused("{\"a\":1,\"b\":{},\"a\":1}", .duplicateName),
        Refused("{\"a\":1,\"\\u0061\":2}", .duplicateName),
        Refused("{\"\\u0061\":1,\"a\":2}", .duplicateName),
        Refused("{\"\\/\":1,\"/\":2}", .duplicateName),
        Refused("{\"\":1,\"\":2}", .duplicateName),
        Refused("{\"b\":{\"a\":1,\"a\":2}}", .duplicateName),
        Refused("[{\"transactionId\":1,\"transactionId\":1}]", .duplicateName),
        Refused(bytes: [0xEF, 0xBB, 0xBF, 0x31], .byteOrderMark),
        Refused(bytes: [0xFF, 0xFE, 0x31, 0x00], .unexpectedByte),
        Refused(bytes: [0x31, 0x00], .trailingBytes),
        Refused(bytes: [0x00, 0x31], .unexpectedByte),
        Refused(bytes: [0x22, 0x80, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xC0, 0x80, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xC1, 0xBF, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xC3, 0x22, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xE0, 0x80, 0x80, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xED, 0xA0, 0x80, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xE2, 0x82], .invalidUTF8),
        Refused(bytes: [0x22, 0xF0, 0x80, 0x80, 0x80, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xF0, 0x9F, 0x98, 0x22, 0x22], .invalidUTF8),
        Refused(bytes: [0x22, 0xFF, 0x22], .invalidUTF8),
        Refused(String(repeating: "[", count: 65) + String(repeating: "]", count: 65), .tooDeep),
        Refused(String(repeating: "{\"a\":", count: 65) + "1", .tooDeep),
        Refused(String(repeating: "[", count: 100_000), .tooDeep),
    ]

    @Test(arguments: refused)
    func invalidTextIsRefusedByItsRule(_ row: Refused) {
        let error = #expect(throws: JSON.ParsingError.self) { _ = try JSON(row.text) }
        #expect(error?.rule == row.rule)
    }

    @Test func sixtyFourLevelsAreAllowed() throws {
        let text = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try JSON(Array(text.utf8))
    }

    @Test func everyRuleHasItsSentence() {
        #expect(Set(JSON.Rule.allCases.map(\.sentence)).count == JSON.Rule.allCases.count)
    }

    @Test func anErrorSaysThePlaceAndNothingOfTheText() {
        let error = #expect(throws: JSON.ParsingError.self) {
            _ = try JSON(Array("{\"secret\":1,\"secret\":2}".utf8))
        }
        #expect(error?.offset == 12)
        #expect(error?.description.contains("secret") == false)
    }

    /// Every prefix and every single changed byte of a text ends in a value or an error.
    @Test func noInputEndsTheProcess() {
        let text = Array(
            "{\"a\\u00e9\":[1.5e3,-0,\"é😀\\uD83D\\uDE00\"],\"b\":{\"c\":null,\"d\":true}}".utf8
        )
        for count in 0..<text.count {
            #expect(throws: JSON.ParsingError.self) { _ = try JSON(Array(text[..<count])) }
        }
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                if let json = try? JSON(changed) { touch(json) }
            }
        }
    }

    private func touch(_ json: JSON) {
        _ = (json.string, json.int64, json.double, json.number, json.rawBytes)
        for element in json.elements { touch(element) }
        for member in json.members { touch(member.value) }
    }

    /// Longer than what is compared one by one, with names that share length and both ends.
    @Test(arguments: [10, 63, 64, 65, 66, 5000])
    func aRepetitionIsFoundInAnObjectOfAnySize(_ count: Int) throws {
        let names = (0..<count).map { "prefix__" + String(1_000_000 + $0) + "__middle__suffix" }
        let members = names.map { "\"\($0)\":0" }
        let json = try JSON(Array("{\(members.joined(separator: ","))}".utf8))
        #expect(json.count == count)
        #expect(json[named: names[count / 2]]?.int64 == 0)
        for repeated in [0, count / 2, count - 1] {
            let text = "{\((members + [members[repeated]]).joined(separator: ","))}"
            let error = #expect(throws: JSON.ParsingError.self) { _ = try JSON(Array(text.utf8)) }
            #expect(error?.rule == .duplicateName)
        }
    }
}
