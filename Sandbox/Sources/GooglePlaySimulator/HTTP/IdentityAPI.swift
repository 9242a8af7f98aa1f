import Foundation

/// The token endpoint and Google's certificates.
struct IdentityAPI: Sendable {
    let play: SimulatedGooglePlay

    func answer(_ exchange: Exchange) async -> Answer {
        switch (exchange.method, exchange.path.joined(separator: "/")) {
        case ("POST", "token"), ("POST", "o/oauth2/token"), ("POST", "oauth2/v4/token"):
            return await token(exchange)
        case ("GET", "oauth2/v1/certs"): return await cached(await play.keys.certificates)
        case ("GET", "oauth2/v3/certs"):
            do { return await cached(try await play.keys.webKeys) } catch {
                Trouble.tell(error, during: exchange)
                return .error(.internalError)
            }
        default: return .error(.notFound("Not Found"))
        }
    }

    private func cached(_ keys: JSON) async -> Answer {
        var answer = Answer.json(keys)
        guard await play.store.behaviour.certificatesAreCacheable else { return answer }
        answer.headers.append(
            ("Cache-Control", "public, max-age=\(GoogleKeys.maxAge), must-revalidate, no-transform")
        )
        return answer
    }

    private func token(_ exchange: Exchange) async -> Answer {
        let form = Exchange.form(String(decoding: exchange.body, as: UTF8.self))
        func field(_ name: String) -> String? { form.first { $0.name == name }?.value }
        do {
            guard field("grant_type") == TokenEndpoint.grantType else {
                throw TokenEndpoint.Failure(
                    error: "unsupported_grant_type",
                    description: "Invalid grant_type: \(field("grant_type") ?? "")"
                )
            }
            guard let assertion = field("assertion") else {
                throw TokenEndpoint.Failure(
                    error: "invalid_request",
                    description: "Missing required parameter: assertion"
                )
            }
            return .json(
                try await play.token(
                    for: assertion,
                    tokenURL: "\(exchange.origin)/token",
                    seconds: exchange.seconds
                )
            )
        } catch let failure as TokenEndpoint.Failure {
            return .json(failure.wire, status: 400)
        } catch {
            Trouble.tell(error, during: exchange)
            return .json(["error": "internal_failure"], status: 500)
        }
    }
}
