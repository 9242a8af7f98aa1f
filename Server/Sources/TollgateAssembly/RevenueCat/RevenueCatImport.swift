internal import Storage
public import Stores
internal import TollgateCore
internal import TollgateService

/// Brings in the customers of RevenueCat by its export of transactions.
///
/// The export says who bought what, and where. What it is worth, the stores are asked: nobody has access
/// here by what an export says, but for grants, which are RevenueCat's own and made only if asked for.
/// An import that was broken off goes on where it was; a finished one can be repeated.
public struct RevenueCatImport: Sendable {
    public struct Options: Hashable, Sendable {
        /// The column with the app's user id; `nil`: the last seen alias, and where RevenueCat made that
        /// up, the original id.
        public var userColumn: String?
        /// Whether users without an id of the app's own come in under the id that RevenueCat made up.
        public var includesAnonymous = false
        /// Whether transactions of the sandbox come in.
        public var includesSandbox = false
        /// Whether grants of RevenueCat's become grants here.
        public var makesGrants = false
        /// Stores whose rows are left out, by RevenueCat's word for each.
        public var without: Set<String> = []

        public init() {}

        /// Tells imports of one file apart whose purchases differ.
        fileprivate var name: String {
            [
                userColumn ?? "", "\(includesAnonymous)", "\(includesSandbox)", "\(makesGrants)",
                without.sorted().joined(separator: ","),
            ].joined(separator: "/")
        }
    }

    private let tollgate: Tollgate
    private let options: Options
    private let stores: RevenueCatStores
    private let name: String

    /// - Parameters:
    ///   - file: names the file across runs: a hash of its content, say.
    ///   - perMinute: reads of each kind in a minute that Google Play is asked for, at most.
    init(_ tollgate: Tollgate, file: String, options: Options, perMinute: Int64) {
        self.tollgate = tollgate
        self.options = options
        name = "import/revenuecat/\(file)/\(options.name)"
        stores = RevenueCatStores(
            tollgate,
            file: file,
            makesGrants: options.makesGrants,
            perMinute: perMinute
        )
    }

    /// Imports, or goes on importing; then compares.
    ///
    /// - Parameter next: the next line of the file without its end, `nil` after the last one.
    /// - Returns: `nil` if another process is importing this file.
    /// - Throws: `UnreadableExport`, or what broke it off: another run goes on from there.
    public func run(
        next: () throws -> [UInt8]?,
        progress: @escaping WorkProgress.Report = { _ in }
    ) async throws -> Report? {
        let context = tollgate.context
        let now = await context.clocks.now()
        let plan = try RevenueCatPlan(options, at: now, next: next) {
            progress(WorkProgress(step: "rows", done: $0))
        }
        try stores.require(Set(plan.purchases.map(\.store)))
        return try await context.leases.holding(name) { prolong in
            var report = plan.report
            var work = try await RevenueCatWork(name, of: plan, stores, context)
            report.add(try await work.bringIn(prolong, progress))
            report.lacksCoinsSince = lacksCoinsSince
            let comparison = RevenueCatComparison(tollgate: tollgate)
            for difference in try await comparison.differences(
                in: plan.purchases,
                prolong,
                progress
            ) {
                report.add(difference)
            }
            try await context.records.cursors.drop(name)
            return report
        }
    }

    /// Whether products of the catalog have coins, and nothing says since when they are credited here.
    public var lacksCoinsSince: Bool {
        let history = tollgate.context.records.history
        return history.coinsSince == nil && history.current.products.contains { $0.coins > 0 }
    }
}
