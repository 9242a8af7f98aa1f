// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Hummingbird
internal import Tracing

/// Measures each request as a span, with method, route and status; nothing of what was sent.
///
/// Hummingbird's own middleware keeps paths and queries, which hold ids of people and the portal's secrets.
struct RequestSpans: RouterMiddleware {
    typealias Context = ServerRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var caller = ServiceContext.current ?? .topLevel
        InstrumentationSystem.instrument.extract(
            request.headers,
            into: &caller,
            using: FromFields()
        )
        let method = request.method.rawValue
        return try await withSpan(method, context: caller, ofKind: .server) { span in
            let response = try await next(request, context)
            // Without a route, Hummingbird names one of its own.
            let route = response.status == .notFound ? nil : context.endpointPath
            if let route { span.operationName = "\(method) \(route)" }
            span.updateAttributes { attributes in
                attributes["http.request.method"] = method
                attributes["http.route"] = route
                attributes["http.response.status_code"] = Int(response.status.code)
            }
            if response.status.code >= 500 { span.setStatus(.init(code: .error)) }
            return response
        }
    }

    private struct FromFields: Extractor {
        func extract(key: String, from fields: HTTPFields) -> String? {
            HTTPField.Name(key).flatMap { fields[$0] }
        }
    }
}
