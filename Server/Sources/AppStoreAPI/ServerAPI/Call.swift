internal import StrictJSON

extension AppStore.ServerAPIClient {
    /// One call of an endpoint.
    struct Call {
        let operation: String
        let method: String
        private var path: String
        private let query: [(String, String)]
        let body: JSONText?
        /// An image instead of a body.
        var png: [UInt8]?

        /// - Parameters:
        ///   - path: with `{}` in the place of each identifier.
        ///   - identifiers: they come from apps and imports, and one with a slash would be another
        ///     endpoint.
        /// - Throws: `invalidIdentifier`.
        init(
            _ operation: String,
            _ path: String,
            _ identifiers: String...,
            method: String = "GET",
            query: [(String, String)] = [],
            body: JSONText? = nil
        ) throws(AppStore.ServerAPIError) {
            (self.operation, self.method, self.query, self.body) = (operation, method, query, body)
            let parts = path.split(separator: "{}", omittingEmptySubsequences: false)
            self.path = String(parts[0])
            for (identifier, rest) in zip(identifiers, parts.dropFirst()) {
                guard identifier.percentEncoded == identifier, !identifier.isEmpty,
                    identifier.utf8.count <= 256, identifier != ".", identifier != ".."
                else {
                    throw AppStore.ServerAPIError(operation: operation, cause: .invalidIdentifier)
                }
                self.path += identifier + rest
            }
        }

        /// Path and query, as they follow the host.
        var target: String {
            guard !query.isEmpty else { return path }
            return path + "?" + query.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        }
    }
}
