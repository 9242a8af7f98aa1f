internal import Foundation
internal import TollgateAPI

extension API.EntitlementList {
    /// The same JSON that `APIJSON` writes, with sorted keys, in a tenth of the time: this is what
    /// most requests ask for.
    var jsonBytes: Data {
        var text = "{\"at\":\(at),\"data\":["
        for (index, entitlement) in data.enumerated() {
            if index > 0 { text += "," }
            text += "{\"feature\":"
            text.append(quoted: entitlement.feature)
            text += ",\"ground\":"
            text.append(quoted: entitlement.ground.rawValue)
            text += ",\"id\":"
            text.append(quoted: entitlement.id)
            text += ",\"lookup_key\":"
            text.append(quoted: entitlement.lookupKey)
            text += ",\"purchase\":"
            if let purchase = entitlement.purchase {
                text.append(quoted: purchase)
            } else {
                text += "null"
            }
            text += ",\"since\":\(entitlement.since),\"until\":"
            text += entitlement.until.map { "\($0)" } ?? "null"
            text += "}"
        }
        text += "],\"environment\":"
        text.append(quoted: environment.rawValue)
        if let signedAnswer {
            text += ",\"signed_answer\":"
            text.append(quoted: signedAnswer)
        }
        text += "}"
        return Data(text.utf8)
    }
}

extension String {
    /// Appends `value` as a JSON string (RFC 8259 §7).
    fileprivate mutating func append(quoted value: String) {
        append("\"")
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
            append(value)
        } else {
            for scalar in value.unicodeScalars {
                switch scalar {
                case "\"": append("\\\"")
                case "\\": append("\\\\")
                case "\n": append("\\n")
                case "\r": append("\\r")
                case "\t": append("\\t")
                case _ where scalar.value < 0x20:
                    let digits = String(scalar.value, radix: 16)
                    append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
                default: unicodeScalars.append(scalar)
                }
            }
        }
        append("\"")
    }
}
