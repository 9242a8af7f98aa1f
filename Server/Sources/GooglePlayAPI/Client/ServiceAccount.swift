import Foundation
import JWTKit

extension GooglePlay {
    /// The key of a service account, as Google Cloud gives it out: a JSON file.
    public struct ServiceAccount: Sendable {
        /// A reason to refuse a key file.
        public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
            /// The file is no JSON object, or lacks this field.
            case field(String)
            /// `type` is another one than `service_account`.
            case type(String)
            /// `private_key` is no RSA key in PEM.
            case privateKey

            public var description: String {
                switch self {
                case .field(let name):
                    "the key of the service account has no \(name): download it from Google Cloud, "
                        + "IAM and admin, Service accounts, Keys, as JSON"
                case .type(let type):
                    "the key is of the type ‘\(type)’: make one of a service account"
                case .privateKey:
                    "private_key is no RSA key in PEM: download the key of the service account anew"
                }
            }
        }

        /// `client_email`.
        public let email: String
        /// The address of the token endpoint.
        public let tokenURI: String
        /// The Google Cloud project.
        public let projectID: String?
        private let keyID: String
        private let keys: JWTKeyCollection

        /// The audience of an assertion: Google's, wherever `token_uri` points.
        private static let audience = "https://oauth2.googleapis.com/token"

        /// Reads a key file.
        public init(json: [UInt8]) async throws(Problem) {
            guard let file = try? JSONDecoder().decode(File.self, from: Data(json)) else {
                throw .field("client_email")
            }
            guard file.type == "service_account" else { throw .type(file.type ?? "") }
            guard let email = file.client_email else { throw .field("client_email") }
            guard let keyID = file.private_key_id else { throw .field("private_key_id") }
            guard let pem = file.private_key else { throw .field("private_key") }
            let keys = JWTKeyCollection()
            guard let key = try? Insecure.RSA.PrivateKey(pem: pem) else { throw .privateKey }
            await keys.add(rsa: key, digestAlgorithm: .sha256, kid: JWKIdentifier(string: keyID))
            self.email = email
            self.keyID = keyID
            self.keys = keys
            projectID = file.project_id
            tokenURI = file.token_uri ?? Self.audience
        }

        private struct File: Decodable {
            var type: String?
            var project_id: String?
            var private_key_id: String?
            var private_key: String?
            var client_email: String?
            var token_uri: String?
        }

        private struct Assertion: JWTPayload {
            var iss: String
            var scope: String
            var aud: String
            var iat: Int64
            var exp: Int64

            func verify(using algorithm: some JWTAlgorithm) async throws {}
        }

        /// The request for an access token: a signed assertion (RFC 7523).
        ///
        /// - Parameter now: The wall clock in UNIX seconds; Google checks it.
        func tokenRequest(scopes: [String], now: Int64) async throws -> HTTPRequest {
            let assertion = Assertion(
                iss: email,
                scope: scopes.joined(separator: " "),
                aud: Self.audience,
                iat: now,
                exp: now + 3600
            )
            let text = try await keys.sign(assertion, kid: JWKIdentifier(string: keyID))
            let form =
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
                + text
            return HTTPRequest(
                method: "POST",
                url: tokenURI,
                headers: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Accept": "application/json",
                ],
                body: Array(form.utf8)
            )
        }
    }
}
