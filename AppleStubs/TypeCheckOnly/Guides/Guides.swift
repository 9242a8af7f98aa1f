// What the guides' Swift takes for granted of the app around it; scripts/guide_samples.py writes the rest.
import BillingSDK
import Foundation

/// The app's own backend.
struct Backend: Sendable {
    func customerSession() async throws -> UBCustomerSessionDetails? { nil }
    func keep(_ tokens: [String]) async throws {}
}
let backend = Backend()

func anything<Value>() -> Value { fatalError("never run") }
let button: BuyButton = anything()
let terms: URL = anything(), privacy: URL = anything()
