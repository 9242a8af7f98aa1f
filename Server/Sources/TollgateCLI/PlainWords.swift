import CommandOutput
import Storage
import Stores
import TollgateAPI
import TollgateService

extension PlainWords {
    /// An error in words for a person.
    static func of(_ error: any Error) -> String {
        switch error {
        case let refusal as Refusal: refusal.error.message
        case let error as APIError: error.message
        case let error as StorageError: error.message
        case let error as CatalogErrors: error.description
        default:
            of(
                error,
                modules: [
                    "Tollgate", "AppStore", "GooglePlay", "Sandbox", "Stripe", "Stores", "Storage",
                    "Reports", "StrictJSON",
                ]
            )
        }
    }
}
