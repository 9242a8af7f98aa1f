internal import Logging
internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

/// The feed of what changed for customers.
public struct Events: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let leases: Leases
    let logger: Logger

    /// Announces what lapsed, and gives waiting messages their places in the feed.
    ///
    /// Call it again and again, on any number of servers: one at a time does it.
    ///
    /// - Returns: whether nothing failed.
    @discardableResult
    public func publish() async -> Bool {
        do {
            let now = await clocks.now()
            guard try await records.feed.hasNews(at: now) else { return true }
            _ = try await leases.holding("feed", seconds: 10) { prolong in
                while try await !records.feed.sweep(until: now).isDone { try await prolong() }
                // What comes meanwhile waits for the next time: a commit for each few messages would
                // be time that ingest lacks.
                while try await records.feed.publish(at: clocks.now(), limit: 500) == 500 {
                    try await prolong()
                }
            }
        } catch let error as StorageError where error.kind == .contention && error.code == nil {
            // Another server is at it, whose lease began when ours ended: what it leaves is there the
            // next time, and nobody has to be told. What the database calls contention has a code.
            logger.debug("the feed will be tried again", metadata: ["error": "\(error)"])
        } catch {
            logger.warning("the feed will be tried again", metadata: ["error": "\(error)"])
            return false
        }
        return true
    }

    /// For how long there is nothing to publish unless something is committed.
    public func idleTime() async throws -> Duration {
        let now = await clocks.now()
        let next = try await records.feed.nextNews(at: now)
        // A sandbox's clock is moved without a word.
        if clocks.isVirtual, next != nil { return .zero }
        return Clocks.idleTime(until: next, at: now)
    }

    /// The pull feed: what changed for customers, oldest first, each with the whole answer.
    ///
    /// - Parameters:
    ///   - startingAfter: the id of the last event that was seen; `nil`: from the beginning.
    ///   - limit: 1 to 100.
    /// - Throws: a refusal 400 `parameter_invalid`.
    public func list(
        startingAfter: String?,
        limit: Int64 = 10
    ) async throws -> API.List<API.Event> {
        guard (1...100).contains(limit) else {
            throw Refusal.invalid("limit", "limit is between 1 and 100.")
        }
        var after: Int64 = 0
        if let startingAfter {
            guard let number = Self.number(ofEvent: startingAfter) else {
                throw Refusal.invalid("starting_after", "starting_after is the id of an event.")
            }
            after = number
        }
        let messages = try await records.feed.messages(after: after, limit: limit + 1)
        let catalog = records.history.current
        return API.List(
            data: messages.prefix(Int(limit)).map { API.Event($0, in: catalog) },
            hasMore: messages.count > Int(limit)
        )
    }

    /// `evt_`, the place in the feed, `_` and a hash of the cause.
    static func number(ofEvent id: String) -> Int64? {
        let parts = id.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "evt", parts[2].utf8.count == 16 else { return nil }
        return Int64(parts[1]).flatMap { $0 > 0 ? $0 : nil }
    }
}

extension API.Event {
    init(_ message: FeedMessage, in catalog: Catalog) {
        self.init(
            id: Self.id(of: message),
            type: message.kind.rawValue,
            created: message.created.milliseconds,
            customer: message.customer.rawValue,
            environment: API.Environment(rawValue: message.environment.rawValue),
            sequence: message.sequence,
            entitlements: message.entitlements.map { entitlement in
                API.Entitlement(
                    id: "ent_\(entitlement.lookupKey)",
                    lookupKey: entitlement.lookupKey,
                    feature: catalog.entitlement(lookupKey: entitlement.lookupKey)?.name
                        ?? entitlement.lookupKey,
                    since: entitlement.since.milliseconds,
                    until: entitlement.until?.milliseconds,
                    ground: API.Ground(rawValue: entitlement.ground.rawValue),
                    purchase: entitlement.purchase.canonical
                )
            },
            coins: API.CoinBalance(balance: message.balance),
            changes: message.changes.map { change in
                switch change {
                case .granted(let entitlement), .changed(let entitlement),
                    .revoked(let entitlement):
                    API.EventChange(type: change.type, lookupKey: entitlement.lookupKey)
                case .coinsCredited(let amount), .coinsDebited(let amount):
                    API.EventChange(type: change.type, amount: amount)
                }
            },
            purchases: message.purchases.map {
                API.PurchaseNews(purchase: $0.purchase.canonical, facts: $0.facts)
            }
        )
    }

    /// Its place in the feed, and a hash of its cause.
    static func id(of message: FeedMessage) -> String {
        "evt_\(message.number)_\(message.cause.hex.prefix(16))"
    }
}
