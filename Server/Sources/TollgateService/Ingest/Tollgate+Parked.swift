internal import AppStoreAPI
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
        case .appStore:
            do {
                if let payload = try? AppStore.NotificationBody(message.body).signedPayload {
                    return try await receive(
                        signedPayload: payload,
                        in: message.body,
                        kind: .signed
                    )
                }
                return try await take(read: message.body)
            } catch {
                // Another root or app is configured now.
                guard error is AppStore.VerificationError else { throw error }
                return .parked
            }
        case .stripe:
            guard let event = try? Stripe.Event(bytes: message.body) else { return .parked }
            return try await receive(event, body: message.body, kind: .delivered)
        case .tollgate:
            return .parked
        }
    }
}
