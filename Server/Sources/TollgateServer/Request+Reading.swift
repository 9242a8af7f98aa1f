internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

extension Request {
    /// The exact bytes of the body.
    ///
    /// - Throws: 413 where there are more than `limit`; a refusal 400 `malformed_body` where the client
    ///   breaks off.
    func bytes(upTo limit: Int) async throws -> [UInt8] {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw HTTPError(.contentTooLarge)
        }
        do {
            return Array(try await body.collect(upTo: limit).readableBytesView)
        } catch is RequestPace.RequestBrokenOff {
            throw Refusal.brokenBody
        }
    }

    /// The body as JSON of this shape.
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        try StrictBody.decode(type, from: try await bytes(upTo: 256 << 10))
    }

    /// The same where the body may be left out.
    func jsonIfAny<Value: Decodable>(_ type: Value.Type) async throws -> Value? {
        let bytes = try await bytes(upTo: 256 << 10)
        return bytes.isEmpty ? nil : try StrictBody.decode(type, from: bytes)
    }

    /// A query parameter in milliseconds.
    func instant(_ name: String) throws -> Instant? {
        guard uri.query != nil, let text = uri.queryParameters[Substring(name)] else { return nil }
        guard let value = Int64(text) else {
            throw Refusal.invalid(name, "\(name) is a time in UNIX milliseconds.")
        }
        return Instant(milliseconds: value)
    }

    /// `?environment=production|sandbox`, where the caller wants another than the default.
    func environment() throws -> StoreEnvironment? {
        guard uri.query != nil, let text = uri.queryParameters["environment"] else { return nil }
        guard let environment = StoreEnvironment(rawValue: text.lowercased()) else {
            throw Refusal.invalid("environment", "environment is 'production' or 'sandbox'.")
        }
        return environment
    }

    /// A query parameter as text.
    func parameter(_ name: String) -> String? {
        guard uri.query != nil else { return nil }
        return uri.queryParameters[Substring(name)].map { String($0) }
    }

    /// How long a page of a list is to be.
    func limit() throws -> Int64 {
        guard let text = parameter(APIQuery.limit) else { return 10 }
        guard let number = Int64(text) else {
            throw Refusal.invalid(APIQuery.limit, "limit is between 1 and 100.")
        }
        return number
    }

    var isForm: Bool {
        headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    }
}
