import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import StripeSimulator
import TollgateCore

/// The world of one simulation while it is lived through: one thing after the other, so that it can
/// be lived through again.
struct SimulatedWorld {
    let plan: WorldPlan
    let server: SimulatedServer
    let fate: Fate
    let catalog: Catalog
    var play: Play
    var outcome = Simulation.Outcome()
    /// Transactions whose refund the App Store took back, with when.
    var reversed: [String: Int64] = [:]
    /// Coins that were spent, by customer and environment.
    var spent: [Purse: Int64] = [:]
    /// What was spent when the database was copied.
    var spentAtCopy: [Purse: Int64] = [:]
    /// Stripe's ids of each person, who has another one after the first was deleted.
    var stripeIDs: [String: Set<String>] = [:]
    var books: StripeBooks?
    /// Whether Stripe's balance transactions were fetched before.
    var hasFetchedReports = false
    private var debt = Debt.none

    struct Purse: Hashable {
        var customer: String
        var environment: StoreEnvironment
    }

    /// What the server has still to ask the stores.
    enum Debt: Int {
        case none
        /// What they could not deliver.
        case news
        /// All that they know.
        case everything
    }

    init(
        _ plan: WorldPlan,
        server: SimulatedServer,
        fate: Fate,
        catalog: Catalog,
        authority: Data,
        seed: UInt64
    ) async throws {
        (self.plan, self.server, self.fate, self.catalog) = (plan, server, fate, catalog)
        let scenario = Scenario(
            file: "simulation",
            title: "seed \(seed)",
            covers: [],
            catalog: "catalog.yaml",
            customers: plan.people,
            appStore: plan.settings,
            stripe: plan.stripe,
            // The clock begins with the first step.
            steps: [
                .init(
                    line: 1,
                    at: WorldPlan.beginning,
                    isExact: false,
                    customer: "",
                    deed: .check(.init())
                )
            ]
        )
        var telling = Play.Telling(variant: plan.variant)
        telling.wallIsVirtual = true
        telling.stripeEvents = Self.stripeEvents
        play = try await Play(
            LoadedScenario(scenario: scenario, catalog: catalog),
            backend: server,
            authority: authority,
            telling: telling
        )
    }

    /// What a webhook endpoint of Tollgate's is set up to hear.
    static let stripeEvents = [
        "checkout.session.completed", "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed", "checkout.session.expired",
        "customer.subscription.created", "customer.subscription.updated",
        "customer.subscription.deleted", "customer.subscription.paused",
        "customer.subscription.resumed", "invoice.paid", "refund.created", "refund.updated",
        "refund.failed", "charge.refunded", "charge.dispute.created", "charge.dispute.updated",
        "charge.dispute.closed", "charge.dispute.funds_withdrawn",
        "charge.dispute.funds_reinstated",
    ]

    var now: Int64 { play.world.clock.nowAtOnce }

    /// How often all is healed and compared.
    private static let quietPoints: Int64 = 4

    /// Lets go of the stores, when nobody asks them any more.
    func end() async {
        await play.world.clock.end()
    }

    // MARK: - Living

    mutating func live() async throws -> Simulation.Outcome {
        try await server.start(in: play.world)
        try await play.begin()
        try await openShop()
        var quiet = WorldPlan.beginning + (plan.end - WorldPlan.beginning) / Self.quietPoints
        for act in plan.acts {
            while quiet < act.at {
                await advance(to: quiet)
                try await compareAtQuietPoint()
                guard outcome.failures.isEmpty else { return finished }
                quiet += (plan.end - WorldPlan.beginning) / Self.quietPoints
            }
            await advance(to: act.at)
            if let done = await perform(act) { outcome.performed.append(done) }
            if fate.below(2) == 0 {
                await advance(to: now + 1000 + Int64(fate.below(120_000)))
                await server.settle()
            }
            guard collectViolations(), outcome.failures.isEmpty else { return finished }
        }
        await advance(to: plan.end)
        try await compareAtQuietPoint()
        return finished
    }

    private var finished: Simulation.Outcome {
        var outcome = outcome
        (outcome.letters, outcome.kills) = (server.counts.letters, server.counts.kills)
        return outcome
    }

    // MARK: - Time

    /// How long a server in trouble waits before it tries a pass again.
    private static let pause: Int64 = 6 * 3_600_000

    /// Lets time pass; a server that owes a pass tries it again and again, as a real one does.
    mutating func advance(to instant: Int64) async {
        while debt != .none {
            // A pass while the stores are not heard from, or cannot be asked, would prove nothing.
            let next = max(now + Self.pause, server.plight.clear)
            guard next < instant else { break }
            await pass(to: next)
            await payDebt()
        }
        await pass(to: instant)
    }

    /// Lets time pass, and what is late arrive.
    private func pass(to instant: Int64) async {
        let keyless = server.plight.keylessUntil
        if now < keyless, keyless <= instant {
            await passHearing(to: keyless)
            await server.bootAgain()
        }
        await passHearing(to: instant)
    }

    private func passHearing(to instant: Int64) async {
        while let late = server.nextLate(by: instant) {
            await play.world.clock.advance(to: late.due)
            await server.hand(late.letter, isLate: true)
        }
        await play.world.clock.advance(to: instant)
    }

    /// The server has to ask the stores for more.
    mutating func owe(_ more: Debt) {
        if debt.rawValue < more.rawValue { debt = more }
    }

    /// Asks the stores what the server owes.
    mutating func payDebt(mustSucceed: Bool = false) async {
        let isPaid = await server.reconcile(all: debt == .everything, mustSucceed: mustSucceed)
        if isPaid, now >= server.plight.clear { debt = .none }
    }

    // MARK: - Judging

    /// Heals everything, lets the server catch up, and compares.
    private mutating func compareAtQuietPoint() async throws {
        fate.isHealed = true
        await server.comeUp()
        // Longer than any pause between tries and any lease.
        await advance(to: now + 900_000)
        for _ in 0..<2 { await server.settle() }
        // The first may only finish what an earlier one left; the second begins now.
        for _ in 0..<2 {
            owe(.news)
            await payDebt(mustSucceed: true)
        }
        for _ in 0..<2 {
            await advance(to: now + 5_000)
            await server.settle()
        }
        guard collectViolations() else { return }
        try await compareAll()
        try await compareJournal()
        if outcome.failures.isEmpty { try await compareFigures() }
        if outcome.failures.isEmpty { try await compareAtAnEnd() }
        if outcome.failures.isEmpty { try await compareWhileOnTheWay() }
        fate.isHealed = false
    }

    /// Whether nothing was seen to be wrong.
    private mutating func collectViolations() -> Bool {
        outcome.failures += server.violations.map {
            Simulation.Failure(at: now, message: $0)
        }
        return outcome.failures.isEmpty
    }
}
