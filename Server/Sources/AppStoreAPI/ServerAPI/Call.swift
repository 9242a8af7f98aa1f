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
            let isPlain = identifier.utf8.allSatisfy(isUnreserved)
            guard isPlain, !identifier.isEmpty, identifier.utf8.count <= 256,
                identifier != ".", identifier != ".."
            else { throw AppStore.ServerAPIError(operation: operation, cause: .invalidIdentifier) }
            return identifier
        }

        /// Path and query, as they follow the host.
        var target: String {
            guard !query.isEmpty else { return path }
            return path + "?" + query.map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
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
