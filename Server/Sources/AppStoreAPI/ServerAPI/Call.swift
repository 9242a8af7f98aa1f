internal import StrictJSON

extension AppStore.ServerAPIClient {
    /// One call of an endpoint.
    struct Call {
        var operation: String
        var method = "GET"
        var path: String
        var query: [(String, String)] = []
        var body: JSONText?
        /// An image instead of a body.
        var png: [UInt8]?

        /// An identifier as part of a path.
        ///
        /// Identifiers come from apps and imports: one with a slash would be another endpoint.
        static func path(
            _ identifier: String,
            in operation: String
        ) throws(AppStore.ServerAPIError) -> String {
            guard identifier.percentEncoded == identifier, !identifier.isEmpty,
                identifier.utf8.count <= 256, identifier != ".", identifier != ".."
            else { throw AppStore.ServerAPIError(operation: operation, cause: .invalidIdentifier) }
            return identifier
        }

        /// Path and query, as they follow the host.
        var target: String {
            guard !query.isEmpty else { return path }
            return path + "?" + query.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        }
    }
}
