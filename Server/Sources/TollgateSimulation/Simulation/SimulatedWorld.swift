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
    /// Refunds of some seats, by transaction.
    var refundedSeats: [String: [FigureTruth.RefundedSeats]] = [:]
    /// Coins that were spent, by customer and environment.
    var spent: [Purse: Int64] = [:]
    var books: StripeTruth?
    /// The world's memory at the last copy of the database.
    var backup: Backup?
    /// An app's backend that follows the feed.
    var feed = FeedFollower()
    /// `true` while Stripe sends no message, because a person's story says so.
    private var stripeIsSilent = false
    /// Whether the server may lack what Stripe did not send.
    private var missesStripe = false
    /// Whether a pass over what the stores could not deliver is due and has not succeeded.
    private var owesPass = false

    struct Purse: Hashable {
        var customer: String
        var environment: StoreEnvironment
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
        // The clock begins with the first step; what is done is in the plan.
        let deeds: [Scenario.Deed] =
            [.check(.init())] + (plan.hasAndroid ? [.googlePlay(.nothing)] : [])
        var googlePlay = Scenario.GooglePlaySettings()
        googlePlay.plans = plan.googlePlayPlans
        let scenario = Scenario(
            file: "simulation",
            title: "seed \(seed)",
            covers: [],
            catalog: "catalog.yaml",
            customers: plan.people,
            appStore: plan.settings,
            stripe: plan.stripe,
            googlePlay: googlePlay,
            steps: deeds.map {
                Scenario.Step(
                    line: 1,
                    at: plan.start,
                    isExact: false,
                    customer: "",
                    deed: $0
                )
            }
        )
        var telling = Play.Telling(variant: plan.variant)
        telling.wallIsVirtual = true
        telling.keepsMoments = false
        telling.package = ScenarioWorld.bundleID
        telling.stripeEvents = Self.stripeEvents(of: plan)
        play = try await Play(
            LoadedScenario(scenario: scenario, catalog: catalog),
            backend: server,
            authority: authority,
            telling: telling
        )
        for name in play.people.keys {
            play.people[name]?.isProduction = plan.settings.isProduction
            play.people[name]?.isInBothEnvironments = false
        }
    }

    /// What a webhook endpoint of Tollgate's is set up to hear.
    ///
    /// Of payments it hears only where one has to tell something that nothing else does: everywhere, that
    /// would change every world.
    static func stripeEvents(of plan: WorldPlan) -> [String] {
        stripeEvents + (plan.hasPayments ? ["payment_intent.succeeded"] : [])
    }

    private static let stripeEvents = [
        "checkout.session.completed", "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed", "checkout.session.expired",
        "customer.subscription.created", "customer.subscription.updated",
        "customer.subscription.deleted", "customer.subscription.paused",
        "customer.subscription.resumed", "invoice.paid", "invoice.voided",
        "invoice.marked_uncollectible", "refund.created", "refund.updated",
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
        try await beginFeed()
        var quiet = WorldPlan.beginning + (plan.end - WorldPlan.beginning) / Self.quietPoints
        for act in plan.acts {
            while quiet < act.at {
                await advance(to: quiet)
                try await compareAtQuietPoint()
                guard outcome.failures.isEmpty else { return finished }
                quiet += (plan.end - WorldPlan.beginning) / Self.quietPoints
            }
            // Where time was overtaken, no two things that a history tells one after the other happen at
            // one instant: Apple's clock has a date for each.
            let isOvertaken = act.at <= now && act.number >= WorldPlan.firstOfAppStoreHistories
            await advance(to: isOvertaken ? now + 1000 : act.at)
            if await perform(act) { outcome.performed.append(act) }
            if fate.below(2) == 0 {
                await advance(to: now + 1000 + Int64(fate.below(120_000)))
                await server.settle()
            }
            guard collectViolations() else { return finished }
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

    /// How long a server in trouble waits before it tries a pass again.
    private static let pause: Int64 = 6 * 3_600_000

    /// Lets time pass; a server that owes a pass tries it again and again, as a real one does.
    mutating func advance(to instant: Int64) async {
        while owesPass, now + Self.pause < instant {
            await pass(to: now + Self.pause)
            owesPass = await !server.reconcile(mustSucceed: false)
        }
        await pass(to: instant)
    }

    /// Lets time pass, and what is late arrive.
    private func pass(to instant: Int64) async {
        while let late = server.nextLate(by: instant) {
            await play.world.clock.advance(to: late.due)
            await server.hand(late.letter, isLate: true)
        }
        await play.world.clock.advance(to: instant)
    }

    /// Does one thing; says whether it happened.
    private mutating func perform(_ act: PlannedAct) async -> Bool {
        let name = act.customer.map { "c\($0)" } ?? ""
        let step = Scenario.Step(
            line: act.number,
            at: now,
            isExact: true,
            customer: name,
            deed: .check(.init())
        )
        do {
            switch act.deed {
            case .appStore(let deed): try await perform(deed, step)
            case .stripe(let deed):
                try await perform(deed, step)
                if deed == .silence { (stripeIsSilent, missesStripe) = (true, true) }
                if deed == .speak { stripeIsSilent = false }
            case .atStripe(let deed): try await perform(deed, step)
            case .googlePlay(let deed): try await play.perform(deed, step)
            case .look: try await look(at: name)
            case .glance: try await glance(at: name)
            case .spend(let amount): try await spend(amount, by: name, number: act.number)
            case .outage(let span):
                guard fate.trouble.hasOutages else { return false }
                server.goDown(until: now + span)
            case .reconcile: owesPass = await !server.reconcile(mustSucceed: false)
            case .incident(let incident): try await perform(incident, step)
            }
            return true
        } catch {
            return false  // The store does not allow it, or nobody answers.
        }
    }

    mutating func perform(_ act: AppStoreAct, _ step: Scenario.Step) async throws {
        var target: String?
        switch act {
        case .refund(let which, _), .reverseRefund(let which), .refundSeats(let which, _):
            let account = play.appleAccounts[step.customer] ?? ""
            // A multiseat purchase is restored on no other device.
            target = try await play.sale(which, of: account).id
        default: break
        }
        try await play.perform(act, step)
        switch (act, target) {
        case (.refund, let id?): reversed[id] = nil
        case (.reverseRefund, let id?): reversed[id] = now
        case (.refundSeats(_, let count), let id?):
            refundedSeats[id, default: []].append(.init(count: count, at: now))
        default: break
        }
    }

    private mutating func spend(_ amount: Int64, by name: String, number: Int) async throws {
        guard let customer = play.people[name] else { return }
        let environment: StoreEnvironment =
            number.isMultiple(of: 2) && customer.isProduction ? .production : .sandbox
        let isGranted = try await server.spend(
            amount,
            by: customer,
            in: environment,
            key: "spend-\(number)"
        )
        if isGranted {
            spent[Purse(customer: name, environment: environment), default: 0] += amount
        }
    }

    // MARK: - Judging

    /// Heals everything, lets the server catch up, and compares.
    private mutating func compareAtQuietPoint() async throws {
        await heal()
        guard collectViolations() else { return }
        try await compareAll()
        try await compareBooks()
        try await compareAcknowledgements()
        if outcome.failures.isEmpty { try await compareFeed() }
        if outcome.failures.isEmpty { try await compareFigures() }
        if outcome.failures.isEmpty { try await compareAtAnEnd() }
        fate.isHealed = false
    }

    /// Compares what is said of one customer: first, where all arrives, with what the server was told,
    /// then after it has asked the stores what it missed.
    private mutating func look(at name: String) async throws {
        if fate.trouble.isCalm, !missesStripe, !server.incidents.hasMissedSomething {
            await advance(to: now + 5_000)
            await server.settle()
            try await compare(name, try await readBooks())
            outcome.looks += 1
            guard outcome.failures.isEmpty else { return }
        }
        await heal()
        guard collectViolations() else { return }
        try await compare(name, try await readBooks())
        fate.isHealed = false
    }

    /// Compares what is said of one customer as things are, while Stripe's messages are late.
    private mutating func glance(at name: String) async throws {
        try await compare(name, try await readBooks(), coins: false)
    }

    /// Lets nothing go wrong any more, and the server learn what it missed.
    private mutating func heal() async {
        fate.isHealed = true
        server.comeUp()
        server.incidents.heal()
        // Longer than any pause between tries and any lease.
        await advance(to: now + 900_000)
        for _ in 0..<2 { await server.settle() }
        await showGooglePurchases()
        // The first may only finish what an earlier one left; the second begins now.
        for _ in 0..<2 { owesPass = await !server.reconcile(mustSucceed: true) }
        for _ in 0..<2 {
            await advance(to: now + 5_000)
            await server.settle()
        }
        server.incidents.isOlderThanAcknowledged = false
        missesStripe = stripeIsSilent
    }

    /// Whether nothing was seen to be wrong.
    private mutating func collectViolations() -> Bool {
        outcome.failures += server.violations.map {
            Simulation.Failure(at: now, message: $0)
        }
        return outcome.failures.isEmpty
    }

    private mutating func compareAll() async throws {
        let books = try await readBooks()
        for person in plan.people { try await compare(person.name, books) }
    }

    private mutating func compareFigures() async throws {
        guard let books else { return }
        outcome.failures += try await objectionsToFigures(books).map {
            Simulation.Failure(at: now, message: "figures: \($0)")
        }
    }

    private mutating func readBooks() async throws -> StripeTruth {
        var read = try await StripeTruth(of: play.world.stripe, keeping: books)
        read.coinsSince = plan.moved ?? .min
        books = read
        return read
    }

    /// Compares somebody who has only the App Store a millisecond before something ends there, and
    /// at the very instant.
    private mutating func compareAtAnEnd() async throws {
        guard let books else { return }
        var next: (at: Int64, name: String)?
        for person in plan.people {
            guard let customer = play.people[person.name], play.stripeCustomers[customer] == nil,
                let end = try await nextEnd(of: person.name), end < next?.at ?? .max
            else { continue }
            next = (end, person.name)
        }
        guard let next, next.at - now < 40 * 86_400_000 else { return }
        await advance(to: next.at - 1)
        await server.settle()
        try await compare(next.name, books)
        await advance(to: next.at)
        try await compare(next.name, books)
    }

    private func nextEnd(of name: String) async throws -> Int64? {
        let store = play.world.appStore
        let account = play.appleAccounts[name] ?? ""
        var ends: [Int64] = []
        for transaction in try await store.transactions(customer: account) {
            if transaction.kind == .nonRenewing {
                ends.append(transaction.purchaseDate + 30 * 86_400_000)
            }
            if let end = transaction.expiresDate { ends.append(end) }
        }
        return ends.filter { $0 > now + 1 }.min()
    }

    /// - Parameter coins: whether those of a renewal must be known by now.
    private mutating func compare(
        _ name: String,
        _ books: StripeTruth,
        coins areCoinsDue: Bool = true
    ) async throws {
        guard let customer = play.people[name] else { return }
        let now = now
        let apple = try await appStoreTruth(of: customer)
        let google = try await googlePlayTruth(of: customer)
        // After the first was deleted at Stripe, the person has another one.
        let former = try (play.formerStripeCustomers[customer] ?? []).map {
            try JSONDecoder().decode(StripeTruth.Reference.self, from: Data($0.utf8)).id
        }
        let stripe = (former + (play.stripeCustomers[customer].map { [$0.id] } ?? []))
            .map { books.read(customer: $0, at: now, in: catalog) }
            .reduce(Truth(), +)
        let own: StoreEnvironment = customer.isProduction ? .production : .sandbox
        for environment in StoreEnvironment.allCases {
            var truth = environment == own ? apple : Truth()
            if environment == .sandbox { truth = truth + stripe }
            if environment == googlePlayEnvironment(of: name) { truth = truth + google }
            truth = truth.withPasses(at: now, in: catalog)
            truth.areCoinsSure = truth.areCoinsSure && areCoinsDue
            truth.coins -= spent[Purse(customer: name, environment: environment)] ?? 0
            let answer = try await server.answer(customer, in: environment)
            outcome.comparisons += 1
            judge(answer, truth, name, environment)
        }
    }

    func appStoreTruth(of customer: ScenarioCustomer) async throws -> Truth {
        let store = play.world.appStore
        let account = play.appleAccounts[customer.name] ?? ""
        let transactions = try await store.transactions(customer: account)
        var subscriptions: [String: SimulatedAppStore.Subscription] = [:]
        for original in Set(transactions.map(\.originalID)) {
            subscriptions[original] = try? await store.subscription(original)
        }
        return AppStoreTruth(
            catalog: catalog,
            now: now,
            reversed: reversed,
            shown: server.shown(by: customer),
            coinsSince: plan.moved ?? .min
        ).read(transactions, subscriptions: subscriptions, token: customer.id)
    }

    mutating func judge(
        _ answer: ScenarioAnswer,
        _ truth: Truth,
        _ name: String,
        _ environment: StoreEnvironment
    ) {
        func list(_ keys: Set<String>) -> String {
            keys.isEmpty ? "nothing" : keys.sorted().joined(separator: ", ")
        }
        let open = truth.unsure.subtracting(truth.has)
        let has = answer.has.subtracting(open)
        var objections: [String] = []
        if has != truth.has {
            objections.append("should have \(list(truth.has)) and has \(list(has))")
        }
        if truth.areCoinsSure, abs((answer.coins ?? 0) - truth.coins) > truth.coinSlack {
            objections.append("should have \(truth.coins) coins and has \(answer.coins ?? 0)")
        }
        // A third voice: it must say what the books and the server say, or leave it open.
        objections += answer.objections
        outcome.verdicts += answer.verdicts
        guard !objections.isEmpty else { return }
        outcome.failures.append(
            Simulation.Failure(
                at: now,
                customer: name,
                message: "\(name) in \(environment.rawValue) "
                    + objections.joined(separator: "; "),
                expectation: Scenario.Expectation(has: truth.has, coins: truth.coins)
            )
        )
    }

    /// What was answered 200 is in the journal, and every balance is the sum of its transfers.
    private mutating func compareBooks() async throws {
        let (keys, unbalanced) = try await server.database.read { connection in
            let keys = try connection.query("SELECT dedupe_key FROM journal")
                .map { try $0.bytes(0) }
            let unbalanced = try connection.query(
                """
                SELECT count(*) FROM customer WHERE balance <> (
                    SELECT coalesce(sum(amount), 0) FROM transfer
                    WHERE transfer.customer = customer.key
                )
                """
            ).first?.int64(0)
            return (keys, unbalanced ?? 0)
        }
        if Set(keys).count != keys.count {
            outcome.failures.append(.init(at: now, message: "the journal has a row twice"))
        }
        let journal = Set(keys)
        let lost = server.acknowledged.count { !journal.contains($0.bytes) }
        if lost > 0 {
            outcome.failures.append(
                .init(at: now, message: "\(lost) messages were answered 200 and are not there")
            )
        }
        if unbalanced > 0 {
            outcome.failures.append(
                .init(at: now, message: "\(unbalanced) balances are not the sum of their transfers")
            )
        }
    }
}
