internal import Foundation
internal import TollgateAPI

/// What was received, made readable: signed strings are opened, JSON is laid out.
///
/// It was verified when it came in; here it is only shown.
enum Evidence {
    /// More than this is cut off.
    private static let longest = 60_000

    static func readable(_ bytes: [UInt8]) -> String {
        let text = text(of: bytes, depth: 0) ?? String(decoding: bytes, as: UTF8.self)
        return text.count > longest ? "\(text.prefix(longest))…" : text
    }

    private static func text(of bytes: [UInt8], depth: Int) -> String? {
        if let value = opened(String(decoding: bytes, as: UTF8.self), depth: depth) {
            return laidOut(value)
        }
        guard
            let value = try? JSONSerialization.jsonObject(
                with: Data(bytes),
                options: .fragmentsAllowed
            )
        else { return nil }
        return laidOut(walked(value, depth: depth))
    }

    private static func laidOut(_ value: Any) -> String? {
        guard
            let data = try? JSONSerialization.data(
                withJSONObject: value,
                options: [
                    .prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed,
                ]
            )
        else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The payload of a signed string; `nil` for anything else.
    private static func opened(_ text: String, depth: Int) -> Any? {
        guard depth < 4, text.utf8.count > 40 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])),
            let value = try? JSONSerialization.jsonObject(with: Data(payload)),
            value is [String: Any]
        else { return nil }
        return walked(value, depth: depth + 1)
    }

    /// The object in the data of a Pub/Sub message; `nil` for anything else.
    private static func decoded(_ value: Any) -> Any? {
        guard let text = value as? String, let bytes = Data(base64Encoded: text),
            let object = try? JSONSerialization.jsonObject(with: bytes), object is [String: Any]
        else { return nil }
        return object
    }

    private static func walked(_ value: Any, depth: Int) -> Any {
        switch value {
        case let object as [String: Any]:
            Dictionary(
                uniqueKeysWithValues: object.map { key, value in
                    (key, (key == "data" ? decoded(value) : nil) ?? walked(value, depth: depth))
                }
            )
        case let list as [Any]: list.map { walked($0, depth: depth) }
        case let text as String: opened(text, depth: depth) ?? text
        default: value
        }
    }
}
