internal import Storage
public import Stores

extension Tollgate {
    /// Every store's room.
    public var connectors: [any StoreConnector] { [appStore, stripe] }

    /// Asks the stores what messages did not carry.
    ///
    /// Call it again and again; each time it asks what may be asked now.
    public func fetchWanted() async {
        for connector in connectors { await connector.askWhatIsWanted() }
    }

    /// The messages that could not be used.
    public var parked: ParkedMessages {
        ParkedMessages(store) { [connectors] message in
            guard let connector = connectors.first(where: { $0.store == message.store }) else {
                return .parked
            }
            return try await connector.retry(message.body)
        }
    }
}
