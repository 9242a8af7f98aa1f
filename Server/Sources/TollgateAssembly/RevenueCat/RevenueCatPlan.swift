internal import TollgateCore

/// The purchases of an export, each once: what an import has to ask the stores about.
///
/// It follows from the file and the options alone, so a run that was broken off finds its place.
struct RevenueCatPlan: Sendable {
    /// A purchase of one customer's, by its newest row.
    private(set) var purchases: [RevenueCatRow] = []
    /// The outcome as far as the file alone decides it.
    private(set) var report = RevenueCatImport.Report()
    private let options: RevenueCatImport.Options
    private var places: [Key: Int] = [:]
    private var users: Set<String> = []
    private var anonymous: Set<String> = []

    private struct Key: Hashable {
        var user: String
        var store: RevenueCatStore
        var environment: StoreEnvironment
        var original: String
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - next: the next line of the file without its end, `nil` after the last one.
    ///   - now: counts anonymous users whose purchases are active.
    /// - Throws: `RevenueCatImport.UnreadableExport` where the first line is no heading.
    init(
        _ options: RevenueCatImport.Options,
        at now: Instant,
        next: () throws -> [UInt8]?,
        progress: (Int) -> Void
    ) throws {
        self.options = options
        let heading: RevenueCatHeading
        do {
            heading = try RevenueCatHeading(next() ?? [], userColumn: options.userColumn)
        } catch let problem as RevenueCatRow.Problem {
            throw RevenueCatImport.UnreadableExport(reason: problem.reason)
        }
        var line = 1
        while let bytes = try next() {
            line += 1
            do throws(RevenueCatRow.Problem) {
                if let row = try heading.row(bytes, line: line) { take(row, now) }
            } catch {
                report.add(.init(line: line, reason: error.reason))
            }
            if line.isMultiple(of: 1000) { progress(line) }
        }
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
        guard !options.without.contains(row.store.word) else {
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
        let known = purchases[place]
        // Among rows of one instant the later line is the newer export.
        let isNewer = row.isInvalid == known.isInvalid ? known.start <= row.start : !row.isInvalid
        if isNewer { purchases[place] = row }
    }
}

extension RevenueCatRow {
    /// Whether it gives access at an instant, by the export alone.
    func isActive(at now: Instant) -> Bool {
        !isRefunded && !isInvalid && start <= now && (ends.map { now < $0 } ?? true)
    }
}
