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
        private var fetching: Task<String, any Error>?

        /// Seconds before its end from which a token is replaced.
        private static let margin: Int64 = 60
        /// Seconds after which a token is replaced, whatever its answer says.
        private static let longest: Int64 = 86_400

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
            // The task itself keeps what it fetched: whoever waited for it may resume much later, when
            // a newer token is here.
            let task = fetching ?? Task { try await self.fetch() }
            fetching = task
            do {
                return try await task.value
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

        private func fetch() async throws -> String {
            defer { fetching = nil }
            let at = now()
            let request = try await account.tokenRequest(scopes: scopes, now: at)
            let fresh = try Self.read(try await Self.answer(request, transport), at: at)
            token = fresh
            return fresh.text
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
            guard response.status == 200 else {
                let refusal = APIFault.Refusal(response, of: .token)
                throw APIFault(operation: "token", cause: .refused(refusal))
            }
            let json = try? JSON(response.body)
            guard let text = json?["access_token"]?.string, !text.isEmpty else {
                let error = DecodingError(
                    object: "token",
                    field: "access_token",
                    expected: "a string"
                )
                throw APIFault(operation: "token", cause: .unreadable(error))
            }
            let seconds = json?["expires_in"]?.int64 ?? 3600
            return (text, now + min(longest, max(0, seconds)))
        }
    }
}
