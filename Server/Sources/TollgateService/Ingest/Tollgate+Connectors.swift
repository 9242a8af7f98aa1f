internal import Storage
public import Stores
public import TollgateCore

extension Tollgate {
    public func connector(of store: Store) -> (any StoreConnector)? {
        connectors.first { $0.store == store }
    }

    /// What people call a store.
    public func name(of store: Store) -> String { connector(of: store)?.name ?? "Tollgate" }

    /// Asks the stores what messages did not carry.
    ///
    /// Call it again and again; each time it asks what may be asked now. Where nothing is wanted, it costs
    /// one short read.
    ///
    /// - Returns: `false` while asking one of them fails.
    @discardableResult
    public func fetchWanted() async -> Bool {
        // Without this check, an idle server makes a dozen reads twice a second. What fails here fails there
        // too, and is logged.
        if let isAsked = try? await store.questions.hasAny(), !isAsked { return true }
        var isWell = true
        for connector in connectors {
            let answers = await connector.askWhatIsWanted()
            isWell = isWell && answers
        }
        return isWell
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
