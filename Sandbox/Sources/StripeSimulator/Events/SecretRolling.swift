// A signing secret is replaced while the old one still signs beside it.
// https://docs.stripe.com/webhooks#roll-endpoint-secrets

extension WebhookEndpoints {
    /// Gives an endpoint a new secret.
    ///
    /// - Parameters:
    ///   - wall: real time in UNIX seconds, by which signatures live.
    ///   - overlap: for how many seconds the old secret still signs too; a day at most.
    /// - Returns: the new secret.
    static func rollSecret(_ world: inout World, of endpoint: String, wall: Int, overlap: Int)
        throws -> String
    {
        let known = try world.find(.webhookEndpoint, endpoint)
        let secret = "whsec_" + world.random.token(32)
        let until = wall + max(0, min(overlap, 86_400))
        let retiring = known["_secrets"].elements.map { old -> JSON in
            ["secret": old, "until": .int(until)]
        }
        world.change(.webhookEndpoint, endpoint) {
            $0["_secrets"] = [.string(secret)]
            $0["_retiring"] = .array(retiring)
        }
        return secret
    }

    /// The secrets that sign for an endpoint now, the newest first.
    static func secrets(of endpoint: JSON, wall: Int) -> [String] {
        endpoint["_secrets"].elements.map(\.text)
            + endpoint["_retiring"].elements.filter { $0["until"].count > wall }
            .map { $0["secret"].text }
    }
}

extension StripeSimulator {
    /// Replaces the signing secret of an endpoint.
    ///
    /// - Parameter overlap: for how many seconds of real time the old one signs too.
    /// - Returns: the new secret.
    public func rollSecret(ofEndpoint id: String, overlap: Int = 86_400) async throws -> String {
        let wall = configuration.wall()
        return try await act {
            try WebhookEndpoints.rollSecret(&$0, of: id, wall: wall, overlap: overlap)
        }
    }
}
