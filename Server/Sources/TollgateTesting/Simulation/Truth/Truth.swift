import TollgateCore

/// What a customer must have in one environment.
struct Truth {
    /// A non-renewing purchase.
    struct Pass {
        /// The catalog's id.
        var product: String
        /// When it was paid for.
        var bought: Int64
        /// When it was refunded.
        var cut: Int64?
    }

    /// Lookup keys.
    var has: Set<String> = []
    /// Lookup keys of which the stores' pages leave open whether the customer has them.
    var unsure: Set<String> = []
    var passes: [Pass] = []
    /// Before what was spent.
    var coins: Int64 = 0
    /// By how much the coins may differ: where time is given back in parts, no page says which way
    /// half a coin is rounded.
    var coinSlack: Int64 = 0
    /// Whether the stores' pages say how many coins there are.
    var areCoinsSure = true

    static func + (left: Truth, right: Truth) -> Truth {
        Truth(
            has: left.has.union(right.has),
            unsure: left.unsure.union(right.unsure),
            passes: left.passes + right.passes,
            coins: left.coins + right.coins,
            coinSlack: left.coinSlack + right.coinSlack,
            areCoinsSure: left.areCoinsSure && right.areCoinsSure
        )
    }

    /// With what the passes give at `now`: each begins where the one before it ended.
    func withPasses(at now: Int64, in catalog: Catalog) -> Truth {
        var truth = self
        for (product, passes) in passes.grouped(by: \.product) {
            let keys = catalog.product(id: product)?.entitlements ?? []
            var end = Int64.min
            for pass in passes.sorted(by: { $0.bought < $1.bought }) {
                let start = max(pass.bought, end)
                end = start + 30 * 86_400_000
                if let cut = pass.cut { end = max(start, min(end, cut)) }
                if start <= now, now < end { truth.has.formUnion(keys) }
            }
        }
        return truth
    }

    /// What is wrong about an answer; empty: nothing.
    func objections(to answer: ScenarioAnswer) -> [String] {
        let open = unsure.subtracting(has)
        let found = answer.has.subtracting(open)
        var objections: [String] = []
        if found != has {
            objections.append("should have \(Self.list(has)) and has \(Self.list(found))")
        }
        let balance = answer.coins ?? 0
        if areCoinsSure, abs(balance - coins) > coinSlack {
            objections.append("should have \(coins) coins and has \(balance)")
        }
        return objections
    }

    static func list(_ keys: Set<String>) -> String {
        keys.isEmpty ? "nothing" : keys.sorted().joined(separator: ", ")
    }
}

extension Sequence {
    /// The elements by a key, in the order in which the keys come.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(Key, [Element])] {
        var order: [Key] = []
        var groups: [Key: [Element]] = [:]
        for element in self {
            let name = key(element)
            if groups[name] == nil { order.append(name) }
            groups[name, default: []].append(element)
        }
        return order.map { ($0, groups[$0] ?? []) }
    }
}
