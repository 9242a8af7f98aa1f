extension Purchase {
    /// The statements of one store, in its own words.
    ///
    /// All that a further store has to decide about its record is in this file.
    public enum Record: Hashable, Sendable {
        case appStore(AppStoreRecord)
        case stripe(StripeRecord)
        case own(OwnRecord)

        /// A record of which nothing is known yet.
        init(of store: Store) {
            switch store {
            case .appStore: self = .appStore(AppStoreRecord())
            case .stripe: self = .stripe(StripeRecord())
            case .tollgate: self = .own(OwnRecord())
            }
        }
    }

    enum CodingKeys: String, CodingKey {
        case key, claims, assignment, appStore, stripe, own
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
        case .own(let record): record.evaluate(ownership, &evaluation)
        }
    }

    /// Everybody whom the record may make a holder.
    var names: [Holder] {
        switch self {
        case .appStore(let record): record.names
        case .stripe(let record): record.names
        case .own(let record): record.names
        }
    }

    var products: [StoreProduct] {
        switch self {
        case .appStore(let record): record.products
        case .stripe(let record): record.products
        case .own(let record): record.products
        }
    }

    func lines(_ telling: Explanation.Telling) -> [Explanation.Line] {
        switch self {
        case .appStore(let record): record.lines(telling)
        case .stripe(let record): record.lines(telling)
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
        case .own: break
        }
    }

    init(of store: Store, from fields: KeyedDecodingContainer<Purchase.CodingKeys>) throws {
        switch store {
        case .appStore: self = .appStore(try fields.decode(AppStoreRecord.self, forKey: .appStore))
        case .stripe: self = .stripe(try fields.decode(StripeRecord.self, forKey: .stripe))
        case .tollgate: self = .own(try fields.decode(OwnRecord.self, forKey: .own))
        }
    }

    func encode(to fields: inout KeyedEncodingContainer<Purchase.CodingKeys>) throws {
        switch self {
        case .appStore(let record): try fields.encode(record, forKey: .appStore)
        case .stripe(let record): try fields.encode(record, forKey: .stripe)
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
        case .own: names.map { [$0] }
        }
    }
}
