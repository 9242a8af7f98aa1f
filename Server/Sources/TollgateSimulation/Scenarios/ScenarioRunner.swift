import AppStoreSimulator
public import Foundation
import GooglePlaySimulator
import SandboxClock
public import Storage
import StripeSimulator
import Synchronization
import TollgateCore

/// Plays scenarios against Tollgate: in order, each check at its time; and again from recordings,
/// in random orders with repetitions.
public struct ScenarioRunner: Sendable {
    /// What the App Store of every story signs with.
    public let authority: Data
    private let rootDER: Data
    private let openDatabase: @Sendable () async throws -> any StorageDriver

    /// - Parameters:
    ///   - authority: of `SimulatedAppStore.makeAuthority`; `nil`: a new one.
    ///   - openDatabase: opens a new, empty database.
    public init(
        authority: Data? = nil,
        openDatabase: @escaping @Sendable () async throws -> any StorageDriver
    ) throws {
        self.authority = try authority ?? SimulatedAppStore.makeAuthority()
        rootDER = try SimulatedAppStore.rootDER(ofAuthority: self.authority)
        self.openDatabase = openDatabase
    }

    // MARK: - In order

    /// Plays scenarios in order, one after the other; those of one catalog on one database.
    ///
    /// - Parameter bug: a mistake of the server's, to see it found.
    /// - Returns: what did not hold.
    public func play(
        _ scenarios: [LoadedScenario],
        under variant: Variant = .likely,
        bug: PlantedGooglePlayBug? = nil
    ) async throws -> [ScenarioFailure] {
        var failures: [ScenarioFailure] = []
        let groups = Dictionary(grouping: scenarios, by: \.scenario.catalog)
        for catalog in groups.keys.sorted() {
            let driver = try await openDatabase()
            for loaded in groups[catalog] ?? [] {
                failures += await play(loaded, under: variant, on: driver, bug)
            }
            await driver.close()
        }
        return failures
    }

    private func play(
        _ loaded: LoadedScenario,
        under variant: Variant,
        on driver: any StorageDriver,
        _ bug: PlantedGooglePlayBug?
    ) async -> [ScenarioFailure] {
        await ScenarioFailure.found(
            in: loaded.scenario.file,
            "in order, \(variant.name) behaviour"
        ) {
            var play = try await self.play(loaded, under: variant, asking: driver, bug)
            return try await play.run().map { answered in
                (answered.check.line, answered.check.objection(to: answered.answer))
            }
        }
    }

    /// A telling to Tollgate itself, on a database.
    private func play(
        _ loaded: LoadedScenario,
        under variant: Variant,
        asking driver: any StorageDriver,
        _ bug: PlantedGooglePlayBug? = nil
    ) async throws -> Play {
        let clock = ClockBox()
        let telling = Play.Telling(variant: variant)
        let isRead = loaded.scenario.usesGooglePlay
        let backend = try await TollgateBackend(
            driver,
            catalog: loaded.catalog,
            rootDER: rootDER,
            seed: Play.seed(loaded.scenario.title, 0),
            package: isRead ? Play.package(of: loaded, telling) : nil,
            bug: bug,
            now: { await clock.now }
        )
        let play = try await Play(
            loaded,
            backend: backend,
            authority: authority,
            telling: telling
        )
        clock.clock.withLock { $0 = play.world.clock }
        return play
    }

    // MARK: - In any order

    /// What the stores of a story say, with nobody answering.
    ///
    /// Google Play takes back what nobody acknowledges, so with it Tollgate itself answers, on a
    /// database that is forgotten.
    public func record(
        _ loaded: LoadedScenario,
        under variant: Variant = .likely
    ) async throws -> Recording {
        if loaded.scenario.usesGooglePlay {
            let database = try await ForgottenDatabase.make()
            let driver = try database.open()
            var play = try await self.play(loaded, under: variant, asking: driver)
            _ = try await play.run()
            await driver.close()
            database.remove()
            return play.recording
        }
        var play = try await Play(
            loaded,
            backend: SilentBackend(),
            authority: authority,
            telling: Play.Telling(variant: variant)
        )
        _ = try await play.run()
        return play.recording
    }

    /// Tells a database what the stores said, of all `recordings` at once, each in the random
    /// order `order` with repetitions, up to one of its checks, and makes this check.
    ///
    /// Order 0 looks at the last checks, so that everything has been said; the others go through
    /// the checks by turns.
    /// - Returns: what did not hold.
    public func replay(
        _ recordings: [Recording],
        order: Int,
        seed: UInt64 = 0
    ) async throws -> [ScenarioFailure] {
        var failures: [ScenarioFailure] = []
        let groups = Dictionary(grouping: recordings, by: \.scenario.scenario.catalog)
        for key in groups.keys.sorted() {
            guard let group = groups[key] else { continue }
            let driver = try await openDatabase()
            failures += try await replay(group, order: order, seed: seed, on: driver)
            await driver.close()
        }
        return failures
    }

    private func replay(
        _ recordings: [Recording],
        order: Int,
        seed: UInt64,
        on driver: any StorageDriver
    ) async throws -> [ScenarioFailure] {
        guard let catalog = recordings.first?.scenario.catalog else { return [] }
        let backend = try await TollgateBackend(
            driver,
            catalog: catalog,
            rootDER: rootDER,
            seed: seed,
            now: { 0 }
        )
        let all = recordings.map { Retelling($0, order: order, seed: seed) }
        var failures: [ScenarioFailure] = []
        for retelling in all where retelling.readsGooglePlay {
            failures += try await tellAndAsk(retelling, catalog, seed: seed, on: driver)
        }
        let retellings = all.filter { !$0.readsGooglePlay }
        await withTaskGroup(of: ScenarioFailure?.self) { group in
            for retelling in retellings {
                group.addTask { await retelling.tell(backend) }
            }
            for await failure in group {
                if let failure { failures.append(failure) }
            }
        }
        backend.connect(retellings.compactMap(\.check?.stripe))
        let last = retellings.compactMap(\.check?.at).max() ?? 0
        await TollgateBackend.$now.withValue(last) {
            // What is wanted comes a hundred at a time.
            for _ in 0..<5 { await backend.settle() }
        }
        for retelling in retellings {
            if let failure = await retelling.ask(backend) { failures.append(failure) }
        }
        return failures
    }

    /// Tells a story with Google Play, which is read at each word, to a server of its own.
    private func tellAndAsk(
        _ retelling: Retelling,
        _ catalog: Catalog,
        seed: UInt64,
        on driver: any StorageDriver
    ) async throws -> [ScenarioFailure] {
        let backend = try await TollgateBackend(
            driver,
            catalog: catalog,
            rootDER: rootDER,
            seed: seed ^ Play.seed(retelling.package, 0),
            package: retelling.package,
            now: { 0 }
        )
        if let failure = await retelling.tell(backend) { return [failure] }
        backend.connect([retelling.check?.stripe].compactMap(\.self))
        await retelling.settleGooglePlay(backend)
        return await retelling.ask(backend).map { [$0] } ?? []
    }
}

/// A database for one telling whose answers nobody keeps.
enum ForgottenDatabase {
    private static let template = Task {
        let database = try Backend.sqlite.makeDatabase()
        let driver = try database.open()
        try await driver.migrate()
        await driver.close()
        return database
    }

    static func make() async throws -> TestDatabase { try await template.value.copy() }
}

extension TestDatabase {
    /// Deletes the file of a database that is closed.
    fileprivate func remove() {
        let folder = URL(fileURLWithPath: location).deletingLastPathComponent()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// The clock of a play that does not exist yet when its backend is made.
private final class ClockBox: Sendable {
    let clock = Mutex<VirtualClock?>(nil)

    var now: Int64 { get async { await clock.withLock(\.self)?.now ?? 0 } }
}
