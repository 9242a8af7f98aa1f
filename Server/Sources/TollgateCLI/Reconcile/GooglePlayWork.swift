import ArgumentParser
import GooglePlayConnector
import TollgateService

/// Long work with Google Play by a command: the application without its HTTP server.
enum GooglePlayWork {
    /// - Throws: a usage error where Google Play is not set up, and what `StoreWork` throws.
    static func run<Result: Sendable>(
        database: String?,
        catalog: String?,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let store = try StoreWork(database: database, catalog: catalog)
        guard store.stores.googlePlay.isSetUp else {
            throw ValidationError(
                "Set TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE and TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME."
            )
        }
        return try await store.run(
            over: { .init(googlePlay: try await store.stores.googlePlay.setUp(over: $0)) },
            work
        )
    }
}
