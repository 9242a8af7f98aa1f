public import TollgateCore

/// One store's side of the house: the only code that knows the store by name.
public protocol StoreConnector: Sendable {
    var store: Store { get }
    var house: House { get }

    /// Asks whoever has to be asked before a message can be believed, such as whether a certificate
    /// was revoked.
    func check(_ message: ReceivedMessage) async throws

    /// Verifies and translates one message, without network or database.
    ///
    /// - Throws: a `StoreFault` for what the store did not sign for us; a refusal.
    func translate(_ message: ReceivedMessage, at now: Instant) throws -> Translation

    /// Takes in a message, however it came here.
    ///
    /// Durable when this returns.
    ///
    /// - Throws: as `translate`; `StorageError` where it could not be kept, so that the store sends it
    ///   again.
    func receive(_ message: ReceivedMessage) async throws -> Receipt

    /// Asks the store what its messages did not carry, as far as it may be asked now.
    ///
    /// Call it again and again.
    func askWhatIsWanted() async
}

extension StoreConnector {
    public func check(_ message: ReceivedMessage) async throws {}

    public func receive(_ message: ReceivedMessage) async throws -> Receipt {
        try await check(message)
        let translation = try translate(message, at: await house.clocks.now())
        return try await house.journal(translation, of: store)
    }

    /// Takes in again what was parked; what still cannot be used stays there.
    public func retry(_ body: [UInt8]) async throws -> Receipt {
        do {
            return try await receive(ReceivedMessage(body, .parked))
        } catch is any StoreFault {
            // Another root or app is configured now.
            return .parked
        } catch let refusal as Refusal where refusal.status < 500 {
            return .parked
        }
    }
}
