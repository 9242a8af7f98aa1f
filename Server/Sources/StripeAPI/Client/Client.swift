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

        /// Goes into one header and nowhere else.
        public let secretKey: SecretKey
        private let sender: Sender

        /// A client.
        ///
        /// - Parameters:
        ///   - apiBase: Where Stripe is, without a path: `https://api.stripe.com`.
        ///   - secretKey: `sk_…` or `rk_…`.
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
            let secretKey = SecretKey(secretKey)
            self.secretKey = secretKey
            sender = Sender(
                apiBase: apiBase.hasSuffix("/") ? String(apiBase.dropLast()) : apiBase,
                secretKey: secretKey,
                maximumRetries: maximumRetries,
                transport: transport,
                sleep: sleep,
                jitter: jitter
            )
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
        let response = try await sender.send(.get, path, parameters)
        return try Stripe.Answer(response) { json throws(Stripe.DecodingError) in try Value(json) }
    }

    /// Reads one page of a list.
    public func list<Element: Stripe.Object>(
        _ path: [String],
        _ parameters: Stripe.Parameters = [:],
        of: Element.Type = Element.self
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.List<Element>> {
        let response = try await sender.send(.get, path, parameters)
        return try Stripe.Answer(response) { json throws(Stripe.DecodingError) in
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
        let response = try await sender.send(.post, path, parameters, idempotencyKey)
        return try Stripe.Answer(response) { json throws(Stripe.DecodingError) in try Value(json) }
    }
}
