import StrictJSON

extension GooglePlay {
    /// The access token of a service account: fetched when it is needed, kept until shortly before it
    /// ends, fetched once for all who wait.
    public actor AccessTokens {
        private let account: ServiceAccount
        private let scopes: [String]
        private let transport: Transport
        private let now: @Sendable () -> Int64
        private var token: (text: String, endsAt: Int64)?
        private var fetching: Task<(text: String, endsAt: Int64), any Error>?

        /// Seconds before its end from which a token is replaced.
        private static let margin: Int64 = 60

        /// - Parameter now: The wall clock in UNIX seconds.
        public init(
            account: ServiceAccount,
            scopes: [String],
            transport: @escaping Transport,
            now: @escaping @Sendable () -> Int64
        ) {
            (self.account, self.scopes) = (account, scopes)
            (self.transport, self.now) = (transport, now)
        }

        /// The token to use now.
        func current() async throws(APIFault) -> String {
            if let token, now() < token.endsAt - Self.margin { return token.text }
            let task =
                fetching
                ?? Task { [account, scopes, transport, now] in
                    let at = now()
                    let request = try await account.tokenRequest(scopes: scopes, now: at)
                    return try Self.read(try await Self.answer(request, transport), at: at)
                }
            fetching = task
            defer { fetching = nil }
            do {
                let fresh = try await task.value
                token = fresh
                return fresh.text
            } catch let fault as APIFault {
                throw fault
            } catch {
                throw APIFault(operation: "token", cause: .unreachable(error))
            }
        }

        /// Forgets a token that the API refused.
        func forget(_ text: String) {
            if token?.text == text { token = nil }
        }

        private static func answer(
            _ request: HTTPRequest,
            _ transport: Transport
        ) async throws -> HTTPResponse {
            do {
                return try await transport(request)
            } catch {
                throw APIFault(operation: "token", cause: .unreachable(error))
            }
        }

        private static func read(
            _ response: HTTPResponse,
            at now: Int64
        ) throws(APIFault) -> (text: String, endsAt: Int64) {
            let json = try? JSON(response.body)
            guard response.status == 200 else {
                throw APIFault(
                    operation: "token",
                    cause: .refused(
                        APIFault.Refusal(
                            status: response.status,
                            reason: json?["error"]?.string,
                            message: json?["error_description"]?.string,
                            retryAfter: nil
                        )
                    )
                )
            }
            guard let text = json?["access_token"]?.string, !text.isEmpty else {
                let error = DecodingError(
                    object: "token",
                    field: "access_token",
                    expected: "a string"
                )
                throw APIFault(operation: "token", cause: .unreadable(error))
            }
            return (text, now + max(0, json?["expires_in"]?.int64 ?? 3600))
        }
    }
}
