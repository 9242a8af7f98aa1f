internal import Storage
public import Stores
internal import StripeAPI
internal import TollgateCore

extension Tollgate {
    /// The messages that could not be used.
    public var parked: ParkedMessages {
        ParkedMessages(store) { try await self.retry($0) }
    }

    private func retry(_ message: ParkedMessage) async throws -> Receipt {
        switch message.store {
        case .appStore: return try await appStore.retry(message.body)
        case .stripe:
            guard let event = try? Stripe.Event(bytes: message.body) else { return .parked }
            return try await receive(event, body: message.body, kind: .delivered)
        case .tollgate:
            return .parked
        }
    }
}
