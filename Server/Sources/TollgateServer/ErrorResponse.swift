internal import Foundation
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import NIOCore
internal import TollgateAPI
internal import TollgateService

/// The one place where an error becomes an HTTP answer: `{"error":{"type","code","message","param"}}`.
public struct ErrorResponse: RouterMiddleware {
    public typealias Context = ServerRequestContext
    let counters: Counters

    public func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let refusal = Self.refusal(error)
            if refusal.status >= 500 {
                context.logger.error(
                    "request failed",
                    metadata: [
                        "method": "\(request.method)", "path": "\(request.uri.path)",
                        "error": "\(error)",
                    ])
            }
            counters.count(
                "tollgate_refusals_total",
                "status=\"\(refusal.status)\",code=\"\(refusal.error.code.rawValue)\"")
            return try Response.json(
                refusal.error, status: HTTPResponse.Status(code: refusal.status))
        }
    }

    private static func refusal(_ error: any Error) -> Refusal {
        guard let error = error as? HTTPError else { return Refusal(telling: error) }
        switch error.status {
        case .notFound:
            return Refusal(
                404, .invalidRequestError, .resourceMissing, "There is nothing at this address.")
        case .contentTooLarge:
            return Refusal(
                413, .invalidRequestError, .bodyTooLarge, "The body is larger than this address takes.")
        default:
            return Refusal(
                error.status.code, .invalidRequestError, .malformedBody,
                error.body ?? error.status.reasonPhrase)
        }
    }
}

extension Response {
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok
    ) throws -> Response {
        json(bytes: try APIJSON.encode(value), status: status)
    }

    static func json(bytes: Data, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(
            status: .ok, headers: [.contentType: type],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
