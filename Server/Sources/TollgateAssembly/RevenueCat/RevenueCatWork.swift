internal import Storage
internal import Stores
internal import TollgateCore

/// The purchases of an export, brought in several at a time.
struct RevenueCatWork: Sendable {
    private struct Place: Codable {
        var done = 0
        var work = RevenueCatImport.Report()
    }

    /// A purchase that an answer about another one of the same customer has shown.
    private struct Shown: Hashable {
        var user: String?
        var store: RevenueCatStore
        var environment: StoreEnvironment
        var id: String

        init(_ row: RevenueCatRow, _ id: String) {
            (user, store, environment, self.id) = (row.user, row.store, row.environment, id)
        }
    }

    /// The number of purchases that are asked about at once.
    private static let width = 8
    /// After so many failures in a row a store fails over everybody.
    private static let mostFailures = 8
    /// After so many purchases the place is kept: what comes after it is only read again.
    private static let keepsAfter = 200

    private let name: String
    private let plan: RevenueCatPlan
    private let stores: RevenueCatStores
    private let context: StoreContext
    private var place: Place
    private var shown: Set<Shown> = []
    private var failures: [RevenueCatStore: Int] = [:]

    /// Work that was broken off goes on where it was.
    ///
    /// - Parameter name: the name under which its place is kept.
    init(
        _ name: String,
        of plan: RevenueCatPlan,
        _ stores: RevenueCatStores,
        _ context: StoreContext
    ) async throws {
        (self.name, self.plan, self.stores, self.context) = (name, plan, stores, context)
        place = try await context.records.cursors.value(name, as: Place.self) ?? Place()
    }

    mutating func bringIn(
        _ prolong: () async throws -> Void,
        _ progress: WorkProgress.Report
    ) async throws -> RevenueCatImport.Report {
        var kept = place.done
        do {
            while place.done < plan.purchases.count {
                try await takeBatch()
                if place.done - kept >= Self.keepsAfter {
                    try await keep()
                    kept = place.done
                }
                try await prolong()
                progress(
                    WorkProgress(step: "purchases", done: place.done, of: plan.purchases.count)
                )
            }
        } catch let error where !(error is LeaseLost) {
            // Another run goes on from here; it is only slower where this fails too.
            try? await keep()
            throw error
        }
        try await keep()
        return place.work
    }

    private func keep() async throws {
        try await context.records.cursors.keep(name, value: place, now: context.clocks.wall())
    }

    /// Brings in the next purchases, and moves the place behind them.
    private mutating func takeBatch() async throws {
        let batch = plan.purchases[place.done...].prefix(Self.width)
        let results = await batch.results {
            [shown, stores, plan] row -> RevenueCatStores.Outcome in
            guard !shown.contains(Shown(row, row.original)) else {
                return .brought(isNew: false, alsoShown: [])
            }
            return try await stores.outcome(of: row, plan)
        }
        var next = place
        for (row, result) in results {
            let outcome = try result.get()
            next.work.add(outcome, of: row)
            if case .brought(_, let also) = outcome {
                for id in also { shown.insert(Shown(row, id)) }
            }
            guard case .failed(let error) = outcome else {
                failures[row.store] = nil
                continue
            }
            failures[row.store, default: 0] += 1
            if failures[row.store] == Self.mostFailures { throw error }
        }
        next.done += batch.count
        place = next
    }
}

extension RevenueCatImport.Report {
    fileprivate mutating func add(_ outcome: RevenueCatStores.Outcome, of row: RevenueCatRow) {
        func add(_ reason: String) {
            self.add(UnmatchedLine(line: row.line, reason: reason))
        }
        switch outcome {
        case .brought(let isNew, _):
            purchases += 1
            if isNew { new += 1 }
        case .named: named += 1
        case .granted(let keys, let until):
            grants += 1
            let (line, user, end) = (row.line, row.user ?? "", until?.milliseconds)
            self.add(
                RevenueCatImport.Granted(line: line, appUserID: user, keys: keys, until: end)
            )
        case .consumable: consumables += 1
        case .ended: ended += 1
        case .unsupported: unsupported[row.store.word, default: 0] += 1
        case .unmatched(let reason): add(reason)
        case .failed(let error): add("\(error); run the import again later")
        }
    }
}
