import SandboxClock

/// The Google Play Developer API, `androidpublisher` v3.
struct DeveloperAPI: Sendable {
    static let scope = "https://www.googleapis.com/auth/androidpublisher"

    let play: SimulatedGooglePlay

    func answer(_ exchange: Exchange) async -> Answer {
        do {
            guard
                await play.tokens.accepts(
                    exchange.authorization,
                    of: await play.account,
                    scopes: [Self.scope],
                    seconds: exchange.seconds
                )
            else { throw APIError.unauthenticated }
            try await play.failIfFaulty()
            guard exchange.path.count > 4, exchange.path[1] == "v3",
                exchange.path[2] == "applications",
                case let (endpoint, parameters)? = Endpoint.find(
                    exchange.method,
                    Array(exchange.path.dropFirst(4))
                )
            else { throw APIError.notFound("Method not found.") }
            guard exchange.path[3] == (await play.store.packageName) else {
                throw APIError.permissionDenied
            }
            let call = Call(
                parameters: parameters,
                query: exchange.query,
                body: exchange.body.isEmpty ? nil : try json(exchange),
                now: await play.clock.now
            )
            let answer = try await play.answer(endpoint, call, seconds: exchange.seconds)
            try await play.loseAnswer()
            return answer.map { Answer.json($0) } ?? .nothing
        } catch let error as APIError {
            return .error(error)
        } catch let refusal as Refusal {
            return .error(.failedPrecondition(refusal.description))
        } catch {
            Trouble.tell(error, during: exchange)
            return .error(.internalError)
        }
    }

    private func json(_ exchange: Exchange) throws(APIError) -> JSON {
        guard let json = JSON(bytes: exchange.body) else {
            throw .invalid("Invalid JSON payload received. Unexpected token.")
        }
        return json
    }
}
