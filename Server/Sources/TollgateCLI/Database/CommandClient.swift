// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient

extension HTTPClient {
    /// The HTTP client of a command that asks and ends: a refused connection is an error at once, where
    /// AsyncHTTPClient would try it again for ten seconds while somebody waits at the terminal.
    static func forCommand(
        _ configuration: Configuration = Configuration()
    ) -> HTTPClient {
        var configuration = configuration
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
