extension Purchase {
    /// The statements of one store, in its own words.
    ///
    /// All that a further store has to decide about its record is in this file.
    public enum Record: Hashable, Sendable {
        case appStore(AppStoreRecord)
        case stripe(StripeRecord)
        case googlePlay(GooglePlayRecord)
        case own(OwnRecord)

        /// A record of which nothing is known yet.
        init(of store: Store) {
            switch store {
            case .appStore: self = .appStore(AppStoreRecord())
            case .stripe: self = .stripe(StripeRecord())
            case .googlePlay: self = .googlePlay(GooglePlayRecord())
            case .tollgate: self = .own(OwnRecord())
            }
        }
    }

    enum CodingKeys: String, CodingKey {
        case key, claims, assignment, appStore, stripe, googlePlay, own
    }
}

extension Purchase.Record {
    /// - Parameter id: the purchase's.
    mutating func join(_ fact: Fact, of id: String) {
        // What is taken out first is held once here, and so changed in place.
        switch self {
        case .appStore(var record):
            self = .own(OwnRecord())
            record.join(fact, of: id)
            self = .appStore(record)
        case .stripe(var record):
            self = .own(OwnRecord())
            record.join(fact)
            self = .stripe(record)
        case .googlePlay(var record):
            self = .own(OwnRecord())
            record.join(fact, of: id)
            self = .googlePlay(record)
        case .own(var record):
            record.join(fact)
            self = .own(record)
        }
    }

    func evaluate(
        _ ownership: Ownership,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        switch self {
        case .appStore(let record): record.evaluate(ownership, in: history, &evaluation)
        case .stripe(let record): record.evaluate(ownership, in: history, &evaluation)
        case .googlePlay(let record): record.evaluate(ownership, in: history, &evaluation)
        case .own(let record): record.evaluate(ownership, &evaluation)
        }
    }

    /// Everybody whom the record may make a holder.
    var names: [Holder] {
        switch self {
        case .appStore(let record): record.names
        case .stripe(let record): record.names
        case .googlePlay(let record): record.names
        case .own(let record): record.names
        }
    }

    /// The instant from which restores are about the newest buyer; `nil`: nobody else came before.
    var buyerSince: Instant? {
        switch self {
        case .appStore(let record): record.buyerSince
        case .googlePlay(let record): record.buyerSince
        case .stripe, .own: nil
        }
    }

    var products: [StoreProduct] {
        switch self {
        case .appStore(let record): record.products
        case .stripe(let record): record.products
        case .googlePlay(let record): record.products
        case .own(let record): record.products
        }
    }

    func lines(_ telling: Explanation.Telling) -> [Explanation.Line] {
        switch self {
        case .appStore(let record): record.lines(telling)
        case .stripe(let record): record.lines(telling)
        case .googlePlay(let record): record.lines(telling)
        case .own(let record): record.lines(telling)
        }
    }

    mutating func rename(_ renaming: Renaming) throws {
        switch self {
        case .appStore(var record):
            try record.rename(renaming)
            self = .appStore(record)
        case .stripe(var record):
            try record.rename(renaming)
            self = .stripe(record)
        case .googlePlay(var record):
            try record.rename(renaming)
            self = .googlePlay(record)
        case .own: break
        }
    }

    /// Notes that a purchase of the same app and environment continues this one.
    ///
    /// - Parameter other: what is known of that one.
    mutating func isContinued(by successor: Successor, _ other: Self?) {
        switch self {
        case .appStore(var record):
            record.join(successor)
            self = .appStore(record)
        case .googlePlay(var record):
            record.join(successor, from: other?.googlePlay)
            self = .googlePlay(record)
        case .stripe, .own: break
        }
    }

    /// Takes over what the purchase `id` knows.
    ///
    /// - Returns: whether this one continues that.
    mutating func follow(_ predecessor: Self, id: String) -> Bool {
        switch self {
        case .appStore(var record):
            guard let other = predecessor.appStore, record.follow(other, id: id) else {
                return false
            }
            self = .appStore(record)
        case .googlePlay(var record):
            guard let other = predecessor.googlePlay, record.follow(other, id: id) else {
                return false
            }
            self = .googlePlay(record)
        case .stripe, .own: return false
        }
        return true
    }

    init(of store: Store, from fields: KeyedDecodingContainer<Purchase.CodingKeys>) throws {
        switch store {
        case .appStore: self = .appStore(try fields.decode(AppStoreRecord.self, forKey: .appStore))
        case .stripe: self = .stripe(try fields.decode(StripeRecord.self, forKey: .stripe))
        case .googlePlay:
            self = .googlePlay(try fields.decode(GooglePlayRecord.self, forKey: .googlePlay))
        case .tollgate: self = .own(try fields.decode(OwnRecord.self, forKey: .own))
        }
    }

    func encode(to fields: inout KeyedEncodingContainer<Purchase.CodingKeys>) throws {
        switch self {
        case .appStore(let record): try fields.encode(record, forKey: .appStore)
        case .stripe(let record): try fields.encode(record, forKey: .stripe)
        case .googlePlay(let record): try fields.encode(record, forKey: .googlePlay)
        case .own(let record): try fields.encode(record, forKey: .own)
        }
    }
}

extension Purchase {
    /// Everybody whom its money may be counted for.
    public var buyers: [HolderNames] {
        switch record {
        case .appStore: effectivePeriods.map(\.buyer)
        case .stripe: [stripeBuyer]
        case .googlePlay(let record): [ownership.buyer(token: record.buyer)]
        case .own: names.map { [$0] }
        }
    }

    /// The question that fills a purchase of which only the one that continues it is known; `nil`: it
    /// is known.
    ///
    /// - Parameter successor: the token or original transaction id of that one.
    public func wanted(knownBy successor: String) -> Wanted? {
        switch record {
        case .appStore(let record):
            // Its own messages were lost: the customer's history has it.
            record.periods.isEmpty ? Wanted(kind: .transactionHistory, object: successor) : nil
        case .googlePlay(let record):
            record.subscription == nil && record.unreadable == nil
                ? Wanted(kind: .googlePlaySubscription, object: key.id) : nil
        case .stripe, .own: nil
        }
    }
}
