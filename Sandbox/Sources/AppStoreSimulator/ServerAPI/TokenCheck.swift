import Crypto
import Foundation
import Hummingbird

/// Checks the bearer token as the App Store Server API and App Store Connect do, by real time.
struct TokenCheck: Sendable {
    /// The app that it is for; `nil`: it names none, as at App Store Connect.
    var bundleID: String?
    var keys: [SimulatedAppStore.APIKey]
    /// The longest life that Apple allows it, in seconds.
    var longestLife: Double
    /// UNIX seconds.
    var now = Date().timeIntervalSince1970

    private struct Header: Decodable {
        var alg: String
        var kid: String
    }

    private struct Claims: Decodable {
        var iss: String
        /// Apple's own Python library leaves it out.
        var iat: Double?
        var exp: Double
        var aud: String
        var bid: String?
    }

    func accepts(authorization: String?) -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
        let parts = authorization.dropFirst(7).split(
            separator: ".",
            omittingEmptySubsequences: false
        )
        guard parts.count == 3,
            let header: Header = decode(parts[0]), header.alg == "ES256",
            let claims: Claims = decode(parts[1]),
            let key = keys.first(where: { $0.keyID == header.kid }),
            claims.iss == key.issuerID, claims.bid == bundleID,
            claims.aud == "appstoreconnect-v1",
            claims.exp > now, case let issued = claims.iat ?? now, issued <= now + 60,
            claims.exp - issued <= longestLife,
            let bytes = Data(base64URL: String(parts[2])),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes),
            let publicKey = try? P256.Signing.PublicKey(pemRepresentation: key.publicKeyPEM)
        else { return false }
        return publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
    }

    private func decode<Part: Decodable>(_ text: Substring) -> Part? {
        Data(base64URL: String(text)).flatMap { try? JSONDecoder().decode(Part.self, from: $0) }
    }
}

/// Lets only requests with a good token through.
struct TokenMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext
    var store: SimulatedAppStore

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        let wall = Date().timeIntervalSince1970
        let check = TokenCheck(
            bundleID: await store.world.bundleID,
            keys: await store.apiKeys,
            longestLife: 3600
        )
        guard check.accepts(authorization: request.headers[.authorization]) else {
            throw Unauthenticated()
        }
        try await store.admit(
            method: request.method.rawValue,
            path: request.uri.path,
            wall: wall
        )
        guard await !store.failsCall() else {
            throw APIError(5_000_001, "An unknown error occurred. Please try again.")
        }
        return try await next(request, context)
    }
}
