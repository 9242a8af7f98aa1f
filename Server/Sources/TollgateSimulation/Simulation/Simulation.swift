import AppStoreSimulator
public import Foundation
import SandboxClock
public import Storage
import StripeSimulator
import TollgateCore

/// A whole world in one process on virtual time: customers live with both stores and a server for
/// years, nearly everything goes wrong, and at every quiet point what the server says is compared
/// with what the stores' own books say.
public struct Simulation: Sendable {
    /// What decides all of a world.
    public struct Settings: Hashable, Sendable {
        public var seed: UInt64
        public var customers: Int
        public var years: Double
        public var trouble: Trouble
        public var bug: PlantedBug?
        /// The numbers of the only acts that happen; `nil`: all.
        public var acts: Set<Int>?
        /// Whether in the end all is derived again from the journal, and compared.
        public var derivesAgain = true

        public init(
            seed: UInt64,
            customers: Int = 50,
            years: Double = 2,
            trouble: Trouble,
            bug: PlantedBug? = nil,
            acts: Set<Int>? = nil
        ) {
            (self.seed, self.customers, self.years) = (seed, customers, years)
            (self.trouble, self.bug, self.acts) = (trouble, bug, acts)
        }
    }

    /// What did not hold.
    public struct Failure: Hashable, Sendable {
        /// UNIX milliseconds of the world's time.
        public var at: Int64
        /// The customer's name, where it is about one.
        public var customer: String?
        public var message: String
        /// What the customer should have had.
        public var expectation: Scenario.Expectation?
    }

    /// What came of a world.
    public struct Outcome: Sendable {
        /// At the first point at which something did not hold; empty: all held.
        public var failures: [Failure] = []
        /// Of what the journal says, signatures aside: the same for the same settings.
        public var journalHash = ""
        public var journalRows: Int64 = 0
        /// The acts that did happen.
        public var performed: [PlannedAct] = []
        /// Comparisons of one customer in one environment.
        public var comparisons = 0
        /// Comparisons of one customer before the server has asked the stores what it missed.
        public var looks = 0
        /// How often the second opinion had a verdict on an entitlement in these comparisons, and how
        /// often it left it open.
        public var verdicts = ScenarioAnswer.Verdicts()
        /// Ends of months and days at which MRR, and who came and went, were compared with the books.
        public var figures = (mrr: 0, movement: 0)
        /// Messages handed to the server.
        public var letters = 0
        /// Times that it was killed.
        public var kills = 0
    }

    public let settings: Settings
    private let authority: Data
    private let database: WorldDatabase
    private let makeScratch: @Sendable () throws -> any StorageDriver

    /// - Parameters:
    ///   - authority: what the App Store signs with, of `SimulatedAppStore.makeAuthority`.
    ///   - database: the world's, empty at first.
    ///   - makeScratch: an empty database for what is derived again.
    public init(
        _ settings: Settings,
        authority: Data,
        database: WorldDatabase,
        makeScratch: @escaping @Sendable () throws -> any StorageDriver
    ) {
        self.settings = settings
        self.authority = authority
        self.database = database
        self.makeScratch = makeScratch
    }

    /// Lives through the world, or up to the first point at which something does not hold.
    ///
    /// - Throws: where the world itself breaks, which is no verdict on the server.
    public func run() async throws -> Outcome {
        let plan = WorldPlan(of: settings)
        let fate = Fate(settings.trouble, seed: settings.seed ^ 0xFA7E)
        let impostorClock = VirtualClock(now: 0)
        let impostor = try SimulatedAppStore(
            configuration: .init(notificationURL: nil),
            clock: impostorClock,
            deliver: { _, _ in .success }
        )
        var catalog = try SimulatedShop.catalog()
        catalog.coinsSince = plan.moved.map { Instant(milliseconds: $0) }
        let server = SimulatedServer(
            .init(
                catalog: catalog,
                rootDER: try SimulatedAppStore.rootDER(ofAuthority: authority),
                impostor: impostor,
                seed: settings.seed,
                environment: plan.settings.isProduction ? .production : .sandbox,
                moved: plan.moved,
                stripeEvents: SimulatedWorld.stripeEvents(of: plan),
                bug: settings.bug,
                fate: fate,
                playFate: Fate(settings.trouble, seed: settings.seed ^ 0x9_1A4),
                database: database
            )
        )
        var world = try await SimulatedWorld(
            plan,
            server: server,
            fate: fate,
            catalog: catalog,
            authority: authority,
            seed: settings.seed
        )
        do {
            var outcome = try await world.live()
            if outcome.failures.isEmpty, settings.derivesAgain {
                outcome.failures += try await derivedAgain(server, at: plan.end)
            }
            try await JournalDigest.add(of: server.database, to: &outcome)
            await world.end()
            await server.close()
            return outcome
        } catch {
            await world.end()
            await server.close()
            throw error
        }
    }

    private func derivedAgain(_ server: SimulatedServer, at end: Int64) async throws -> [Failure] {
        let scratch = try makeScratch()
        let report = try await Rebuild(of: server.database, into: scratch).verify()
        await scratch.close()
        return report.differences.map { difference in
            Failure(
                at: end,
                message: "derived again from the journal, ‘\(difference.table)’ differs"
            )
        }
    }
}
