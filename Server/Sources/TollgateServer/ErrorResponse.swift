internal import Foundation
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import NIOCore
internal import Stores
internal import TollgateAPI
internal import TollgateService

/// The one place where an error becomes an HTTP answer: `{"error":{"type","code","message","param"}}`.
public struct ErrorResponse: RouterMiddleware {
    public typealias Context = ServerRequestContext
    let counters: Counters
    let allowed: AllowedMethods

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            // Nothing here is unpacked: a small body that becomes a large one is refused unread.
            if request.method != .get,
                let encoding = request.headers[.contentEncoding],
                encoding.lowercased() != "identity"
            {
                throw HTTPError(.unsupportedMediaType)
            }
            return try await next(request, context)
        } catch {
            return try answer(error, to: request, context)
        }
    }

    private func answer(
        _ error: any Error,
        to request: Request,
        _ context: Context
    ) throws -> Response {
        let (refusal, allow) = refusal(error, of: request)
        refusal.note(error, request.head, counters, context.logger)
        // No route: a person who looks around sees a page.
        if refusal.status == 404, error is any HTTPResponseError,
            let page = BrowserPage.answer(to: request)
        {
            return page
        }
        var response = try Response.json(
            refusal.error,
            status: HTTPResponse.Status(code: refusal.status)
        )
        if !allow.isEmpty { response.headers[.allow] = allow.joined(separator: ", ") }
        response.headers.append(contentsOf: refusal.fields)
        return response
    }

    /// What to answer, and for a 405 the methods that would do.
    private func refusal(
        _ error: any Error,
        of request: Request
    ) -> (refusal: Refusal, allow: [String]) {
        // The framework's own: no route, a body that is too large, a broken request.
        guard let status = (error as? any HTTPResponseError)?.status else {
            return (Refusal(telling: error), [])
        }
        switch status {
        case .notFound:
            let allow = allowed.methods(at: request.uri.path)
            guard !allow.isEmpty else {
                return (Refusal.notFound(.resourceMissing, "There is nothing at this address."), [])
            }
            return (
                Refusal(
                    405,
                    .methodNotAllowed,
                    "This address takes \(allow.joined(separator: ", "))."
                ), allow
            )
        case .contentTooLarge:
            return (
                Refusal(413, .bodyTooLarge, "The body is larger than this address accepts."), []
            )
        case .unsupportedMediaType:
            return (
                Refusal(
                    415,
                    "unsupported_media_type",
                    "Send the body as it is, without Content-Encoding."
                ), []
            )
        default:
            return (
                Refusal(
                    status.code,
                    status.code < 500 ? .invalidRequestError : .apiError,
                    status.code < 500 ? .malformedBody : .internalError,
                    status.reasonPhrase
                ), []
            )
        }
    }
}

extension Refusal {
    /// Counts it, and logs what went wrong here.
    func note(_ error: any Error, _ request: HTTPRequest, _ counters: Counters, _ logger: Logger) {
        if status >= 500, !Self.unlogged.contains(self.error.code.rawValue) {
            let path = request.path.map { $0.prefix { $0 != "?" } } ?? ""
            logger.error(
                "request failed",
                metadata: ["method": "\(request.method)", "path": "\(path)", "error": "\(error)"]
            )
        }
        count(counters)
    }

    func count(_ counters: Counters) {
        counters.count(
            "tollgate_refusals_total",
            "status=\"\(status)\",code=\"\(error.code.rawValue)\""
        )
    }

    /// What anybody can bring about as often as they like is counted, but writes nothing into our
    /// log; that our clock is behind (`jws_date`) is said once a minute, elsewhere.
    private static let unlogged: Set<String> = ["chain_budget", "jws_date"]

    /// What its answer says beside the error.
    var fields: HTTPFields {
        var fields = HTTPFields()
        if let retryAfter { fields[.retryAfter] = "\(retryAfter)" }
        if status == 401 { fields[.wwwAuthenticate] = "Bearer" }
        return fields
    }
}

extension Response {
    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        json(bytes: try APIJSON.encode(value), status: status)
    }

    static func json(bytes: Data, status: HTTPResponse.Status = .ok) -> Response {
        json(ByteBuffer(bytes: bytes), status: status)
    }

    static func json(_ buffer: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, headers: jsonHeaders, body: .init(byteBuffer: buffer))
    }

    /// The same for every answer, so they are put together once.
    private static let jsonHeaders: HTTPFields = [
        .contentType: "application/json", .cacheControl: "no-store",
        .xContentTypeOptions: "nosniff",
    ]

    static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }
}
