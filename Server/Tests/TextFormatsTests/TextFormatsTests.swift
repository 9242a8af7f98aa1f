import Foundation
import Testing

@testable import TextFormats

@Suite("Days, HTTP dates and comma-separated values")
struct TextFormatsTests {
    @Test("Base64 is written as Foundation writes it, and read again", arguments: 0..<200)
    func base64(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
        let standard = Data(bytes).base64EncodedString()
        let url = standard.replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
        #expect(Base64.encodeURL(bytes) == url)
        #expect(Array(url.utf8).withUnsafeBytes { Base64.decodeURL($0) } == bytes)
        #expect(Array(standard.utf8).withUnsafeBytes { Base64.decode($0) } == bytes)
    }

    @Test(
        "What no encoder writes is no Base64",
        arguments: ["A", "QR", "QUJ", "QQ==", "Q+", "Q/", "Q Q", "QQ\n", "ÄÖ", "QUJD="]
    )
    func noBase64URL(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { Base64.decodeURL($0) } == nil)
    }

    @Test(
        "What no encoder writes is no padded Base64",
        arguments: ["QQ", "QQ=", "QR==", "QUJ=", "Q===", "====", "QQ==QQ==", "Q-==", "Q_=="]
    )
    func noBase64(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { Base64.decode($0) } == nil)
    }

    @Test("Four centuries of days are numbered one by one, and read again")
    func calendarDays() {
        var day = CalendarDay(daysSince1970: -135_140)
        #expect(day.description == "1600-01-01")
        var wrong: [Int64] = []
        for number in Int64(-135_139)...10_957 {
            let next = CalendarDay(daysSince1970: number)
            let following = CalendarDay(year: day.year, month: day.month, day: day.day + 1)
            let follows = next.day == 1 ? following == nil : following == next
            if !follows || next.daysSince1970 != number { wrong.append(number) }
            day = next
        }
        #expect(wrong == [])
        #expect(day.description == "2000-01-01")
    }

    static let noDays: [(Int64, Int64, Int64)] = [
        (2026, 2, 29), (2100, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 0, 1), (2026, 1, 0),
        (10_000, 1, 1), (-1, 1, 1), (.max, .max, .max), (.min, .min, .min),
    ]

    @Test("What is no day is none", arguments: noDays)
    func noDay(year: Int64, month: Int64, day: Int64) {
        #expect(CalendarDay(year: year, month: month, day: day) == nil)
    }

    @Test(
        "An HTTP date is written as it is read",
        arguments: [
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] as [(Int64, String)]
    )
    func httpDates(seconds: Int64, text: String) {
        #expect(HTTPDate.text(of: seconds) == text)
        #expect(HTTPDate.seconds(of: text) == seconds)
    }

    @Test(
        "Another form, another day of the week and an impossible time are no HTTP date",
        arguments: [
            "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:60 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT", "GMT", "",
        ]
    )
    func noHTTPDate(text: String) {
        #expect(HTTPDate.seconds(of: text) == nil)
    }

    struct File: CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var rows: [[String]]
        var lines: [Int]
        var isUnclosed = false
    }

    static let files = [
        File(testDescription: "nothing", text: "", rows: [], lines: []),
        File(
            testDescription: "ends of lines of every system, and none at the end",
            text: "a,b\r\nc\rd\n\ne,",
            rows: [["a", "b"], ["c"], ["d"], [""], ["e", ""]],
            lines: [1, 2, 3, 4, 5]
        ),
        File(
            testDescription: "quotes around commas, quotes and ends of lines",
            text: "\"a,\"\"b\"\"\",\"c\nd\"\ne\n",
            rows: [["a,\"b\"", "c\nd"], ["e"]],
            lines: [1, 3]
        ),
        File(
            testDescription: "a byte order mark, and an accent upon a quote",
            text: "\u{FEFF}\"é\",\"b\u{301}\"\n",
            rows: [["é", "b\u{301}"]],
            lines: [1]
        ),
        File(
            testDescription: "a quote that nothing closes",
            text: "a,\"b\nc",
            rows: [["a", "b\nc"]],
            lines: [1],
            isUnclosed: true
        ),
    ]

    @Test("Comma-separated values", arguments: files)
    func separatedValues(_ file: File) {
        var reader = SeparatedValues(file.text.utf8)
        var (rows, lines): ([[String]], [Int]) = ([], [])
        while let row = reader.next() {
            rows.append(row)
            lines.append(reader.line)
        }
        #expect(rows == file.rows)
        #expect(lines == file.lines)
        #expect(reader.isUnclosed == file.isUnclosed)
    }
}
