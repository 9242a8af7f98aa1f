import Foundation

/// Letters that are not what they seem.
enum Forgery {
    /// What a letter is called by its store: a notification's UUID, an event's id.
    static func name(of letter: SimulatedServer.Letter) -> String {
        switch letter {
        case .notification(let payload):
            (object(in: payload)?["notificationUUID"] as? String ?? "").lowercased()
        case .event(let body, _):
            firstMember(of: body)
                ?? ((try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any])?[
                    "id"
                ]
                as? String ?? ""
        case .hint(let body):
            ((try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any])
                .flatMap { $0["message"] as? [String: Any] }?["messageId"] as? String ?? ""
        }
    }

    /// The id, where it stands first, as in what the simulator writes; to parse all of it takes time.
    private static func firstMember(of body: String) -> String? {
        let parts = body.split(separator: "\"", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "{", parts[1] == "id", parts[2] == ":" else {
            return nil
        }
        return String(parts[3])
    }

    /// The same with a signature that is wrong in one place.
    static func damaged(_ letter: SimulatedServer.Letter) -> SimulatedServer.Letter {
        switch letter {
        case .notification(let payload):
            var characters = Array(payload)
            let index = max(0, characters.count - 20)
            characters[index] = characters[index] == "A" ? "B" : "A"
            return .notification(String(characters))
        case .event(let body, let signature):
            let last = signature.last == "0" ? "1" : "0"
            return .event(body: body, signature: signature.dropLast() + last)
        // What is pushed is not signed.
        case .hint: return letter
        }
    }

    /// The words of a notification under another name, said at another time.
    static func words(of payload: String, signedAt instant: Int64) -> Data? {
        guard var object = object(in: payload) else { return nil }
        let name = object["notificationUUID"] as? String ?? ""
        object["notificationUUID"] = "ffffffff" + name.dropFirst(8)
        object["signedDate"] = instant
        return try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    }

    /// The same words under the other signature that is as good: n − s in the place of s.
    static func twin(of payload: String) -> String? {
        let parts = payload.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = decode(String(parts[2])), signature.count == 64
        else { return nil }
        let bytes = Array(signature)
        var twin = Array(bytes[..<32])
        var result = [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            var difference = Int(order[index]) - Int(bytes[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            if difference < 0 { difference += 256 }
            result[index] = UInt8(difference)
        }
        twin += result
        let text = Data(twin).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        return "\(parts[0]).\(parts[1]).\(text)"
    }

    /// The order of P-256's base point.
    ///
    /// FIPS 186-5, D.1.2.3.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
        0x25, 0x51,
    ]

    /// Of a signed transaction.
    static func originalTransactionID(in payload: String) -> String? {
        object(in: payload)?["originalTransactionId"] as? String
    }

    /// The original transaction id of a notification's purchase.
    static func originalTransactionID(ofNotification payload: String) -> String? {
        let data = object(in: payload)?["data"] as? [String: Any]
        return (data?["signedTransactionInfo"] as? String).flatMap(originalTransactionID(in:))
    }

    private static func object(in payload: String) -> [String: Any]? {
        let parts = payload.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let words = decode(String(parts[1])) else { return nil }
        return (try? JSONSerialization.jsonObject(with: words)) as? [String: Any]
    }

    private static func decode(_ base64URL: String) -> Data? {
        var text = base64URL.utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(text))
    }
}
