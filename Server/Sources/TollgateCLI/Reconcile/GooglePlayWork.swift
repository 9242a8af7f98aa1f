import ArgumentParser
import CommandOutput
import GooglePlayAPI
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
        do {
            return try await store.run(
                over: { .init(googlePlay: try await store.stores.googlePlay.setUp(over: $0)) },
                work
            )
        } catch let fault as GooglePlay.APIFault {
            throw CheckFailed(message: sentence(fault))
        } catch let used as QuotaUsedUp {
            throw CheckFailed(message: "\(used). Run it again to go on.")
        }
    }

    /// The fault with what to do about it.
    static func sentence(_ fault: GooglePlay.APIFault) -> String {
        switch fault.meaning {
        case .notAllowed:
            "\(fault). Give the service account the permissions of docs/google-play.md, step 1; new ones take up to 48 hours. Then run it again to go on."
        default: "\(fault). Run it again to go on."
        }
    }
}
