package import TollgateCore

/// A customer's row in one environment: the answer to "what may they use", ready to be read.
package struct CustomerAnswer: Hashable, Sendable {
    package struct Holding: Hashable, Sendable {
        package var purchase: Purchase.Key
        package var access: PurchaseAccess
    }

    /// Sorted by purchase; only those that give any access.
    package private(set) var holdings: [Holding] = []

    package init() {}

    init(holdings: [Holding]) {
        self.holdings = holdings
    }

    /// In the place of the answer of a customer who was erased: CBOR's null.
    static let erasedBytes: [UInt8] = [0xF6]

    package func timeline(in catalog: Catalog) -> Timeline {
        Timeline(holdings.map { ($0.purchase, $0.access) }, in: catalog)
    }

    /// Puts what one purchase gives in the place of what it gave.
    ///
    /// Returns whether that differs.
    mutating func set(_ purchase: Purchase.Key, _ access: PurchaseAccess?) -> Bool {
        let index = holdings.firstIndex { $0.purchase >= purchase } ?? holdings.endIndex
        let known = index < holdings.endIndex && holdings[index].purchase == purchase
        let access = access.flatMap { $0 == PurchaseAccess() ? nil : $0 }
        switch (known, access) {
        case (false, nil): return false
        case (false, let access?):
            holdings.insert(Holding(purchase: purchase, access: access), at: index)
        case (true, nil): holdings.remove(at: index)
        case (true, let access?):
            guard holdings[index].access != access else { return false }
            holdings[index].access = access
        }
        return true
    }
}

/// The row while it is being worked on.
struct CustomerState {
    var environment: StoreEnvironment
    var sequence: Int64 = 0
    var balance: Int64 = 0
    var answer = CustomerAnswer()
    /// Nothing is answered any more; coins are still counted, or the books would not balance.
    var isErased = false
    /// What the feed will say of the change.
    var news: FeedMessage.Kind?
    /// What was stated of purchases that the customer has a part of.
    var purchaseNews: [FeedMessage.PurchaseNews] = []
    var isChanged = false
    /// The clock of the item that changed it last, or was about a purchase of theirs.
    var changed = Instant(milliseconds: 0)
    /// How many versions of the catalog there were then.
    var versions = 0

    mutating func erase() {
        isErased = true
        news = .customerErased
        answer = CustomerAnswer()
    }

    /// Whether something was stated that is worth telling although the answer is as it was: that a
    /// period is there was told when it came, and devices say it again and again.
    var hasNews: Bool {
        for news in purchaseNews {
            for word in news.facts where word != "period" && word != "claim" { return true }
        }
        return false
    }

    /// Notes a change by an item.
    ///
    /// The last one counts, not the largest clock: what a batch writes must not depend on how items
    /// were batched, or a rebuild would differ.
    mutating func touch(_ instant: Instant, versions: Int) {
        sequence += 1
        isChanged = true
        changed = instant
        self.versions = versions
    }

    /// Notes what an item stated of a purchase.
    mutating func hear(_ facts: [Fact], at instant: Instant, versions: Int) {
        guard let purchase = facts.first?.purchase, !isErased else { return }
        if !isChanged {
            changed = instant
            self.versions = versions
        }
        var news = FeedMessage.PurchaseNews(purchase: purchase, facts: [])
        let known = purchaseNews.firstIndex { $0.purchase == purchase }
        if let known { news = purchaseNews[known] }
        for word in facts.map(\.kind) where !news.facts.contains(word) {
            news.facts.append(word)
        }
        if let known { purchaseNews[known] = news } else { purchaseNews.append(news) }
    }
}

/// What a purchase's record has led to so far, kept beside it.
struct Posting: Codable, Hashable {
    /// Coins that were posted for one lot.
    struct Lot: Codable, Hashable {
        var id: String
        var row: RowKey
        /// Whether the row is a customer's, not a name's that nobody has registered yet.
        var isCustomer: Bool
        var total: Int64
        var transfers: Int64
    }

    /// Rows whose answer holds a part of it, sorted.
    var rows: [RowKey] = []
    /// Keys under which it must be found again: unregistered names, unknown products.
    ///
    /// Sorted.
    var index: [RowKey] = []
    /// Sorted by id.
    var lots: [Lot] = []
}

/// A purchase's row while it is being worked on.
struct PurchaseState {
    var record: Purchase
    var posting = Posting()
    var isChanged = false
}

/// A movement of coins between a customer and the counter-account of their lot.
struct Transfer {
    var id: RowKey
    var lot: RowKey
    var row: RowKey
    var amount: Int64
    var item: Int
}
