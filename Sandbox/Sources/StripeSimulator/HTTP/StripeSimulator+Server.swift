import AcceptedConnections
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

extension StripeSimulator {
    /// Serves API, pages and control, and delivers events, until the task is cancelled.
    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - control: where `/sandbox/…` is served if not on the same address.
    ///   - onListening: called once with the port that is listened on.
    /// - Throws: if an address cannot be bound.
    public func run(
        host: String = "127.0.0.1",
        port: Int = 0,
        control: (host: String, port: Int)? = nil,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        let servesControl = control == nil
        let main = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                try await self.respond(to: request, servesControl: servesControl)
            },
            server: .http1UntilEnded,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                serverName: nil
            ),
            onServerRunning: { channel in
                let bound = channel.localAddress?.port ?? port
                await self.listens(on: host, port: bound)
                await onListening(bound)
            },
            logger: configuration.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await main.runService(gracefulShutdownSignals: []) }
            if let control {
                let other = Application(
                    responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                        try await self.respond(to: request, servesControl: true, servesRest: false)
                    },
                    server: .http1UntilEnded,
                    configuration: ApplicationConfiguration(
                        address: .hostname(control.host, port: control.port)
                    ),
                    logger: configuration.logger
                )
                group.addTask { try await other.runService(gracefulShutdownSignals: []) }
            }
            group.addTask { await self.deliverWhenever() }
            // Whoever ends first, by cancellation or by failure, ends the others.
            try await group.next()
            group.cancelAll()
        }
    }

    private func listens(on host: String, port: Int) {
        guard configuration.publicURL == nil else { return }
        world.baseURL = "http://\(host == "0.0.0.0" || host == "::" ? "127.0.0.1" : host):\(port)"
    }

    private func deliverWhenever() async {
        for await _ in wakes {
            await synchronize()
            await flush()
            save()
        }
    }

    /// Answers one request for whatever is served here.
    private func respond(
        to request: Request,
        servesControl: Bool,
        servesRest: Bool = true
    ) async throws -> Response {
        let path = request.uri.path
        let body = try await request.body.collect(upTo: 1 << 20)
        let text = String(buffer: body)
        if path.hasPrefix("/sandbox/") {
            guard servesControl else { return Response(status: .notFound) }
            return await control(method: request.method.rawValue, path: path, body: text)
        }
        guard servesRest else { return Response(status: .notFound) }
        // Whatever is asked of the API is answered in JSON, also what it does not serve.
        if ["v1", "v2"].contains(path.split(separator: "/").first ?? "") {
            let headers = request.headers
            func header(_ name: String) -> String? {
                HTTPField.Name(name).flatMap { headers[$0] }
            }
            let answer = await answerApart(
                APIRequest(
                    method: request.method.rawValue,
                    path: path,
                    query: request.uri.query ?? "",
                    body: text,
                    authorization: headers[.authorization],
                    version: header("Stripe-Version"),
                    idempotencyKey: header("Idempotency-Key")
                )
            )
            return Response(answer)
        }
        return await page(
            method: request.method.rawValue,
            path: path,
            query: request.uri.query ?? "",
            body: text
        )
    }
}

extension Response {
    init(_ answer: APIResponse) {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        self.init(
            status: HTTPResponse.Status(code: answer.status),
            headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer.body))
        )
    }

    static func json(_ value: JSON, status: Int = 200) -> Response {
        Response(APIResponse(status: status, body: value.rendered))
    }
}
