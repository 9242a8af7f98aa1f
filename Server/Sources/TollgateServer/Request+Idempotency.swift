internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// An answer to a write.
struct WriteAnswer {
    var status: HTTPResponse.Status
    var body: Data
    /// Whom it is about; `nil`: nobody, or the customer whose session asks.
    var customer: String?

    init(_ value: some Encodable, status: HTTPResponse.Status = .ok, about customer: String? = nil)
        throws
    {
        self.status = status
        body = try APIJSON.encode(value)
        self.customer = customer
    }
}

extension APICall {
    /// Answers a write, once if it carries an `Idempotency-Key`.
    ///
    /// A visitor has no name, and two must not share an answer, so theirs is not kept.
    ///
    /// - Throws: a refusal 400 `parameter_invalid` for a key that is none.
    func once(
        upTo limit: Int = 256 << 10,
        _ answer: ([UInt8]) async throws -> WriteAnswer
    ) async throws -> Response {
        let body = try await request.bytes(upTo: limit)
        guard let key = try request.idempotencyKey, let owner = credentials.replyOwner else {
            let fresh = try await answer(body)
            return Response.json(bytes: fresh.body, status: fresh.status)
        }
        let kept = try await tollgate.replies.once(
            key,
            by: owner,
            path: "\(request.method.rawValue) \(request.uri.path)?\(request.uri.query ?? "")",
            body: body
        ) {
            let fresh = try await answer(body)
            return KeptReply(
                status: fresh.status.code,
                body: Array(fresh.body),
                customer: fresh.customer.map { Customer.ID($0) }
            )
        }
        var response = Response.json(
            bytes: Data(kept.body),
            status: HTTPResponse.Status(code: kept.status)
        )
        if kept.isReplay, let name = HTTPField.Name("Idempotent-Replayed") {
            response.headers[name] = "true"
        }
        return response
    }
}

extension Request {
    /// The `Idempotency-Key`; `nil` where there is none.
    ///
    /// - Throws: a refusal 400 `parameter_invalid` for one that is empty or longer than 255 bytes:
    ///   ignored, it would let a retry do a thing twice.
    var idempotencyKey: String? {
        get throws {
            guard let name = HTTPField.Name(APIHeader.idempotencyKey), let key = headers[name]
            else { return nil }
            guard (1...255).contains(key.utf8.count) else {
                throw Refusal.invalid(
                    APIHeader.idempotencyKey,
                    "This Idempotency-Key has \(key.utf8.count) bytes; use 1 to 255."
                )
            }
            return key
        }
    }
}

extension Credentials {
    /// Under which name this caller's idempotency keys are kept; `nil` for a visitor.
    var replyOwner: ReplyOwner? {
        switch self {
        case .secret(nil): .backend
        case .secret(let key?): .key(key.id)
        case .publishable(let session?), .session(let session): .customer(session.customer)
        case .publishable(nil): nil
        }
    }
}
