import Foundation
import StrictJSON

/// Reads the documented fields of one payload.
///
/// `null` counts as absent.
///
/// Every date is checked against a range here, before anything computes with it.
struct Fields {
    /// UNIX milliseconds from 1970 to 2200.
    static let dates: ClosedRange<Int64> = 0...7_258_118_400_000

    let json: JSON

    /// The fields of an object.
    init(_ json: JSON, _ name: StaticString) throws(AppStore.VerificationError) {
        guard json.kind == .object else { throw Self.wrongType(name) }
        self.json = json
    }

    func string(_ name: StaticString) throws(AppStore.VerificationError) -> String? {
        guard let field = field(name) else { return nil }
        guard let value = field.string else { throw Self.wrongType(name) }
        return value
    }

    func int64(_ name: StaticString) throws(AppStore.VerificationError) -> Int64? {
        guard let field = field(name) else { return nil }
        guard let value = field.int64 else { throw Self.wrongType(name) }
        return value
    }

    func int(_ name: StaticString) throws(AppStore.VerificationError) -> Int? {
        guard let field = field(name) else { return nil }
        guard let value = field.int else { throw Self.wrongType(name) }
        return value
    }

    func bool(_ name: StaticString) throws(AppStore.VerificationError) -> Bool? {
        guard let field = field(name) else { return nil }
        guard let value = field.bool else { throw Self.wrongType(name) }
        return value
    }

    /// UNIX milliseconds.
    func date(_ name: StaticString) throws(AppStore.VerificationError) -> Int64? {
        guard let field = field(name) else { return nil }
        guard let value = field.int64, Self.dates.contains(value) else {
            throw AppStore.VerificationError(.dateRange, at: "\(name)")
        }
        return value
    }

    func uuid(_ name: StaticString) throws(AppStore.VerificationError) -> UUID? {
        guard let field = field(name) else { return nil }
        guard let value = field.withUTF8(Self.uuid) ?? nil else { throw Self.wrongType(name) }
        return value
    }

    /// Reads 8-4-4-4-12 hexadecimal digits of either case.
    ///
    /// Foundation's initializer goes through `sscanf`, which costs more than all other fields.
    private static func uuid(_ text: UnsafeRawBufferPointer) -> UUID? {
        guard text.count == 36 else { return nil }
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &bytes) { bytes in
            var at = 0
            for place in 0..<16 {
                if place == 4 || place == 6 || place == 8 || place == 10 {
                    guard text[at] == UInt8(ascii: "-") else { return false }
                    at += 1
                }
                guard let high = digit(text[at]), let low = digit(text[at + 1]) else {
                    return false
                }
                bytes[place] = high << 4 | low
                at += 2
            }
            return true
        }
        return isValid ? UUID(uuid: bytes) : nil
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    func strings(_ name: StaticString) throws(AppStore.VerificationError) -> [String]? {
        guard let field = field(name) else { return nil }
        guard field.kind == .array else { throw Self.wrongType(name) }
        var values: [String] = []
        for element in field.elements {
            guard let value = element.string else { throw Self.wrongType(name) }
            values.append(value)
        }
        return values
    }

    func object(_ name: StaticString) throws(AppStore.VerificationError) -> Fields? {
        guard let field = field(name) else { return nil }
        return try Fields(field, name)
    }

    /// A string that an answer is useless without.
    func required(_ name: StaticString) throws(AppStore.VerificationError) -> String {
        guard let value = try string(name) else {
            throw AppStore.VerificationError(.fieldMissing, at: "\(name)")
        }
        return value
    }

    /// The objects of an array; none if it is absent.
    func objects<Value>(
        _ name: StaticString,
        _ read: (Fields) throws(AppStore.VerificationError) -> Value
    ) throws(AppStore.VerificationError) -> [Value] {
        guard let field = field(name) else { return [] }
        guard field.kind == .array else { throw Self.wrongType(name) }
        var values: [Value] = []
        for element in field.elements { values.append(try read(try Fields(element, name))) }
        return values
    }

    /// An open enumeration over strings.
    func value<Value: RawRepresentable<String>>(
        _ name: StaticString,
        _: Value.Type = Value.self
    ) throws(AppStore.VerificationError) -> Value? {
        guard let text = try string(name) else { return nil }
        return Value(rawValue: text)
    }

    /// An open enumeration over integers.
    func value<Value: RawRepresentable<Int>>(
        _ name: StaticString,
        _: Value.Type = Value.self
    ) throws(AppStore.VerificationError) -> Value? {
        guard let number = try int(name) else { return nil }
        return Value(rawValue: number)
    }

    /// A field as it is.
    func field(_ name: StaticString) -> JSON? {
        guard let field = json[name], !field.isNull else { return nil }
        return field
    }

    static func wrongType(_ name: StaticString) -> AppStore.VerificationError {
        AppStore.VerificationError(.fieldType, at: "\(name)")
    }
}
