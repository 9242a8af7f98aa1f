internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import TollgateService

extension HTTPFields {
    /// Whether the client holds the answer with this weak entity tag, so that 304 will do
    /// (`If-None-Match`, RFC 9110 §13.1.2).
    func showTag(_ tag: String) -> Bool {
        guard let shown = self[.ifNoneMatch] else { return false }
        // What nearly everybody shows: the tag as it was sent.
        if shown == tag { return true }
        let opaque = Self.opaque(tag[...])
        // No tag of ours has a comma, so one of somebody else's that has may be cut in two.
        return shown.split(separator: ",").contains { part in
            let part = part.trimmingSpaces
            return part == "*" || Self.opaque(part) == opaque
        }
    }

    /// The comparison is the weak one (§8.8.3.2): what stands before the quotes does not count.
    private static func opaque(_ tag: Substring) -> Substring {
        tag.utf8.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let rest = drop(while: isSpace)
        guard let last = rest.lastIndex(where: { !isSpace($0) }) else { return "" }
        return rest[...last]
    }
}

extension Response {
    /// The answer, or 304 where the client holds the same.
    ///
    /// What is not sent is not signed either.
    static func entitlements(
        _ answer: EntitlementAnswer,
        to fields: HTTPFields
    ) throws -> Response {
        guard fields.showTag(answer.tag) else {
            var response = Response.json(ByteBuffer(bytes: try answer.json()))
            response.headers[.eTag] = answer.tag
            return response
        }
        var response = Response(status: .notModified, headers: .ofNotModified)
        response.headers[.eTag] = answer.tag
        // A length would be that of the answer that is not sent (§8.6).
        response.headers[.contentLength] = nil
        return response
    }
}

extension HTTPFields {
    /// Of every 304, beside its tag (§15.4.5).
    static let ofNotModified: HTTPFields = [
        .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
    ]
}
