import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import Stores
import StripeConnector
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// F21, judged by the stores' own books: what was sold after a backup was made is in no copy, and was
/// answered 200, so no store sends it again by itself.
@Suite("A restored backup")
struct RestoreTests {
    /// Sells for some days, backs up, goes on, loses the database, and puts the copy back.
    ///
    /// - Parameter gap: days between the backup and the loss.
    /// - Returns: those who came before the backup.
    private static func lose(
        _ gap: Int,
        in world: RestorableWorld
    ) async throws -> [RestorableWorld.Person] {
        for number in 0..<8 { try await world.join("early-\(number)") }
        _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
        _ = try await world.tollgate.stripe.reconcile()
        for _ in 0..<4 { try await world.liveADay() }
        let copy = try await world.backUp()
        let early = world.people
        for day in 0..<gap {
            if day % 4 == 0 { try await world.join("late-\(day)") }
            try await world.liveADay()
            // As a server does all the time.
            guard day % 3 == 2 else { continue }
            _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
            _ = try await world.tollgate.stripe.reconcile()
        }
        try await world.expectTruth()
        await world.stop()
        // Nobody listens while somebody looks for the copy.
        try await world.liveADay()
        try await world.start(on: copy)
        #expect(try await world.wrong().count > 5, "the copy is older than what was sold")
        return early
    }

    @Test(
        "is noticed by the next pass, after which everybody has what the stores' books say",
        arguments: Backend.allCases
    )
    func noticed(_ backend: Backend) async throws {
        try await RestorableWorld.run(on: backend) { world in
            _ = try await Self.lose(6, in: world)
            #expect(!world.warnings.all.contains { $0.contains("lacked") })
            // What a server does when it starts.
            try await world.tollgate.appStore.reconcileIfDue(every: 0)
            _ = try await world.tollgate.stripe.reconcile()
            #expect(world.warnings.all.count { $0.contains("the record lacked, such as") } == 1)
            let metrics = try await world.tollgate.metrics.text()
            #expect(metrics.contains("tollgate_lost_messages_total{store=\"app_store\"}"))
            // Who came meanwhile is made known again when they sign in, under the names they had.
            for person in world.people {
                #expect(try await world.signIn(person.user).id == person.id)
            }
            try await world.expectTruth()
            #expect(try await world.isRebuilt())

            // That was all.
            try await world.pass(days: 0.1)
            let again = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(again.taken == 0 && again.histories == 0)
            let events = try #require(try await world.tollgate.stripe.reconcile())
            #expect(events.events.new == 0)
            try await world.expectTruth()
        }
    }

    @Test(
        "older than the stores' memory is completed for everybody it knows, and no more is claimed",
        arguments: Backend.allCases
    )
    func olderThanTheirMemory(_ backend: Backend) async throws {
        try await RestorableWorld.run(on: backend) { world in
            let backup = world.clock.nowAtOnce
            let early = try await Self.lose(40, in: world)
            let apple = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(apple.completeFrom > backup + 8 * RestorableWorld.day)
            #expect(apple.histories > 0 && apple.historiesChanged > 0)
            #expect(apple.historiesAsOf != nil)
            let stripe = try #require(try await world.tollgate.stripe.reconcile())
            #expect(stripe.objects.new > 0 && stripe.completeFrom == nil)
            for person in world.people { try await world.signIn(person.user) }
            try await world.expectTruth(among: early)
            // Of others the App Store tells what it sent within its memory; the rest their apps show.
            for person in world.people {
                let bought = try await world.appStore.transactions(customer: person.buyer)
                guard let one = bought.last else { continue }
                _ = try await world.tollgate.appStore.devices.receive(
                    .init(
                        signedTransaction: try await world.appStore.signedTransaction(one.id).jws,
                        mode: .observed
                    ),
                    from: Customer.ID(person.id)
                )
            }
            _ = try await world.tollgate.appStore.reconcile(in: .sandbox, reach: .everything)
            try await world.expectTruth()
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "and a database that is gone altogether are filled from the stores' memory",
        arguments: Backend.allCases
    )
    func goneAltogether(_ backend: Backend) async throws {
        try await RestorableWorld.run(on: backend) { world in
            _ = try await Self.lose(6, in: world)
            await world.stop()
            try await world.start(on: try backend.makeDatabase())
            let report = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(report.taken > 20 && report.historiesAsOf != nil)
            // Nothing was known before, so nothing is said to have been lost.
            #expect(!world.warnings.all.contains { $0.contains("lacked") })
            _ = try await world.tollgate.stripe.reconcile()
            for person in world.people {
                #expect(try await world.signIn(person.user).id == person.id)
            }
            try await world.expectTruth()
            #expect(try await world.isRebuilt())
        }
    }
}
