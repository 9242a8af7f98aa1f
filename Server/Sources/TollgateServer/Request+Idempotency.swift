internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import TollgateAPI
internal import TollgateService

extension Request {
    /// Answers a write, once if it carries an `Idempotency-Key`.
    ///
    /// - Parameters:
    ///   - credentials: whose key it is; a visitor has no name, and two must not share an answer, so
    ///     theirs is not kept.
    ///   - body: of the request, already read.
    ///   - status: of the answer `answer` gives.
    func once(
        _ tollgate: Tollgate,
        _ credentials: Credentials,
        _ body: [UInt8],
        _ answer: () async throws -> (status: HTTPResponse.Status, body: Data)
    ) async throws -> Response {
        guard let key = idempotencyKey, let caller = credentials.caller else {
            let fresh = try await answer()
            return Response.json(bytes: fresh.body, status: fresh.status)
        }
        let kept = try await tollgate.once(
            key,
            caller: caller,
            path: "\(method.rawValue) \(uri.path)?\(uri.query ?? "")",
            body: body
        ) {
            let fresh = try await answer()
            return KeptReply(status: fresh.status.code, body: Array(fresh.body))
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

extension Credentials {
    /// Under which name this caller's idempotency keys are kept; `nil` for a visitor.
    var caller: String? {
        switch self {
        case .secret(nil): "secret"
        case .secret(let key?): "key:\(key.id)"
        case .publishable(let session?), .session(let session): "customer:\(session.customer)"
        case .publishable(nil): nil
        }
    }
}
