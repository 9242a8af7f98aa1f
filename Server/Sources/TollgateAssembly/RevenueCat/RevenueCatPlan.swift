internal import Stores
internal import TollgateCore

/// The purchases of an export, each once: what an import has to ask the stores about.
///
/// It follows from the file and the options alone, so a run that was broken off finds its place.
struct RevenueCatPlan: Sendable {
    /// A purchase of one customer's, by its newest row.
    private(set) var purchases: [RevenueCatRow] = []
    /// The outcome as far as the file alone decides it.
    private(set) var report = RevenueCatImport.Report()
    /// The users of purchases that belong to one.
    private var owners: [Owned: String] = [:]
    private let options: RevenueCatImport.Options
    /// RevenueCat's words of the stores that are left out.
    private let without: Set<String>
    private var places: [Key: Int] = [:]
    private var users: Set<String> = []
    private var anonymous: Set<String> = []

    private struct Key: Hashable {
        var user: String
        var store: RevenueCatStore
        var environment: StoreEnvironment
        var original: String
    }

    /// A purchase, whoever's it is.
    private struct Owned: Hashable {
        var store: RevenueCatStore
        var environment: StoreEnvironment
        var original: String

        init(_ row: RevenueCatRow, _ original: String, in environment: StoreEnvironment) {
            (store, self.environment, self.original) = (row.store, environment, original)
        }

        init(_ row: RevenueCatRow) { self.init(row, row.original, in: row.environment) }
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - next: the next line of the file without its end, `nil` after the last one.
    ///   - now: counts anonymous users whose purchases are active.
    /// - Throws: `RevenueCatImport.UnreadableExport` where the first line is no heading, or the only one.
    init(
        _ options: RevenueCatImport.Options,
        at now: Instant,
        next: () throws -> [UInt8]?,
        progress: (Int) -> Void
    ) throws {
        self.options = options
        without = Set(options.without.map { RevenueCatStore($0.lowercased()).word })
        for word in without { report.leftOut[word] = 0 }
        let heading: RevenueCatHeading
        do {
            heading = try RevenueCatHeading(next() ?? [], userColumn: options.userColumn)
        } catch let problem as RevenueCatRow.Problem {
            throw RevenueCatImport.UnreadableExport(reason: problem.reason)
        }
        var lines = RevenueCatLines(heading)
        while let row = try lines.next(from: next) {
            do throws(RevenueCatRow.Problem) {
                guard !row.isDoubtful else {
                    throw RevenueCatRow.Problem(
                        "the line before leaves a quote open, and this one may be a part of it; export version 6 or 7"
                    )
                }
                if let row = try heading.row(row.bytes, line: row.first) { take(row, now) }
            } catch {
                for line in row.first...row.last {
                    report.add(.init(line: line, reason: error.reason))
                }
            }
            if row.last.isMultiple(of: 1000) { progress(row.last) }
        }
        guard report.rows > 0 || !report.unmatched.isEmpty else {
            throw RevenueCatImport.UnreadableExport(
                reason:
                    "it has no transactions; export all of them, without ‘Receive new and updated transactions only’"
            )
        }
        settleOwners()
        report.customers = users.count
        report.anonymous.customers = anonymous.count
        places = [:]
    }

    private mutating func take(_ row: RevenueCatRow, _ now: Instant) {
        report.rows += 1
        guard options.includesSandbox || row.environment == .production else {
            report.sandbox += 1
            return
        }
        guard !without.contains(row.store.word) else {
            report.leftOut[row.store.word, default: 0] += 1
            return
        }
        let anonymousID = options.includesAnonymous ? row.anonymousID : nil
        guard let user = row.user ?? anonymousID else {
            report.anonymous.rows += 1
            if row.isActive(at: now), !row.entitlements.isEmpty { report.anonymous.active += 1 }
            if let id = row.anonymousID {
                anonymous.insert(id)
            } else {
                report.add(
                    .init(line: row.line, reason: "it names no user; choose another --user-column")
                )
            }
            return
        }
        users.insert(user)
        var row = row
        row.user = user
        let key = Key(
            user: user,
            store: row.store,
            environment: row.environment,
            original: row.original
        )
        guard let place = places[key] else {
            places[key] = purchases.count
            purchases.append(row)
            return
        }
        if row.isNewer(than: purchases[place]) { purchases[place] = row }
    }

    /// Gives each purchase to the user of its newest row; lines of other users are listed.
    private mutating func settleOwners() {
        var newest: [Owned: RevenueCatRow] = [:]
        for row in purchases where row.store.hasOneOwner {
            guard newest[Owned(row)].map(row.isNewer) ?? true else { continue }
            newest[Owned(row)] = row
        }
        var others: [RevenueCatRow] = []
        purchases.removeAll { row in
            guard let owner = newest[Owned(row)], owner.user != row.user else { return false }
            others.append(row)
            return true
        }
        for row in others {
            let line = newest[Owned(row)]?.line ?? 0
            report.add(
                .init(
                    line: row.line,
                    reason:
                        "line \(line) is newer, and gives this purchase to another user; assign it in the dashboard if that is wrong"
                )
            )
        }
        owners = newest.compactMapValues(\.user)
    }

    /// Returns `true` if the export gives a purchase in the store of `row` to another user than that's.
    func isOthers(
        _ original: String,
        in environment: StoreEnvironment,
        than row: RevenueCatRow
    ) -> Bool {
        let owner = owners[Owned(row, original, in: environment)]
        return owner.map { $0 != row.user } ?? false
    }
}

extension RevenueCatStore {
    /// Whether a purchase there, by its id, belongs to one user.
    fileprivate var hasOneOwner: Bool {
        switch self {
        case .appStore, .playStore, .stripe: true
        case .promotional, .other: false
        }
    }
}

extension RevenueCatRow {
    /// Whether it says more than another row of the same purchase.
    ///
    /// Among rows of one instant the later line is the newer export.
    fileprivate func isNewer(than other: RevenueCatRow) -> Bool {
        guard isInvalid == other.isInvalid else { return !isInvalid }
        return (other.start, other.line) <= (start, line)
    }

    /// Whether it gives access at an instant, by the export alone.
    func isActive(at now: Instant) -> Bool {
        !isRefunded && !isInvalid && start <= now && (ends.map { now < $0 } ?? true)
    }
}
