import Foundation

/// Base64 as Google's services write it: both alphabets of RFC 4648, with padding or without.
enum Base64Text {
    /// The bytes; `nil` for a text that is not base64.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var plain = ""
        plain.reserveCapacity(text.utf8.count + 3)
        for character in text.unicodeScalars {
            switch character {
            case "-": plain.unicodeScalars.append("+")
            case "_": plain.unicodeScalars.append("/")
            default: plain.unicodeScalars.append(character)
            }
        }
        while plain.hasSuffix("=") { plain.removeLast() }
        plain += String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return Data(base64Encoded: plain).map { [UInt8]($0) }
    }
}
