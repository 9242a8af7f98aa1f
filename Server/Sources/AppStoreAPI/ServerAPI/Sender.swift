internal import StrictJSON

extension AppStore {
    /// Sends signed calls, and sends them again only where Apple says that this may help.
    struct Sender: Sendable {
        let token: BearerToken
        let hosts: [String]
        let transport: Transport
        let now: @Sendable () -> Int64
        let sleep: @Sendable (Duration) async throws -> Void

        /// Sends a call and reads its answer.
        func send<Value>(
            _ call: ServerAPIClient.Call,
            _ read: (Fields) throws(VerificationError) -> Value
        ) async throws(ServerAPIError) -> Value {
            let body = try await send(call)
            do {
                return try read(try Fields(try AppStore.parse(body, of: "answer"), "answer"))
            } catch {
                throw ServerAPIError(operation: call.operation, cause: .unreadable(error))
            }
        }

        /// Sends a call and reads one text of its answer.
        func send(
            _ call: ServerAPIClient.Call,
            reading name: StaticString
        ) async throws(ServerAPIError) -> String {
            try await send(call) { fields throws(VerificationError) in try fields.required(name) }
        }

        /// Sends a call until it succeeds or asking again is of no use.
        @discardableResult
        func send(_ call: ServerAPIClient.Call) async throws(ServerAPIError) -> [UInt8] {
            var attempt = 0
            while true {
                do {
                    return try await sendOnce(call, host: hosts[attempt % max(1, hosts.count)])
                } catch {
                    attempt += 1
                    guard error.isRetryableAtOnce, attempt < ServerAPIClient.maximumAttempts,
                        !Task.isCancelled,
                        let wait = wait(after: error, attempt: attempt)
                    else { throw error }
                    do { try await sleep(.milliseconds(wait)) } catch let interruption {
                        throw ServerAPIError(
                            operation: call.operation,
                            cause: .unreachable(interruption)
                        )
                    }
                }
            }
        }

        private func sendOnce(_ call: ServerAPIClient.Call, host: String)
            async throws(ServerAPIError) -> [UInt8]
        {
            let request = try request(call, host: host)
            let response: HTTPResponse
            do { response = try await transport(request) } catch {
                throw ServerAPIError(operation: call.operation, cause: .unreachable(error))
            }
            guard (200...299).contains(response.status) else {
                throw ServerAPIError(
                    operation: call.operation,
                    cause: .refused(Self.refusal(response))
                )
            }
            return response.body
        }

        private func request(_ call: ServerAPIClient.Call, host: String) throws(ServerAPIError)
            -> HTTPRequest
        {
            var request = HTTPRequest(
                method: call.method,
                url: host + call.target
            )
            do {
                request.headers["Authorization"] = "Bearer " + (try token.text(at: now() / 1000))
            } catch {
                throw ServerAPIError(operation: call.operation, cause: .unsigned(error))
            }
            request.headers["Accept"] = "application/json"
            request.headers["User-Agent"] = "tollgate"
            if let body = call.body {
                request.headers["Content-Type"] = "application/json"
                request.body = body.bytes
            } else if let png = call.png {
                request.headers["Content-Type"] = "image/png"
                request.body = png
            }
            return request
        }

        /// Milliseconds before the next attempt, nil if that would be too long.
        private func wait(after error: ServerAPIError, attempt: Int) -> Int64? {
            if case .refused(let refusal) = error.cause, let date = refusal.retryAfter {
                let wait = max(0, date - now())
                return wait <= ServerAPIClient.longestWait ? wait : nil
            }
            return 1000 << Int64(attempt - 1)
        }

        private static func refusal(_ response: HTTPResponse) -> ServerAPIError.Refusal {
            let json = try? JSON(response.body)
            let date = response.headers["retry-after"].flatMap { Int64($0) }
            return ServerAPIError.Refusal(
                status: response.status,
                code: json?["errorCode"]?.int64.map(ErrorCode.init(rawValue:)),
                message: json?["errorMessage"]?.string,
                retryAfter: date.flatMap { Fields.dates.contains($0) ? $0 : nil }
            )
        }
    }
}
