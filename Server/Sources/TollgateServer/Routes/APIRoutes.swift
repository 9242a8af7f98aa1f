// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// The addresses of the API: each knows by the key who asks, before it does anything.
struct APIRoutes {
    let router: Router<ServerRequestContext>
    let tollgate: Tollgate

    /// Who may ask.
    enum Caller {
        case anyKey
        case secretKey
        /// A publishable key, or a session.
        case device
        /// A signed-in customer.
        case session
    }

    /// An address that answers in JSON.
    func on<Reply: Encodable & SendableMetatype>(
        _ method: HTTPRequest.Method,
        _ path: APIPath,
        by caller: Caller = .anyKey,
        status: HTTPResponse.Status = .ok,
        _ reply: @escaping @Sendable (APICall) async throws -> Reply
    ) {
        answer(method, path, by: caller) {
            try Response.json(try await reply($0), status: status)
        }
    }

    /// An address that takes a write, once if it carries an `Idempotency-Key`.
    ///
    /// - Parameter empty: what an empty body means; `nil`: nothing.
    func write<Wanted: Decodable & Sendable>(
        _ path: APIPath,
        by caller: Caller = .anyKey,
        upTo limit: Int = 256 << 10,
        ifEmpty empty: Wanted? = nil,
        _ answer: @escaping @Sendable (APICall, Wanted) async throws -> WriteAnswer
    ) {
        self.answer(.post, path, by: caller) { call in
            try await call.once(upTo: limit) { body in
                if body.isEmpty, let empty { return try await answer(call, empty) }
                return try await answer(call, try StrictBody.decode(Wanted.self, from: body))
            }
        }
    }

    /// An address that answers in its own way.
    func answer(
        _ method: HTTPRequest.Method,
        _ path: APIPath,
        by caller: Caller = .anyKey,
        _ answer: @escaping @Sendable (APICall) async throws -> Response
    ) {
        router.on(path.route, method: method) { [tollgate] request, context in
            let credentials = try await Credentials(request, tollgate)
            switch caller {
            case .anyKey: break
            case .secretKey: try credentials.requireSecret()
            case .device: try credentials.refuseSecret()
            case .session: _ = try credentials.requireSession()
            }
            return try await answer(
                APICall(
                    request: request,
                    context: context,
                    credentials: credentials,
                    tollgate: tollgate
                )
            )
        }
    }
}

/// A request to the API, and who makes it.
struct APICall: Sendable {
    let request: Request
    let context: ServerRequestContext
    let credentials: Credentials
    let tollgate: Tollgate

    /// The `{id}` of the path.
    var id: String { get throws { try context.id } }

    /// - Throws: 401 `no_session_present`.
    var session: CustomerSession { get throws { try credentials.requireSession() } }

    /// The app that asks, where there are several.
    var app: Catalog.App? {
        get throws { try credentials.askingApp(request.headers, tollgate)?.app }
    }

    /// The environment of a question: a session sees its own only.
    var environment: StoreEnvironment? {
        get throws { try credentials.environment(request.environment()) }
    }

    /// The customer whom the path names, if this key may see them.
    func customer(_ component: CustomerSession.Component? = nil) throws -> String {
        try credentials.customer(id, component)
    }

    /// The body as JSON of this shape.
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        try await request.json(type)
    }

    /// Counts a request that makes this server call a store.
    func admitStoreCall() throws {
        try credentials.admitStoreCall(request, context, tollgate)
    }
}
