internal import StrictJSON

extension Stripe {
    /// Sends requests under the secret key, and sends them again where that may help.
    struct Sender: Sendable {
        let apiBase: String
        let secretKey: SecretKey
        let maximumRetries: Int
        let transport: Client.Transport
        let sleep: @Sendable (Duration) async throws -> Void
        let jitter: @Sendable () -> Double
    }
}

extension Stripe.Sender {
    private enum Outcome {
        case answered(Stripe.Response)
        case failed(Stripe.RequestError, isWorthATry: Bool)
    }

    /// Sends a request until it is answered for good.
    ///
    /// - Parameter path: the parts of the path after `/v1`.
    func send(
        _ method: Stripe.Request.Method,
        _ path: [String],
        _ parameters: Stripe.Parameters,
        _ idempotencyKey: String? = nil
    ) async throws(Stripe.RequestError) -> Stripe.Response {
        var request = request(method, path, parameters)
        request.headers["idempotency-key"] = idempotencyKey
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

    private func request(
        _ method: Stripe.Request.Method,
        _ path: [String],
        _ parameters: Stripe.Parameters
    ) -> Stripe.Request {
        var url = apiBase + "/v1/" + path.map(\.percentEncoded).joined(separator: "/")
        var headers = [
            "authorization": "Bearer \(secretKey.current)",
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
}
