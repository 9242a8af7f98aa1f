import Foundation
import TollgateCore

/// Records, their answers and their coins after facts came one by one, with or without a mistake.
struct Ledger {
    private var records: [Purchase.Key: Purchase] = [:]
    private let mutation: InvariantTests.Mutation?
    /// Coins by lot, posted as differences, and their counter-account.
    private var posted: [String: Int64] = [:]
    private var counter: Int64 = 0
    /// The lowest that any lot ever was.
    private(set) var lowest: Int64 = 0

    init(_ facts: [Fact], _ mutation: InvariantTests.Mutation?, snapshotAfter count: Int? = nil) {
        self.mutation = mutation
        for (index, fact) in facts.enumerated() {
            if index == count { takeSnapshot() }
            let fact = altered(fact, index)
            if let fact {
                records[fact.purchase, default: Purchase(key: fact.purchase)].join(fact)
                post(fact.purchase)
            }
        }
        if count == facts.count { takeSnapshot() }
    }

    private func altered(_ fact: Fact, _ arrival: Int) -> Fact? {
        var fact = fact
        switch (mutation, fact.statement) {
        case (.arrivalOrderTrusted, _): fact.stated = Stated(.day(Double(arrival)))
        case (.olderStatementWins, _):
            fact.stated = Stated(Instant(milliseconds: -fact.stated.instant.milliseconds))
        case (.creditedPerMessage, .period(var period)):
            period.id += fact.source
            fact.statement = .period(period)
        case (.periodsLastLonger, .period(var period)):
            period.end = period.end?.advanced(by: 3 * 86_400_000)
            fact.statement = .period(period)
        case (.graceIgnored, .renewal(var terms)):
            terms.graceEnd = nil
            fact.statement = .renewal(terms)
        case (.graceIgnored, .status(let status)) where status.value == 4: return nil
        case (.reversalForgotten, .refundReversed): return nil
        case (.environmentsMixed, _):
            fact.purchase = Purchase.Key(
                store: fact.purchase.store,
                environment: .production,
                application: fact.purchase.application,
                id: fact.purchase.id + (fact.purchase.environment == .sandbox ? "s" : "")
            )
        default: break
        }
        return fact
    }

    /// Everything is written down and read again.
    private mutating func takeSnapshot() {
        for (key, record) in records {
            guard var bytes = try? JSONEncoder().encode(record) else { continue }
            if mutation == .snapshotForgetsTerms {
                var object = (try? JSONSerialization.jsonObject(with: bytes)) as? [String: Any]
                var record = object?["appStore"] as? [String: Any]
                record?["signedRenewal"] = nil
                object?["appStore"] = record
                bytes = object.flatMap { try? JSONSerialization.data(withJSONObject: $0) } ?? bytes
            }
            records[key] = try? JSONDecoder().decode(Purchase.self, from: bytes)
        }
    }

    private mutating func post(_ key: Purchase.Key) {
        guard let lots = records[key]?.evaluate(in: Shop.history).lots else { return }
        for lot in lots {
            let name = "\(key) \(lot.id)"
            let target =
                mutation == .refundTakenTwice ? lot.remainder - lot.clawed : lot.remainder
            let difference = target - (posted[name] ?? 0)
            posted[name, default: 0] += difference
            counter -= difference
            lowest = min(lowest, posted[name] ?? 0)
        }
    }

    var coins: Int64 { posted.values.reduce(0, +) }
    var imbalance: Int64 { coins + counter }

    private func timeline(where isMeant: (Purchase.Key) -> Bool = { _ in true }) -> Timeline {
        let meant = records.values.filter { isMeant($0.key) }.sorted { $0.key < $1.key }
        return Timeline(
            meant.flatMap { record in
                record.evaluate(in: Shop.history).shares.map { (record.key, $0.access) }
            },
            in: Shop.catalog
        )
    }

    /// Every span of access.
    var access: [Timeline.Entry] { timeline().entries }

    /// What production gives.
    var production: [Timeline.Entry] {
        timeline { $0.environment == .production }.entries
    }

    func isEntitled(at instant: Instant) -> Bool {
        let day: Int64 = 86_400_000
        let asked =
            mutation == .lapsesAtMidnight
            ? Instant(milliseconds: instant.milliseconds / day * day - 1) : instant
        return timeline().ground(at: asked) != nil
    }

    func owners(at instant: Instant) -> Set<[String]> {
        var catalog = Shop.catalog
        if mutation == .everyClaimOwns { catalog.ownership = .share }
        let history = Shop.history(catalog)
        var owners: Set<[String]> = []
        for record in records.values {
            for share in record.evaluate(in: history).shares {
                let timeline = Timeline([(record.key, share.access)], in: catalog)
                guard timeline.ground(at: instant) != nil else { continue }
                owners.insert(share.owner.map(\.canonical))
            }
        }
        return owners
    }
}
