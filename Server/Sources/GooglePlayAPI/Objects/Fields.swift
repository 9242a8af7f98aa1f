import StrictJSON
import TextFormats

/// The fields of one JSON object of Google's, read one by one; every error names the field.
///
/// Google leaves out what is empty, zero or false, so absent and `null` are the same. Sixty-four bit
/// integers are decimal strings, but some examples show numbers: both are read.
struct Fields {
    let json: JSON
    let object: String

    init(_ json: JSON, _ object: String) throws(GooglePlay.DecodingError) {
        guard json.kind == .object else {
            throw GooglePlay.DecodingError(object: object, field: "", expected: "an object")
        }
        self.json = json
        self.object = object
    }

    func error(_ field: StaticString, _ expected: String) -> GooglePlay.DecodingError {
        GooglePlay.DecodingError(object: object, field: "\(field)", expected: expected)
    }

    private func value(_ field: StaticString) -> JSON? {
        guard let value = json[field], !value.isNull else { return nil }
        return value
    }

    /// Returns `true` if the field is there: some of Google's objects are empty and mean something.
    func has(_ field: StaticString) -> Bool { value(field) != nil }

    // MARK: - Scalars

    func optionalString(_ field: StaticString) throws(GooglePlay.DecodingError) -> String? {
        guard let value = value(field) else { return nil }
        guard let string = value.string else { throw error(field, "a string") }
        return string.isEmpty ? nil : string
    }

    func string(_ field: StaticString) throws(GooglePlay.DecodingError) -> String {
        guard let string = try optionalString(field) else { throw error(field, "a string") }
        return string
    }

    func bool(_ field: StaticString) throws(GooglePlay.DecodingError) -> Bool {
        guard let value = value(field) else { return false }
        guard let bool = value.bool else { throw error(field, "true or false") }
        return bool
    }

    func optionalInteger(_ field: StaticString) throws(GooglePlay.DecodingError) -> Int64? {
        guard let value = value(field) else { return nil }
        guard let integer = value.int64 ?? value.string.flatMap({ Int64($0) }) else {
            throw error(field, "a whole number")
        }
        return integer
    }

    func word<Word: GooglePlay.OpenEnum>(
        _ field: StaticString
    ) throws(GooglePlay.DecodingError) -> Word? {
        try optionalString(field).flatMap { Word(rawValue: $0) }
    }

    /// The milliseconds of a timestamp in RFC 3339.
    func optionalTime(_ field: StaticString) throws(GooglePlay.DecodingError) -> Int64? {
        guard let text = try optionalString(field) else { return nil }
        guard let time = Timestamp.milliseconds(of: text) else {
            throw error(field, "a timestamp in RFC 3339")
        }
        return time
    }

    // MARK: - Objects

    /// The object of this field, read by `read`; `nil` where the field is absent.
    func optional<Value>(
        _ field: StaticString,
        _ read: (Fields) throws(GooglePlay.DecodingError) -> Value
    ) throws(GooglePlay.DecodingError) -> Value? {
        guard let value = value(field) else { return nil }
        return try read(try Fields(value, "\(object).\(field)"))
    }

    /// The objects of a list, each read by `read`; empty where the field is absent.
    func list<Value>(
        _ field: StaticString,
        _ read: (Fields) throws(GooglePlay.DecodingError) -> Value
    ) throws(GooglePlay.DecodingError) -> [Value] {
        guard let value = value(field) else { return [] }
        guard value.kind == .array else { throw error(field, "a list") }
        var values: [Value] = []
        for element in value.elements {
            values.append(try read(try Fields(element, "\(object).\(field)")))
        }
        return values
    }

    func money(_ field: StaticString) throws(GooglePlay.DecodingError) -> GooglePlay.Money? {
        try optional(field) { fields throws(GooglePlay.DecodingError) in
            try GooglePlay.Money(fields)
        }
    }
}

/// Timestamps as Google writes them: RFC 3339 in UTC, with up to nine digits of a second.
enum Timestamp {
    /// UNIX milliseconds, rounded down; `nil` if the text is in another form or names no instant.
    static func milliseconds(of text: String) -> Int64? {
        let bytes = Array(text.utf8)
        func number(_ from: Int, _ count: Int) -> Int64? {
            guard from + count <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[from..<from + count] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        func has(_ character: Character, at index: Int) -> Bool {
            index < bytes.count && bytes[index] == character.asciiValue
        }
        guard let year = number(0, 4), has("-", at: 4), let month = number(5, 2), has("-", at: 7),
            let day = number(8, 2), has("T", at: 10), let hour = number(11, 2), has(":", at: 13),
            let minute = number(14, 2), has(":", at: 16), let second = number(17, 2),
            let date = CalendarDay(year: year, month: month, day: day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var end = 19
        var fraction: Int64 = 0
        if has(".", at: end) {
            end += 1
            var digits: Int64 = 0
            while let digit = number(end, 1) {
                if digits < 3 { fraction = fraction * 10 + digit }
                digits += 1
                end += 1
            }
            guard (1...9).contains(digits) else { return nil }
            while digits < 3 {
                fraction *= 10
                digits += 1
            }
        }
        guard has("Z", at: end), end + 1 == bytes.count else { return nil }
        let seconds = ((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
        return seconds * 1000 + fraction
    }

    /// A timestamp of `milliseconds`, as Google's requests take it.
    static func text(of milliseconds: Int64) -> String {
        var day = milliseconds / 86_400_000
        var rest = milliseconds % 86_400_000
        if rest < 0 {
            rest += 86_400_000
            day -= 1
        }
        let date = CalendarDay(daysSince1970: day)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60]
            .map { $0.padded(to: 2) }.joined(separator: ":")
        return "\(date)T\(clock).\((rest % 1000).padded(to: 3))Z"
    }
}
