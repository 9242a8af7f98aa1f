extension AppStore {
    /// Asks about an identifier whose environment is not known: production first, and the sandbox
    /// if production does not know it.
    public struct EitherEnvironment: Sendable {
        /// The client for production.
        public let production: ServerAPIClient
        /// The client for the sandbox.
        public let sandbox: ServerAPIClient

        /// The clients of both environments.
        public init(production: ServerAPIClient, sandbox: ServerAPIClient) {
            self.production = production
            self.sandbox = sandbox
        }

        /// Asks in one environment and, where the identifier is unknown, in the other.
        public func ask<Value: Sendable>(
            _ question: (ServerAPIClient) async throws(ServerAPIError) -> Value
        ) async throws(ServerAPIError) -> (answer: Value, environment: Environment) {
            do { return (try await question(production), .production) } catch {
                guard error.isNotFound else { throw error }
                return (try await question(sandbox), .sandbox)
            }
        }
    }
}
