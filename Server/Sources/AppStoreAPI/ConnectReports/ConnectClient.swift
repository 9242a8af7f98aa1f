internal import StrictJSON
import Foundation

extension AppStore {
    /// Fetches sales and finance reports from App Store Connect.
    ///
    /// It needs a key of the team with the role Finance, Sales or Admin; the key of the Server API
    /// does not do.
    public struct ConnectClient: Sendable {
        /// Apple's address.
        public static let host = "https://api.appstoreconnect.apple.com"
        /// How long a token lives, in seconds; Apple allows 1200.
        static let tokenLifetime: Int64 = 600

        private let key: APIKey
        private let vendorNumber: String
        private let host: String
        private let transport: Transport
        private let now: @Sendable () -> Int64

        /// - Parameters:
        ///   - key: The key that signs requests.
        ///   - vendorNumber: As App Store Connect shows it beside the reports.
        ///   - host: An address without a path.
        ///   - transport: Carries requests.
        ///   - now: The wall clock in UNIX milliseconds.
        public init(
            key: APIKey,
            vendorNumber: String,
            host: String = ConnectClient.host,
            transport: @escaping Transport,
            now: @escaping @Sendable () -> Int64
        ) {
            self.key = key
            self.vendorNumber = vendorNumber
            self.host = host.hasSuffix("/") ? String(host.dropLast()) : host
            self.transport = transport
            self.now = now
        }

        /// Which sales report.
        public struct SalesRequest: Hashable, Sendable {
            /// How much time one report covers.
            public enum Frequency: String, Hashable, Codable, Sendable {
                case daily = "DAILY"
                case weekly = "WEEKLY"
                case monthly = "MONTHLY"
                case yearly = "YEARLY"
            }

            public var kind: ConnectReport.Kind
            public var frequency: Frequency
            /// `YYYY-MM-DD`, of a week its Sunday; `YYYY-MM`; `YYYY`.
            public var date: String

            public init(_ kind: ConnectReport.Kind, frequency: Frequency = .daily, date: String) {
                self.kind = kind
                self.frequency = frequency
                self.date = date
            }
        }

        /// A sales report, packed as it comes; nil where there is none, or not yet.
        public func salesReport(_ request: SalesRequest) async throws(ServerAPIError) -> [UInt8]? {
            try await get(
                "Download Sales and Trends Reports",
                "/v1/salesReports",
                [
                    ("frequency", request.frequency.rawValue), ("reportDate", request.date),
                    ("reportSubType", request.kind == .subscriber ? "DETAILED" : "SUMMARY"),
                    ("reportType", request.kind.rawValue), ("vendorNumber", vendorNumber),
                    ("version", request.kind == .sales ? "1_0" : "1_3"),
                ]
            )
        }

        /// The finance report of a fiscal month of Apple's and of all regions (`ZZ`), packed as it comes;
        /// nil where there is none, or not yet.
        ///
        /// - Parameter month: `YYYY-MM`; fiscal months are no calendar months.
        public func financeReport(month: String) async throws(ServerAPIError) -> [UInt8]? {
            try await get(
                "Download Finance Reports",
                "/v1/financeReports",
                [
                    ("regionCode", "ZZ"), ("reportDate", month), ("reportType", "FINANCIAL"),
                    ("vendorNumber", vendorNumber),
                ]
            )
        }

        private func get(
            _ operation: String,
            _ path: String,
            _ filters: [(String, String)]
        ) async throws(ServerAPIError) -> [UInt8]? {
            let query = filters.map { name, value in
                "filter%5B\(name)%5D="
                    + (value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
            }
            var request = HTTPRequest(
                method: "GET",
                url: host + path + "?" + query.joined(separator: "&")
            )
            do {
                let issuedAt = now() / 1000
                request.headers["Authorization"] =
                    "Bearer "
                    + (try key.jws([
                        ("iss", .string(key.issuerID)), ("iat", .integer(issuedAt)),
                        ("exp", .integer(issuedAt + Self.tokenLifetime)),
                        ("aud", .string("appstoreconnect-v1")),
                    ]))
            } catch {
                throw ServerAPIError(operation: operation, cause: .unsigned(error))
            }
            request.headers["Accept"] = "application/a-gzip"
            let response: HTTPResponse
            do { response = try await transport(request) } catch {
                throw ServerAPIError(operation: operation, cause: .unreachable(error))
            }
            switch response.status {
            case 200...299: return response.body
            case 404: return nil
            default:
                throw ServerAPIError(
                    operation: operation,
                    cause: .refused(
                        .init(
                            status: response.status,
                            code: nil,
                            message: String(decoding: response.body.prefix(400), as: UTF8.self),
                            retryAfter: nil
                        )
                    )
                )
            }
        }
    }
}
