// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient

extension HTTPClient {
    /// Does the work of a command that asks and ends, with a client of its own.
    static func forCommand<Result: Sendable>(
        _ work: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        try await withHTTPClient(configuration: .forCommand(), work)
    }
}

extension HTTPClient.Configuration {
    /// A refused connection is an error at once, where AsyncHTTPClient would try it again for ten seconds
    /// while somebody waits at the terminal.
    static func forCommand(_ configuration: Self = Self()) -> Self {
        var configuration = configuration
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
