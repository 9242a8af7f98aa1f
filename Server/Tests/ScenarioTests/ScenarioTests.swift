import AppStoreSimulator
import Foundation
import TollgateSimulation
import Testing

/// The files of `Server/Scenarios`, played against Tollgate in process.
@Suite(.serialized) struct ScenarioTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Scenarios").standardized

    /// The folders that are played; `TOLLGATE_SCENARIO_FOLDERS=google-play,both` plays these alone.
    static let folders =
        ProcessInfo.processInfo.environment["TOLLGATE_SCENARIO_FOLDERS"]?.split(separator: ",")
        .map(String.init) ?? ["app-store", "stripe", "google-play", "both"]

    /// Every scenario there is in them, in the order of their names.
    static let scenarios: [LoadedScenario] = {
        let paths = folders.flatMap { name in
            let folder = folder.appendingPathComponent(name)
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return files.filter { $0.hasSuffix(".yaml") }.sorted()
                .map { folder.appendingPathComponent($0).path }
        }
        return paths.compactMap { path in
            do { return try LoadedScenario(path: path) } catch {
                Issue.record(error)
                return nil
            }
        }
    }()

    /// The number of random orders that `make soak` asks for; `make test` plays one.
    static let depth = ProcessInfo.processInfo.environment["TOLLGATE_SCENARIO_ORDERS"].flatMap {
        Int($0)
    }

    /// Other orders each day (`make test`) and in each piece (`make soak`).
    static let seed =
        1 + (ProcessInfo.processInfo.environment["TOLLGATE_SEED"].flatMap { UInt64($0) } ?? 0)

    static let authority = Result { try SimulatedAppStore.makeAuthority() }

    private func runner(on backend: Backend) throws -> ScenarioRunner {
        try ScenarioRunner(authority: Self.authority.get()) { try await backend.open() }
    }

    @Test func noTwoStoriesHaveOneName() {
        let titles = Self.scenarios.map(\.scenario.title)
        #expect(Set(titles).count == titles.count)
    }

    /// The stories that a database is asked: all on SQLite, and in the soak; on PostgreSQL another
    /// third each day.
    private func chosen<Story>(_ stories: [Story], on backend: Backend) -> [Story] {
        guard backend == .postgres, Self.depth == nil else { return stories }
        var random = SplitMix64(seed: Self.seed)
        return Array(stories.shuffled(using: &random).prefix((stories.count + 2) / 3))
    }

    @Test(arguments: Backend.allCases)
    func everyScenarioHoldsAsItHappens(on backend: Backend) async throws {
        let runner = try runner(on: backend)
        let halves = [0, 1].map { half in
            chosen(Self.scenarios, on: backend).enumerated().filter { $0.offset % 2 == half }
                .map(\.element)
        }
        let failures = try await halves.inParallel { try await runner.play($0) }
        report(failures.flatMap(\.self))
    }

    @Test(arguments: Backend.allCases)
    func everyScenarioHoldsInAnyOrderAndWithRepetitions(on backend: Backend) async throws {
        let runner = try runner(on: backend)
        let recordings = chosen(try await Self.likely.value, on: backend)
        for order in 0..<(Self.depth ?? 1) {
            report(try await runner.replay(recordings, order: order, seed: Self.seed))
        }
    }

    /// Where the stores' documents leave something open; on PostgreSQL in the soak only.
    @Test(arguments: depth == nil ? [.sqlite] : Backend.allCases)
    func everyScenarioHoldsHoweverTheStoresBehaveWhereTheyDoNotSay(
        on backend: Backend
    ) async throws {
        let runner = try runner(on: backend)
        for (variant, recordings, differing) in try await Self.others.value {
            #expect((differing == 0) != variant.isHeard, "stories that tell \(variant.name)")
            #expect(!recordings.isEmpty, "stories played under \(variant.name)")
            // With the stores at hand, and every check at its time; then in other orders.
            var random = SplitMix64(seed: Self.seed)
            let recordings =
                Self.depth == nil
                ? Array(recordings.shuffled(using: &random).prefix(6)) : recordings
            report(try await runner.play(recordings.map(\.scenario), under: variant))
            for order in 0..<max(1, (Self.depth ?? 0) / 20) {
                report(try await runner.replay(recordings, order: order, seed: Self.seed))
            }
        }
    }

    /// Which bugs can be planted: into the journal only in a build for debugging.
    static let bugs: [PlantedGooglePlayBug] = {
        #if DEBUG
            PlantedGooglePlayBug.allCases
        #else
            PlantedGooglePlayBug.allCases.filter { $0 != .hintTimeIsVersion }
        #endif
    }()

    /// What holds without the bug is shown by the tests above.
    @Test(arguments: bugs)
    func eachPlantedBugOfGooglePlayIsFoundByItsStory(_ bug: PlantedGooglePlayBug) async throws {
        let story = Self.scenarios.first {
            $0.scenario.file.hasSuffix("/google-play/\(bug.story).yaml")
        }
        let loaded = try #require(story, "there is no story \(bug.story)")
        let failures = try await runner(on: .sqlite).play([loaded], bug: bug)
        #expect(!failures.isEmpty, "\(bug) was not found")
        // By the story, or by the second opinion: not because the world itself breaks.
        let isJudged = failures.allSatisfy { failure in
            ["should have", "second opinion"].contains { failure.message.contains($0) }
        }
        #expect(isJudged, "\(failures)")
    }

    /// What the stores say in each story, once for all tests.
    private static let likely = Task {
        let runner = try ScenarioRunner(authority: authority.get()) { throw CancellationError() }
        return try await scenarios.inParallel { try await runner.record($0) }
    }

    /// What they say under each other setting of a switch, in the stories where it makes a
    /// difference; and how many say something else.
    ///
    /// A setting that only answers tell can make one in every story that concerns it.
    private static let others = Task {
        let runner = try ScenarioRunner(authority: authority.get()) { throw CancellationError() }
        let usual = try await likely.value
        var others: [(Variant, [Recording], differing: Int)] = []
        // Another fifth of the switches each day; all in the soak.
        var random = SplitMix64(seed: seed)
        let variants = Variant.all.dropFirst().shuffled(using: &random)
        for variant in variants.prefix(depth == nil ? (variants.count + 4) / 5 : variants.count) {
            let concerned = usual.filter { variant.concerns($0.scenario.scenario) }
            let recordings = try await concerned.inParallel { known in
                (known, try await runner.record(known.scenario, under: variant))
            }
            let differing = recordings.filter { !$0.saysTheSame(as: $1) }
            let played = variant.isHeard ? differing : recordings
            others.append((variant, played.map(\.1), differing.count))
        }
        return others
    }

    private func report(_ failures: [ScenarioFailure]) {
        for failure in failures { Issue.record(failure) }
    }
}

extension Array where Element: Sendable {
    /// The results in the order of the elements, four at a time.
    fileprivate func inParallel<Value: Sendable>(
        _ body: @Sendable @escaping (Element) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            var results: [Int: Value] = [:]
            for (index, element) in enumerated() {
                if index >= 4, let (done, value) = try await group.next() { results[done] = value }
                group.addTask { (index, try await body(element)) }
            }
            for try await (done, value) in group { results[done] = value }
            return indices.compactMap { results[$0] }
        }
    }
}
