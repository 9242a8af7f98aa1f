import Foundation

/// The API: how a request is answered, whatever it asks for. https://docs.stripe.com/api
enum API {
    /// Answers one request as Stripe does: key, idempotency, route, parameters, expansion.
    ///
    /// Nothing of a refused request remains, except where Stripe keeps it, as with a declined card.
    /// - Parameters:
    ///   - keys: the secret keys that are accepted.
    ///   - wall: real time in UNIX seconds, for the age of stored replies.
    static func answer(
        _ world: inout World,
        _ request: APIRequest,
        keys: [String],
        wall: Int
    ) -> APIResponse {
        let requestID = "req_" + world.random.token(14)
        var headers = [
            "request-id": requestID, "stripe-version": request.version ?? world.apiVersion,
        ]
        if let key = request.idempotencyKey { headers["idempotency-key"] = key }
        do {
            try authenticate(request.authorization, keys: keys)
            if let stored = try storedReply(world, to: request, wall: wall) {
                headers["idempotent-replayed"] = "true"
                headers["original-request"] = stored.requestID
                return APIResponse(status: stored.status, body: stored.body, headers: headers)
            }
        } catch {
            return refusal(error, headers: headers)
        }
        let before = world
        world.cause = World.Cause(requestID: requestID, idempotencyKey: request.idempotencyKey)
        var response: APIResponse
        do {
            if Chance("api_error", of: requestID).happens(in: world.faults.apiErrors) {
                throw APIError(
                    status: 500,
                    type: "api_error",
                    message: "An error occurred while processing your request. "
                        + "(The sandbox was told to fail like this: api_errors.)"
                )
            }
            response = APIResponse(
                status: 200,
                body: try result(&world, of: request).rendered,
                headers: headers
            )
        } catch {
            response = refusal(error, headers: headers)
            if (error as? APIError)?.keepsChanges != true {
                let random = world.random
                world = before
                world.random = random
            }
        }
        store(&world, response, for: request, requestID: requestID, wall: wall)
        return response
    }

    /// The refusal of a request whose idempotency key belongs to one that is being worked on.
    ///
    /// Nothing of it is kept: asked again, it is answered as the first one was.
    /// https://docs.stripe.com/error-codes#idempotency-key-in-use
    static func refuseTwin(_ world: inout World, _ request: APIRequest, key: String) -> APIResponse
    {
        refusal(
            APIError(
                status: 409,
                type: "idempotency_error",
                code: "idempotency_key_in_use",
                message: "There is currently another in-progress request using this Idempotent Key "
                    + "(that probably means you submitted twice, and the other request is still "
                    + "going through): \(key)."
            ),
            headers: [
                "request-id": "req_" + world.random.token(14),
                "stripe-version": request.version ?? world.apiVersion, "idempotency-key": key,
            ]
        )
    }

    private static func authenticate(_ authorization: String?, keys: [String]) throws {
        var key: String?
        if let authorization, authorization.hasPrefix("Bearer ") {
            key = String(authorization.dropFirst(7))
        } else if let authorization, authorization.hasPrefix("Basic "),
            let data = Data(base64Encoded: String(authorization.dropFirst(6)))
        {
            key = String(decoding: data, as: UTF8.self).split(separator: ":").first.map(String.init)
        }
        guard let key, !key.isEmpty else {
            throw APIError(
                status: 401,
                message: "You did not provide an API key. You need to provide your API key in the "
                    + "Authorization header, using Bearer auth."
            )
        }
        guard keys.contains(key) else {
            throw APIError(
                status: 401,
                code: "api_key_invalid",
                message:
                    "Invalid API Key provided: \(key.prefix(8))\(String(repeating: "*", count: 8))"
            )
        }
    }

    /// What a request comes to, of whoever may ask.
    static func result(_ world: inout World, of request: APIRequest) throws -> JSON {
        let segments = request.path.split(separator: "/").map(String.init)
        guard segments.first == "v1" else {
            throw APIError.unrecognized(request.method, request.path)
        }
        let name = request.version ?? world.apiVersion
        guard let version = APIVersion(name) else {
            throw APIError.invalid("Invalid Stripe API version: \(name)")
        }
        for route in Route.all {
            guard let ids = route.match(request.method, Array(segments.dropFirst())) else {
                continue
            }
            // GET and DELETE carry parameters in the query, DELETE sometimes in the body.
            let encoded = request.method == "POST" ? [request.body] : [request.query, request.body]
            guard let fields = Form.decode(encoded.filter { !$0.isEmpty }.joined(separator: "&"))
            else { throw APIError.invalid("Invalid request: the parameters cannot be decoded.") }
            var call = Call(
                ids: ids.map { $0.removingPercentEncoding ?? $0 },
                parameters: Parameters(fields),
                apiVersion: name,
                namesVersion: request.version != nil
            )
            let paths = try call.parameters.strings("expand") ?? []
            let object = try route.handler(&world, &call)
            try call.parameters.finish()
            return version.shape(try Expansion.expand(world, object, paths))
        }
        throw APIError.unrecognized(request.method, request.path)
    }

    private static func refusal(_ error: any Error, headers: [String: String]) -> APIResponse {
        let refusal =
            error as? APIError
            ?? APIError(status: 500, type: "api_error", message: "An unknown error occurred.")
        return APIResponse(status: refusal.status, body: refusal.body.rendered, headers: headers)
    }
}

// MARK: - Idempotency, https://docs.stripe.com/api/idempotent_requests

extension API {
    private static func storedReply(
        _ world: World,
        to request: APIRequest,
        wall: Int
    ) throws -> StoredReply? {
        guard request.method == "POST", let key = request.idempotencyKey else { return nil }
        guard key.count <= 255 else {
            throw APIError(
                status: 400,
                type: "idempotency_error",
                message: "Idempotency keys can have up to 255 characters."
            )
        }
        guard let stored = world.replies[key], wall - stored.at < 86_400 else { return nil }
        guard stored.fingerprint == fingerprint(request) else {
            throw APIError(
                status: 400,
                type: "idempotency_error",
                message: "Keys for idempotent requests can only be used with the same parameters "
                    + "they were first used with. Try using a key other than '\(key)' if you meant "
                    + "to execute a different request."
            )
        }
        return stored
    }

    /// Keeps what was answered, unless the request was refused before anything was done.
    private static func store(
        _ world: inout World,
        _ response: APIResponse,
        for request: APIRequest,
        requestID: String,
        wall: Int
    ) {
        guard request.method == "POST", let key = request.idempotencyKey,
            response.status < 400 || response.status == 402 || response.status >= 500
        else { return }
        world.unsaved?.replies.insert(key)
        world.replies[key] = StoredReply(
            fingerprint: fingerprint(request),
            status: response.status,
            body: response.body,
            requestID: requestID,
            at: wall
        )
    }

    private static func fingerprint(_ request: APIRequest) -> String {
        "\(request.path)?\(request.body)"
    }
}
