import ArgumentParser
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TollgateService

extension OpenIDSettings {
    /// Where staff may sign in, from `TOLLGATE_OIDC_…`; `nil` where no issuer is named.
    ///
    /// - Throws: a usage error where it is half set up, or the issuer could be overheard.
    static func configured() throws -> OpenIDSettings? {
        guard let issuer = Settings.text(nil, "OIDC_ISSUER") else {
            for name in ["CLIENT_ID", "CLIENT_SECRET", "NAME", "DOMAIN"]
            where Settings.text(nil, "OIDC_\(name)") != nil {
                throw ValidationError("TOLLGATE_OIDC_\(name) needs TOLLGATE_OIDC_ISSUER.")
            }
            return nil
        }
        guard let clientID = Settings.text(nil, "OIDC_CLIENT_ID") else {
            throw ValidationError(
                "TOLLGATE_OIDC_ISSUER needs TOLLGATE_OIDC_CLIENT_ID, as the issuer named this client."
            )
        }
        guard isSafe(issuer) else {
            throw ValidationError(
                "TOLLGATE_OIDC_ISSUER: '\(issuer)' does not begin with https://, as an issuer's address does."
            )
        }
        return OpenIDSettings(
            issuer: issuer,
            clientID: clientID,
            clientSecret: Settings.text(nil, "OIDC_CLIENT_SECRET"),
            name: Settings.text(nil, "OIDC_NAME"),
            domain: Settings.text(nil, "OIDC_DOMAIN")
        )
    }
}

/// Carries requests to an issuer over a client that follows no redirection.
func openIDTransport(over client: HTTPClient) -> OpenIDTransport {
    { wanted in
        var request = HTTPClientRequest(url: wanted.url)
        for (name, value) in wanted.headers {
            request.headers.replaceOrAdd(name: name, value: value)
        }
        if let form = wanted.form {
            request.method = .POST
            request.headers.replaceOrAdd(
                name: "Content-Type",
                value: "application/x-www-form-urlencoded"
            )
            request.body = .bytes(ByteBuffer(string: form))
        }
        let response = try await client.execute(request, timeout: .seconds(10))
        let body = try await response.body.collect(upTo: 256 << 10)
        return (Int(response.status.code), Array(body.readableBytesView))
    }
}
