import Foundation
import StrictJSON

extension AppStore {
    /// Asks the App Store Server API about one app in one environment.
    ///
    /// It signs its requests, tries again only where Apple says that this may help, and gives back
    /// signed data as it came: a `SignedDataVerifier` makes facts of it.
    public struct ServerAPIClient: Sendable {
        /// Where the API is served, by environment; the later ones are asked if the first does not
        /// answer.
        public static func hosts(of environment: Environment) -> [String] {
            environment == .production
                ? ["https://api.storekit.apple.com", "https://api.storekit.itunes.apple.com"]
                : [
                    "https://api.storekit-sandbox.apple.com",
                    "https://api.storekit-sandbox.itunes.apple.com",
                ]
        }

        /// How often a request is sent before its failure is reported.
        public static let maximumAttempts = 3
        /// The longest wait before another attempt, in milliseconds; Apple may ask for an hour.
        public static let longestWait: Int64 = 30_000

        private let token: BearerToken
        private let hosts: [String]
        private let transport: Transport
        private let now: @Sendable () -> Int64
        private let sleep: @Sendable (Duration) async throws -> Void

        /// A client.
        ///
        /// - Parameters:
        ///   - key: The key that signs requests.
        ///   - bundleID: The app.
        ///   - hosts: Addresses without a path; see ``hosts(of:)``.
        ///   - transport: Carries requests.
        ///   - now: The wall clock in UNIX milliseconds. Apple checks tokens by real time.
        ///   - sleep: Waits before another attempt.
        public init(
            key: APIKey,
            bundleID: String,
            hosts: [String],
            transport: @escaping Transport,
            now: @escaping @Sendable () -> Int64,
            sleep: @escaping @Sendable (Duration) async throws -> Void = {
                try await Task.sleep(for: $0)
            }
        ) {
            token = BearerToken(key: key, bundleID: bundleID)
            self.hosts = hosts.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
            self.transport = transport
            self.now = now
            self.sleep = sleep
        }

        /// One call of an endpoint.
        struct Call {
            var operation: String
            var method = "GET"
            var path: String
            var query: [(String, String)] = []
            var body: JSONText?
            /// An image instead of a body.
            var png: [UInt8]?
        }

        // MARK: - Sending

        /// Sends a call and reads its answer.
        func send<Value>(
            _ call: Call,
            _ read: (Fields) throws(VerificationError) -> Value
        ) async throws(ServerAPIError) -> Value {
            let body = try await send(call)
            do {
                return try read(try Fields(try AppStore.parse(body, of: "answer"), "answer"))
            } catch {
                throw ServerAPIError(operation: call.operation, cause: .unreadable(error))
            }
        }

        /// Sends a call until it succeeds or asking again is of no use.
        @discardableResult
        func send(_ call: Call) async throws(ServerAPIError) -> [UInt8] {
            var attempt = 0
            while true {
                do {
                    return try await sendOnce(call, host: hosts[attempt % max(1, hosts.count)])
                } catch {
                    attempt += 1
                    guard error.isRetryable, attempt < Self.maximumAttempts, !Task.isCancelled,
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

        private func sendOnce(_ call: Call, host: String) async throws(ServerAPIError) -> [UInt8] {
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

        private func request(_ call: Call, host: String) throws(ServerAPIError) -> HTTPRequest {
            var request = HTTPRequest(
                method: call.method,
                url: host + call.path + Self.query(call.query)
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
                return wait <= Self.longestWait ? wait : nil
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

        // MARK: - Addresses

        /// An identifier as part of a path.
        ///
        /// Identifiers come from apps and imports: one with a slash would be another endpoint.
        static func path(
            _ identifier: String,
            in operation: String
        ) throws(ServerAPIError) -> String {
            let isPlain = identifier.utf8.allSatisfy(isUnreserved)
            guard isPlain, !identifier.isEmpty, identifier.utf8.count <= 256,
                identifier != ".", identifier != ".."
            else { throw ServerAPIError(operation: operation, cause: .invalidIdentifier) }
            return identifier
        }

        private static func query(_ items: [(String, String)]) -> String {
            guard !items.isEmpty else { return "" }
            return "?" + items.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
        }

        private static func escaped(_ value: String) -> String {
            var text = ""
            for byte in value.utf8 {
                if isUnreserved(byte) {
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    let digits = String(byte, radix: 16, uppercase: true)
                    text += "%" + (digits.count < 2 ? "0" : "") + digits
                }
            }
            return text
        }

        /// RFC 3986, section 2.3.
        private static func isUnreserved(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                true
            default: false
            }
        }
    }
}
