import StrictJSON

extension Stripe {
    /// Typed calls of Stripe's API.
    ///
    /// Network, time and chance come from outside, so that a year of outages can be tested in a
    /// second. Every write carries an idempotency key that its caller chose for the operation: the
    /// tries of one call share it, and so does the call after a crash.
    public struct Client: Sendable {
        /// Sends one request once; throws if no answer came.
        public typealias Transport = @Sendable (Request) async throws -> Response

        private let apiBase: String
        private let secretKey: String
        private let maximumRetries: Int
        private let transport: Transport
        private let sleep: @Sendable (Duration) async throws -> Void
        private let jitter: @Sendable () -> Double

        /// A client.
        ///
        /// - Parameters:
        ///   - apiBase: Where Stripe is, without a path: `https://api.stripe.com`.
        ///   - secretKey: `sk_…` or `rk_…`. Goes into one header and nowhere else.
        ///   - maximumRetries: How often a call is tried again where that may help.
        ///   - transport: How a request is sent.
        ///   - sleep: Waits before the next try.
        ///   - jitter: A number from 0 to 1, fresh at each call: clients that failed together must
        ///     not come back together.
        public init(
            apiBase: String = "https://api.stripe.com",
            secretKey: String,
            maximumRetries: Int = 2,
            transport: @escaping Transport,
            sleep: @escaping @Sendable (Duration) async throws -> Void = {
                try await Task.sleep(for: $0)
            },
            jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
        ) {
            self.apiBase = apiBase.hasSuffix("/") ? String(apiBase.dropLast()) : apiBase
            self.secretKey = secretKey
            self.maximumRetries = maximumRetries
            self.transport = transport
            self.sleep = sleep
            self.jitter = jitter
        }
    }
}

extension Stripe.Client {
    /// Reads an object.
    ///
    /// - Parameters:
    ///   - path: The parts of the path after `/v1`; ids are escaped.
    ///   - parameters: What goes into the query.
    public func get<Value: Stripe.Object>(
        _ path: [String],
        _ parameters: Stripe.Parameters = [:],
        as: Value.Type = Value.self
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Value> {
        let response = try await send(request(.get, path, parameters))
        return try read(response) { json throws(Stripe.DecodingError) in try Value(json) }
    }

    /// Reads one page of a list.
    public func list<Element: Stripe.Object>(
        _ path: [String],
        _ parameters: Stripe.Parameters = [:],
        of: Element.Type = Element.self
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.List<Element>> {
        let response = try await send(request(.get, path, parameters))
        return try read(response) { json throws(Stripe.DecodingError) in
            try Stripe.List<Element>(json, in: "list", field: path.last ?? "")
        }
    }

    /// Creates or changes an object.
    ///
    /// - Parameters:
    ///   - path: The parts of the path after `/v1`.
    ///   - parameters: What goes into the body.
    ///   - idempotencyKey: At most 255 characters, one for each logical operation. Sent again
    ///     within a day it gives the first answer again.
    public func post<Value: Stripe.Object>(
        _ path: [String],
        _ parameters: Stripe.Parameters,
        idempotencyKey: String,
        as: Value.Type = Value.self
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Value> {
        var request = request(.post, path, parameters)
        request.headers["idempotency-key"] = idempotencyKey
        let response = try await send(request)
        return try read(response) { json throws(Stripe.DecodingError) in try Value(json) }
    }

    private func request(
        _ method: Stripe.Request.Method,
        _ path: [String],
        _ parameters: Stripe.Parameters
    ) -> Stripe.Request {
        var url = apiBase + "/v1/" + path.map(Stripe.Parameters.escaped).joined(separator: "/")
        var headers = [
            "authorization": "Bearer \(secretKey)",
            "stripe-version": Stripe.apiVersion,
            "accept": "application/json",
        ]
        let form = parameters.formEncoded
        guard method == .post else {
            if !form.isEmpty { url += "?" + form }
            return Stripe.Request(method: method, url: url, headers: headers, body: [])
        }
        headers["content-type"] = "application/x-www-form-urlencoded"
        return Stripe.Request(method: method, url: url, headers: headers, body: Array(form.utf8))
    }

    // MARK: - Tries

    private enum Outcome {
        case answered(Stripe.Response)
        case failed(Stripe.RequestError, isWorthATry: Bool)
    }

    /// Sends a request until it is answered for good.
    private func send(
        _ request: Stripe.Request
    ) async throws(Stripe.RequestError) -> Stripe.Response {
        var retries = 0
        while true {
            switch await outcome(of: request) {
            case .answered(let response): return response
            case .failed(let error, let isWorthATry):
                guard isWorthATry, retries < maximumRetries else { throw error }
            }
            do {
                try await sleep(pause(before: retries))
            } catch {
                throw .cancelled
            }
            retries += 1
        }
    }

    private func outcome(of request: Stripe.Request) async -> Outcome {
        guard !Task.isCancelled else { return .failed(.cancelled, isWorthATry: false) }
        do {
            let response = try await transport(request)
            if (200..<300).contains(response.status) { return .answered(response) }
            let error = Stripe.APIError(response)
            // As in Stripe's own libraries a 429 is not tried again unless Stripe says so: the
            // limit is there to be kept.
            let isWorthATry = error.shouldRetry ?? (error.status == 409 || error.status >= 500)
            return .failed(.refused(error), isWorthATry: isWorthATry)
        } catch is CancellationError {
            return .failed(.cancelled, isWorthATry: false)
        } catch {
            return .failed(.unreachable(error), isWorthATry: true)
        }
    }

    /// Half a second, doubled each time up to five seconds, of which up to half is left to chance.
    private func pause(before retry: Int) -> Duration {
        let longest = min(5000, 500 << min(retry, 10))
        let chance = min(1, max(0, jitter()))
        return .milliseconds(longest - Int(chance * Double(longest / 2)))
    }

    // MARK: - Answers

    private func read<Value: Sendable>(
        _ response: Stripe.Response,
        _ decode: (JSON) throws(Stripe.DecodingError) -> Value
    ) throws(Stripe.RequestError) -> Stripe.Answer<Value> {
        let json: JSON
        do {
            json = try JSON(response.body)
        } catch {
            throw .unreadable(
                Stripe.DecodingError(object: "answer", field: "", expected: "JSON: \(error)")
            )
        }
        let value: Value
        do throws(Stripe.DecodingError) {
            value = try decode(json)
        } catch {
            throw .unreadable(error)
        }
        return Stripe.Answer(
            value: value,
            date: response.headers["date"].flatMap(HTTPDate.seconds(of:)),
            requestID: response.headers["request-id"],
            isReplayed: response.headers["idempotent-replayed"] == "true"
        )
    }
}
