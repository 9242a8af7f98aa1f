import AppStoreAPI
public import CommandOutput
import GooglePlayAPI
import Storage
import Stores
import StripeAPI
import TollgateAPI
import TollgateService

extension PlainWords {
    /// An error in words for a person.
    static func of(_ error: any Error) -> String {
        switch error {
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

// These say all that is to be said when a command ends with them.
extension Refusal: ProgramFailure {}
extension SealingError: ProgramFailure {}
extension AppStore.ServerAPIError: ProgramFailure {}
extension GooglePlay.APIFault: ProgramFailure {}
extension Stripe.RequestError: ProgramFailure {}
