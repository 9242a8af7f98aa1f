extension GooglePlay {
    /// Verifies the tokens of pushes with Google's keys, which it fetches: once for all who wait.
    public actor PushTokens {
        private let verifier: PushTokenVerifier
        private let keysURL: String
        private let transport: Transport
        private let now: @Sendable () -> Int64
        private var cache = PushKeyCache()
        private var fetching: Task<Void, Never>?

        /// - Parameters:
        ///   - keysURL: the JSON Web Key Set.
        ///   - now: The wall clock in UNIX seconds.
        public init(
            _ verifier: PushTokenVerifier,
            keysURL: String = "https://www.googleapis.com/oauth2/v3/certs",
            transport: @escaping Transport,
            now: @escaping @Sendable () -> Int64
        ) {
            (self.verifier, self.keysURL) = (verifier, keysURL)
            (self.transport, self.now) = (transport, now)
        }

        /// The outcome of a verification.
        public enum Verdict: Hashable, Sendable {
            case genuine
            case refused(PushTokenVerifier.Refusal)
            /// Google's keys cannot be had now: Pub/Sub has to push again.
            case noKeys
        }

        /// Judges the value of the header `Authorization` of a push.
        public func verdict(onAuthorization header: String?) async -> Verdict {
            guard let token = Self.bearer(header) else { return .refused(.form) }
            guard let keys = await keys() else { return .noKeys }
            let first = await refusal(of: token, keys)
            guard case .unknownKey? = first, cache.mayFetchAnew(now: now()) else {
                return first.map(Verdict.refused) ?? .genuine
            }
            await fetch()
            guard case .use(let newer) = cache.step(now: now()) else { return .noKeys }
            return await refusal(of: token, newer).map(Verdict.refused) ?? .genuine
        }

        private func refusal(
            of token: String,
            _ keys: PushKeys
        ) async -> PushTokenVerifier.Refusal? {
            do throws(PushTokenVerifier.Refusal) {
                try await verifier.verify(token, keys: keys, now: now())
                return nil
            } catch {
                return error
            }
        }

        private func keys() async -> PushKeys? {
            if case .fetch = cache.step(now: now()) { await fetch() }
            if case .use(let keys) = cache.step(now: now()) { return keys }
            return nil
        }

        private func fetch() async {
            let task = fetching ?? Task { await self.fetchOnce() }
            fetching = task
            await task.value
        }

        private func fetchOnce() async {
            defer { fetching = nil }
            let request = HTTPRequest(
                method: "GET",
                url: keysURL,
                headers: ["Accept": "application/json", "User-Agent": "tollgate"],
                body: nil
            )
            guard let response = try? await transport(request), response.status == 200,
                let keys = try? await PushKeys(jwks: response.body)
            else { return cache.failed(now: now()) }
            cache.take(keys, maximumAge: Self.maximumAge(response), now: now())
        }

        /// `max-age` of `Cache-Control`.
        private static func maximumAge(_ response: HTTPResponse) -> Int64? {
            response.headers["cache-control"]?.split(whereSeparator: { ", ".contains($0) })
                .lazy.compactMap { part in
                    part.hasPrefix("max-age=") ? Int64(part.dropFirst(8)) : nil
                }.first
        }

        /// The token after `Bearer`, whose case does not matter (RFC 9110 §11.1).
        private static func bearer(_ header: String?) -> String? {
            guard let header, header.prefix(7).lowercased() == "bearer " else { return nil }
            return String(header.dropFirst(7))
        }
    }
}
