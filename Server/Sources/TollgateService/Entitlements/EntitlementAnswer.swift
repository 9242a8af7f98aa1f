internal import Crypto
internal import Storage
internal import StrictJSON
public import TollgateAPI
internal import TollgateCore

/// What a customer may use, before it is signed and sent.
///
/// Who asks again can show the ``tag`` of the answer that they hold: where it is still this one's,
/// nothing has to be written, signed or sent.
public struct EntitlementAnswer: Sendable {
    /// A weak entity tag (RFC 9110 §8.8.3): `W/"…"`.
    ///
    /// It changes whenever the answer says something else, and not with the instant at which it is
    /// given. Where the answer is signed it also changes with the key that signs and once an hour, so
    /// that a device which keeps its answer can go without the server for three days,
    /// less an hour. Different customers never have the same.
    public let tag: String

    private let unsigned: API.EntitlementList
    /// The list's members after `at`, each with a comma before it.
    private let members: [UInt8]
    /// What will be signed; `nil`: the answer carries no token.
    private let claims: AnswerClaims?

    init(_ list: API.EntitlementList, of customer: Customer.ID, signed claims: AnswerClaims?) {
        unsigned = list
        self.claims = claims
        members = Self.members(of: list)
        var text = JSONBytes(capacity: members.count + 256)
        text.add(quoted: customer.rawValue)
        text.add(raw: members)
        claims?.addWhatLasts(to: &text)
        tag = "W/\"\(SHA256.hash(data: text.bytes).prefix(16).hex)\""
    }

    /// The answer as a value, signed if it is to be.
    public func list() throws -> API.EntitlementList {
        var list = unsigned
        list.signedAnswer = try claims.map { String(decoding: try $0.signed(), as: UTF8.self) }
        return list
    }

    /// The bytes that `APIJSON` writes for ``list()``.
    public func json() throws -> [UInt8] {
        let token = try claims?.signed()
        var text = JSONBytes(capacity: members.count + (token?.count ?? 0) + 64)
        text.add("{\"at\":")
        text.add(unsigned.at)
        text.add(raw: members)
        if let token {
            // Letters, digits, `-`, `_` and dots: nothing to escape.
            text.add(",\"signed_answer\":\"")
            text.add(raw: token)
            text.add("\"")
        }
        text.add("}")
        return text.bytes
    }

    private static func members(of list: API.EntitlementList) -> [UInt8] {
        var text = JSONBytes(capacity: 64 + 256 * list.data.count)
        text.add(",\"data\":[")
        for (index, entitlement) in list.data.enumerated() {
            text.add(index > 0 ? ",{\"feature\":" : "{\"feature\":")
            text.add(quoted: entitlement.feature)
            text.add(",\"ground\":")
            text.add(quoted: entitlement.ground.rawValue)
            text.add(",\"id\":")
            text.add(quoted: entitlement.id)
            text.add(",\"lookup_key\":")
            text.add(quoted: entitlement.lookupKey)
            if let offer = entitlement.offer {
                text.add(",\"offer\":")
                text.add(quoted: offer)
            }
            text.add(",\"purchase\":")
            if let purchase = entitlement.purchase {
                text.add(quoted: purchase)
            } else {
                text.add("null")
            }
            text.add(",\"since\":")
            text.add(entitlement.since)
            text.add(",\"until\":")
            if let until = entitlement.until { text.add(until) } else { text.add("null") }
            if let willRenew = entitlement.willRenew {
                text.add(willRenew ? ",\"will_renew\":true" : ",\"will_renew\":false")
            }
            text.add("}")
        }
        text.add("],\"environment\":")
        text.add(quoted: list.environment.rawValue)
        return text.bytes
    }
}
