/// Makes a failing world smaller: as few acts and as little trouble as still fail.
public struct Shrinking: Sendable {
    /// A world that fails, and what came of it.
    public struct Found: Sendable {
        public var settings: Simulation.Settings
        public var outcome: Simulation.Outcome

        public init(settings: Simulation.Settings, outcome: Simulation.Outcome) {
            (self.settings, self.outcome) = (settings, outcome)
        }
    }

    private let run: @Sendable (Simulation.Settings) async throws -> Simulation.Outcome
    private var left: Int
    private var shownBefore: [Int: Set<Int>] = [:]

    /// - Parameters:
    ///   - budget: worlds that may be lived through at most.
    ///   - run: lives through one.
    public init(
        budget: Int = 80,
        run: @escaping @Sendable (Simulation.Settings) async throws -> Simulation.Outcome
    ) {
        (left, self.run) = (budget, run)
    }

    /// The smallest failing world that was found.
    public mutating func shrink(_ found: Found) async throws -> Found {
        var best = found
        let failure = found.outcome.failures.first
        var settings = found.settings
        settings.acts = nil
        let plan = WorldPlan(of: settings)
        shownBefore = Self.shownBefore(plan.acts)
        var kept = plan.acts.filter { act in
            act.deed != .reconcile && act.at <= failure?.at ?? .max
                && found.settings.acts?.contains(act.number) ?? true
        }
        if let name = failure?.customer, let index = Int(name.dropFirst()) {
            let household = Self.household(of: index)
            // What happens to the server may be a part of it.
            func isNear(_ act: PlannedAct) -> Bool {
                act.customer.map { household.contains($0) } ?? true
            }
            try await attempt(kept.filter(isNear), &kept, &best)
            if let last = kept.last(where: { $0.history != nil })?.history {
                try await attempt(
                    kept.filter { $0.history == last || $0.customer == nil },
                    &kept,
                    &best
                )
            }
            try await attempt(kept.filter { $0.customer != nil }, &kept, &best)
        }
        for calmer in ["none", "deliveries", "server", "stores"] {
            guard best.settings.trouble.name != "none", let trouble = Trouble(named: calmer),
                trouble != best.settings.trouble
            else { continue }
            var settings = best.settings
            settings.trouble = trouble
            settings.acts = Set(kept.map(\.number))
            if try await fails(settings, &best) { break }
        }
        var size = max(1, kept.count / 2)
        while left > 0 {
            var hasShrunk = false
            var start = 0
            while start < kept.count, left > 0 {
                let rest = Array(kept[..<start] + kept[min(kept.count, start + size)...])
                if try await attempt(rest, &kept, &best) { hasShrunk = true } else { start += size }
            }
            if size == 1, !hasShrunk { break }
            size = max(1, size / 2)
        }
        return best
    }

    /// Those of whom one knows what the others' histories tell.
    private static func household(of index: Int) -> Set<Int> {
        index < WorldPlan.firstOfAppStoreHistories ? [index] : [index, index ^ 1]
    }

    /// The acts of showing a purchase that come before each comparison at once in its history, by the
    /// comparison's number.
    private static func shownBefore(_ acts: [PlannedAct]) -> [Int: Set<Int>] {
        var shown: [Int: Set<Int>] = [:]
        var before: [Int: Set<Int>] = [:]
        for act in acts {
            guard let history = act.history else { continue }
            switch act.deed {
            case .appStore(.post), .appStore(.postReceipt):
                shown[history, default: []].insert(act.number)
            case .incident(.look): before[act.number] = shown[history]
            default: break
            }
        }
        return before
    }

    @discardableResult
    private mutating func attempt(
        _ some: [PlannedAct],
        _ kept: inout [PlannedAct],
        _ best: inout Found
    ) async throws -> Bool {
        // Where a device did not show what it showed, a comparison at once would blame the server.
        let numbers = Set(some.map(\.number))
        let acts = some.filter { shownBefore[$0.number]?.isSubset(of: numbers) ?? true }
        guard acts.count < kept.count else { return false }
        var settings = best.settings
        settings.acts = Set(acts.map(\.number))
        guard try await fails(settings, &best) else { return false }
        kept = acts
        return true
    }

    private mutating func fails(
        _ settings: Simulation.Settings,
        _ best: inout Found
    ) async throws -> Bool {
        guard left > 0 else { return false }
        left -= 1
        let outcome = try await run(settings)
        // What was about a customer stays so: a scenario can say it.
        guard let failure = outcome.failures.first,
            (failure.customer == nil) == (best.outcome.failures.first?.customer == nil)
        else { return false }
        best = Found(settings: settings, outcome: outcome)
        return true
    }
}
