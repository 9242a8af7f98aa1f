import AppStoreSimulator
import Foundation
import Storage
import StripeSimulator
import TollgateCore

extension SimulatedWorld {
    mutating func compareAll() async throws {
        books = try await StripeBooks(of: play.world.stripe, keeping: books)
        for person in plan.people { try await compare(person.name) }
    }

    /// Compares somebody who has only the App Store a millisecond before something ends there, and
    /// at the very instant.
    mutating func compareAtAnEnd() async throws {
        var next: (at: Int64, name: String)?
        for person in plan.people where stripeIDs[person.name] == nil {
            guard let end = try await nextEnd(of: person.name), end < next?.at ?? .max else {
                continue
            }
            next = (end, person.name)
        }
        guard let next, next.at - now < 40 * WorldPlan.day else { return }
        await advance(to: next.at - 1)
        await server.settle()
        try await compare(next.name)
        await advance(to: next.at)
        try await compare(next.name)
    }

    private func nextEnd(of name: String) async throws -> Int64? {
        let store = play.world.appStore
        let account = play.appleAccounts[name] ?? ""
        var ends: [Int64] = []
        for transaction in try await store.transactions(customer: account) {
            if transaction.kind == .nonRenewing {
                ends.append(transaction.purchaseDate + 30 * WorldPlan.day)
            }
            if let end = transaction.expiresDate { ends.append(end) }
        }
        return ends.filter { $0 > now + 1 }.min()
    }

    /// Compares those whose plan renews while the notice of it is on its way: the catalog's
    /// `renewal_leeway` keeps them in.
    mutating func compareWhileOnTheWay() async throws {
        for (at, name) in try await nextRenewals().prefix(3) where at > now + 60_000 {
            await advance(to: at - 60_000)
            server.plight.isHeldUp = true
            await advance(to: at + 1_800_000)
            books = try await StripeBooks(of: play.world.stripe, keeping: books)
            if let customer = play.people[name] {
                let answer = try await server.answer(customer, in: environment)
                let truth = try await truth(of: customer, in: environment)
                outcome.comparisons += 1
                let missing = truth.has.subtracting(truth.unsure).subtracting(answer.has)
                if !missing.isEmpty {
                    object(
                        "\(name) has no \(Truth.list(missing)) while the notice of a renewal is on "
                            + "its way",
                        about: name,
                        expecting: Scenario.Expectation(has: truth.has)
                    )
                }
            }
            await server.letGo()
            await server.settle()
        }
    }

    /// When the next of each person's plans renews, the earliest first; those first of whom
    /// something else is planned.
    private func nextRenewals() async throws -> [(at: Int64, name: String)] {
        var renewals: [(at: Int64, name: String, isPlain: Bool)] = []
        func add(_ at: Int64, _ name: String, isPlain: Bool) {
            guard at > now + 60_000, at < now + 40 * WorldPlan.day else { return }
            renewals.append((at, name, isPlain))
        }
        for person in plan.people {
            let ids = stripeIDs[person.name] ?? []
            for subscription in books?.subscriptions ?? []
            where ids.contains(subscription.customer) && subscription.status == "active" {
                let end = subscription.items.data.map(\.current_period_end).min() ?? 0
                if let last = subscription.cancel_at, last <= end { continue }
                add(end * 1000, person.name, isPlain: subscription.cancel_at == nil)
            }
            let account = play.appleAccounts[person.name] ?? ""
            let transactions = try await play.world.appStore.transactions(customer: account)
            for original in Set(transactions.map(\.originalID)).sorted() {
                guard let plan = try? await play.world.appStore.subscription(original),
                    plan.state == .active, plan.autoRenews
                else { continue }
                add(plan.renewalDate, person.name, isPlain: true)
            }
        }
        let chosen = renewals.sorted {
            ($0.isPlain ? 1 : 0, $0.at, $0.name) < ($1.isPlain ? 1 : 0, $1.at, $1.name)
        }
        var seen: Set<String> = []
        return chosen.filter { seen.insert($0.name).inserted }.prefix(3)
            .sorted { ($0.at, $0.name) < ($1.at, $1.name) }.map { ($0.at, $0.name) }
    }

    /// The environment of the simulated App Store.
    var environment: StoreEnvironment {
        plan.settings.isProduction ? .production : .sandbox
    }

    /// What a customer must have now.
    func truth(
        of customer: ScenarioCustomer,
        in environment: StoreEnvironment
    ) async throws -> Truth {
        var truth = Truth()
        if environment == self.environment { truth = try await appStoreTruth(of: customer) }
        if environment == .sandbox, let books {
            truth =
                truth
                + StripeTruth(books: books, catalog: catalog, now: now)
                .read(customers: stripeIDs[customer.name] ?? [])
        }
        truth = truth.withPasses(at: now, in: catalog)
        truth.coins -= spent[Purse(customer: customer.name, environment: environment)] ?? 0
        return truth
    }

    private func appStoreTruth(of customer: ScenarioCustomer) async throws -> Truth {
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
            shown: server.shown(by: customer)
        ).read(transactions, subscriptions: subscriptions, token: customer.id)
    }

    private mutating func compare(_ name: String) async throws {
        guard let customer = play.people[name] else { return }
        for environment in StoreEnvironment.allCases {
            let truth = try await truth(of: customer, in: environment)
            let answer = try await server.answer(customer, in: environment)
            outcome.comparisons += 1
            let objections = truth.objections(to: answer)
            guard !objections.isEmpty else { continue }
            object(
                "\(name) in \(environment.rawValue) " + objections.joined(separator: "; "),
                about: name,
                expecting: Scenario.Expectation(has: truth.has, coins: truth.coins)
            )
        }
    }

    mutating func object(
        _ message: String,
        about name: String? = nil,
        expecting expectation: Scenario.Expectation? = nil
    ) {
        outcome.failures.append(
            Simulation.Failure(
                at: now,
                customer: name,
                message: message,
                expectation: expectation
            )
        )
    }

    /// What was answered 200 is in the journal, and every balance is the sum of its transfers.
    mutating func compareJournal() async throws {
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
        let journal = Set(keys)
        if journal.count != keys.count { object("the journal has a row twice") }
        let lost = server.acknowledged.count { !journal.contains($0.bytes) }
        if lost > 0 { object("\(lost) messages were answered 200 and are not there") }
        if unbalanced > 0 { object("\(unbalanced) balances are not the sum of their transfers") }
    }
}
