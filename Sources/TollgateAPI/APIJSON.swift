import Foundation

/// How bodies become bytes: sorted keys, so that equal values are equal bytes.
public enum APIJSON {
    /// A fresh encoder: sorted keys, slashes not escaped.
    public static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// A fresh decoder; unknown keys are ignored, so a server may be newer than its client.
    public static func decoder() -> JSONDecoder { JSONDecoder() }

    /// The bytes of `value`.
    public static func encode(_ value: some Encodable) throws -> Data {
        try encoder().encode(value)
    }

    /// The value in `data`, or a `DecodingError`.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
    {
        try decoder().decode(type, from: data)
    }
}
