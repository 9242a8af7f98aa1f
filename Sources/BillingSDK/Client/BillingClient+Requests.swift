import Foundation
internal import TollgateAPI

/// Requests, and how their answers become values or errors.
extension BillingClient {
    /// A request of the API as it will be sent.
    func request(
        _ method: String,
        _ path: String,
        key: String,
        headers: [String: String] = [:],
        body: (any Encodable)? = nil
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method: method, url: try address.get().url(path))
        request.headers = headers
        request.headers[APIHeader.authorization] = APIHeader.bearer(key)
        if key != configuration.publishableKey {
            // Of several apps of a team, which of them asks.
            request.headers[APIHeader.publishableKey] = configuration.publishableKey
        }
        request.headers["Accept"] = "application/json"
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = try APIJSON.encode(body)
        }
        return request
    }

    /// Sends; what the transport throws becomes "could not be reached".
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        do {
            let response = try await transport(request)
            let isRefused = !(200..<300).contains(response.status)
            let code = isRefused ? " " + (response.ownError?.code.rawValue ?? "not Tollgate's") : ""
            let line = "\(RequestLine.of(request)): \(response.status)\(code)"
            log.write(isRefused ? .warning : .debug, line)
            return response
        } catch {
            try Task.checkCancellation()
            log.write(.warning, "\(RequestLine.of(request)): \(RequestLine.of(error))")
            throw BillingSDKError.networkUnavailable(error)
        }
    }

    /// A response to a request that went out with a session.
    struct SessionResponse {
        var response: HTTPResponse
        var session: UBCustomerSessionDetails
        /// Whether the session was the bearer, not a header beside the publishable key.
        var sessionIsBearer: Bool
        /// The device's clock before the request went out.
        var sentAt: Date

        /// Whether a 401 is about the publishable key, which the session only accompanied.
        var refusesKeyBesideSession: Bool { !sessionIsBearer && response.refusesKey }
    }

    /// Sends with the customer's session: renewed first if it is due, and once more after a 401 of
    /// our server's; that of a proxy says nothing about the session.
    ///
    /// Nil: nobody is signed in.
    func sendWithSession(
        _ make: (UBCustomerSessionDetails) throws -> HTTPRequest
    ) async throws -> SessionResponse? {
        guard let session = try await session() else { return nil }
        let first = try await sent(make(session), session)
        guard first.response.refusesBearer else { return first }
        guarded.withLock { $0.state.sessionRejected(session) }
        guard let fresh = try await self.session() else { return nil }
        let second = try await sent(make(fresh), fresh)
        guard second.response.refusesBearer, !second.refusesKeyBesideSession else { return second }
        guarded.withLock { $0.state.sessionRejected(fresh) }
        throw BillingSDKError.sessionRejected(second.response.ownError?.message ?? "")
    }

    private func sent(
        _ request: HTTPRequest,
        _ session: UBCustomerSessionDetails
    ) async throws -> SessionResponse {
        let sentAt = now()
        let isBearer =
            request.headers[APIHeader.authorization] == APIHeader.bearer(session.clientSecret)
        return SessionResponse(
            response: try await send(request),
            session: session,
            sessionIsBearer: isBearer,
            sentAt: sentAt
        )
    }

    /// A call for one customer whose answer must not outlive that customer's stay.
    func customerCall<Answer: Decodable & Sendable>(
        _ type: Answer.Type,
        _ make: (UBCustomerSessionDetails) throws -> HTTPRequest
    ) async throws -> Answer {
        for _ in 0..<4 {
            let (epoch, resets) = guarded.withLock { ($0.state.epoch, $0.state.resets) }
            let outcome = await Result { try await self.sendWithSession(make) }
            let (epochNow, resetsNow) = guarded.withLock { ($0.state.epoch, $0.state.resets) }
            guard resets == resetsNow else { throw BillingSDKError.unauthenticated }
            guard epoch == epochNow else { continue }
            guard let answered = try outcome.get() else { throw BillingSDKError.unauthenticated }
            return try answered.response.decoded(type)
        }
        throw BillingSDKError.interrupted
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// The outcome of an asynchronous call, kept for later.
    fileprivate init(catching body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

extension HTTPResponse {
    /// The body as a value, or the error that the response stands for.
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let error { throw error }
        do {
            return try APIJSON.decode(type, from: body)
        } catch {
            throw BillingSDKError.invalidResponse(String(describing: error))
        }
    }

    /// The error with which the server refuses a request for good; `nil` where repeating it may help.
    ///
    /// Only what our server says in its own form counts: a proxy, or another server at the address,
    /// must not cost anybody a purchase. 401, 403 and 404 may be mended by another session, or by the
    /// address.
    var finalRefusal: APIError? {
        guard let error = ownError, Self.isFinal(status, error.code) else { return nil }
        return error
    }

    /// Whether our server refuses for good with this status and code.
    static func isFinal(_ status: Int, _ code: APIError.Code) -> Bool {
        guard [400, 409, 410, 413, 422].contains(status) else { return false }
        switch code {
        case .idempotencyMismatch, .idempotencyInProgress, .conflict, .internalError: return false
        // An older server; the next one knows it.
        case .parameterUnknown: return false
        default: return true
        }
    }

    /// Whether our server refuses the bearer.
    var refusesBearer: Bool { status == 401 && ownError != nil }

    /// Whether a 401 is about the bearer key.
    var refusesKey: Bool { ownError?.code == .invalidKey || ownError?.code == .missingKey }

    /// The error as our server writes it, with a type, a code and a message; `nil` for a success, and for
    /// what a proxy or another server says.
    var ownError: APIError? {
        struct Form: Decodable {
            struct Error: Decodable { var type, code, message: String }
            var error: Error
        }
        guard !(200..<300).contains(status), (try? APIJSON.decode(Form.self, from: body)) != nil
        else { return nil }
        return try? APIJSON.decode(APIError.self, from: body)
    }

    /// The error that this response stands for; nil for a success.
    var error: BillingSDKError? {
        guard !(200..<300).contains(status) else { return nil }
        guard let body = ownError else {
            // Whoever said it, it is not our server's word.
            return .serverUnavailable(
                status: status,
                message: "HTTP status \(status), and the body is not Tollgate's"
            )
        }
        return switch status {
        case 401: .invalidPublishableKey(body.message)
        case 403: .notPermitted(code: body.code.rawValue, message: body.message)
        case 404, 410: .notFound(body.message)
        case 429, 500...599: .serverUnavailable(status: status, message: body.message)
        default:
            .requestRefused(status: status, code: body.code.rawValue, message: body.message)
        }
    }
}
