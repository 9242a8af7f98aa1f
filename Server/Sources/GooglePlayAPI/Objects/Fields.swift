import StrictJSON

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
            (1...12).contains(month), day >= 1, day <= lastDay(of: month, in: year), hour < 24,
            minute < 60, second <= 60
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
        let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
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
        // The civil day of a number of days, with years that begin in March.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ value: Int64, _ count: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        let date =
            "\(padded(year, 4))-\(padded(month, 2))-"
            + padded(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, 2)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }
        return "\(date)T\(clock.joined(separator: ":")).\(padded(rest % 1000, 3))Z"
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// UNIX seconds of an HTTP date (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func seconds(ofHTTPDate text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = months.firstIndex(of: parts[2])
        else { return nil }
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts[3])-\(padded(month + 1))-\(parts[1])T\(parts[4])Z"
        return milliseconds(of: date).map { $0 / 1000 }
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years begin in March, so that the leap day is the last one.
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func lastDay(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
