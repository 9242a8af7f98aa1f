import AppStoreSimulator
import Foundation
import SandboxClock
import TollgateCore

extension SimulatedWorld {
    /// Does what no act of a customer's is.
    mutating func perform(_ incident: PlannedAct.Incident, _ step: Scenario.Step) async throws {
        switch incident {
        case .unheard(let act):
            // Nothing else happens at this instant.
            try await play.perform(AppStoreAct.silence, step)
            do { try await perform(act, step) } catch {
                try await play.perform(AppStoreAct.speak, step)
                throw error
            }
            try await play.perform(AppStoreAct.speak, step)
        case .look(let look): try await self.look(look, at: step.customer)
        case .settle: await server.settle()
        case .cutOff(let span):
            guard fate.trouble.isCalm else { throw NotNow() }
            let account = play.appleAccounts[step.customer] ?? ""
            let bought = try await play.world.appStore.transactions(customer: account)
            server.incidents.cutOff(Set(bought.map(\.originalID)), until: now + span)
        case .clockBehind(let difference, let span):
            // A matter of the server's own, as outages are. A lease outlasts a clock that was set back,
            // and the only server of a SQLite file waits for none.
            guard fate.trouble.isCalm || fate.trouble.hasOutages else { throw NotNow() }
            server.incidents.setClockBack(by: difference, until: now + span)
        case .googlePlayRefuses(let span): try await refuseGooglePlay(for: span)
        case .moveIn: try await moveIn()
        case .backUp: try await backUp()
        case .restoreBackup: try await restoreBackup()
        }
    }

    // MARK: - Moving

    /// The customers of another system are brought in, as docs/app-store.md and docs/stripe.md say: by a
    /// file of transaction ids, and by reading Stripe's account.
    private func moveIn() async throws {
        guard let moved = plan.moved else { throw NotNow() }
        fate.isHealed = true
        defer { fate.isHealed = false }
        // The stores call delivered what the other system took.
        server.incidents.beOlderThanAcknowledged()
        var lines: [String] = []
        for (name, account) in play.appleAccounts.sorted(by: { $0.key < $1.key }) {
            let bought = try await play.world.appStore.transactions(customer: account).filter {
                $0.purchaseDate < moved
            }
            guard let customer = play.people[name], let first = bought.first else { continue }
            lines.append(
                "{\"app_user_id\":\"\(customer.id)\",\"transaction_id\":\"\(first.id)\"}"
            )
            for one in bought where one.kind != .consumable {
                server.note(one.originalID, shownBy: customer)
            }
        }
        try await server.bringIn(lines)
    }

    // MARK: - Backups

    /// The facts about the time before a copy that no store knows.
    struct Backup {
        fileprivate var server: SimulatedServer.Memory
        fileprivate var spent: [Purse: Int64]
    }

    private mutating func backUp() async throws {
        guard !server.isDown else { throw NotNow() }
        backup = Backup(server: try await server.backUp(), spent: spent)
    }

    /// Loses what was decided since the copy was made: spends, and claims of purchases without a token.
    ///
    /// So says docs/operations.md; all else the stores tell again. They have to be there: what a device
    /// showed since the copy was made is lost with the database, and nobody else can tell it.
    private mutating func restoreBackup() async throws {
        guard !server.incidents.isCutOff(at: now), let backup,
            try await server.restoreBackup(backup.server)
        else { throw NotNow() }
        spent = backup.spent
        // Its places in the feed are given a second time.
        feed = FeedFollower()
        self.backup = nil
    }

    // MARK: - Looking

    /// The world is not such that it could happen.
    struct NotNow: Error {}

    /// Compares a customer with what the server was told so far: where nothing goes wrong but what
    /// their history says, that must be enough.
    private mutating func look(_ look: PlannedAct.Look, at name: String) async throws {
        guard fate.trouble.isCalm, !server.incidents.isClockBehind(at: now),
            let customer = play.people[name],
            look.needsNoAnswer || !server.incidents.hasMissedSomething,
            !look.needsClearedFields || plan.variant.behaviour.reversalClearsRevocation
        else { throw NotNow() }
        let environment: StoreEnvironment = customer.isProduction ? .production : .sandbox
        var truth = try await appStoreTruth(of: customer).withPasses(at: now, in: catalog)
        truth.coins -= spent[Purse(customer: name, environment: environment)] ?? 0
        // By these two no transaction says what a lost notice said.
        let behaviour = plan.variant.behaviour
        let saysAll = behaviour.reversalClearsRevocation && !behaviour.upgradeSendsRefund
        truth.areCoinsSure = truth.areCoinsSure && look.knowsCoins && saysAll
        outcome.comparisons += 1
        outcome.looks += 1
        judge(try await server.answer(customer, in: environment), truth, name, environment)
    }
}

extension Trouble {
    /// Whether everything arrives and is answered but what a history itself says.
    var isCalm: Bool {
        lost == 0 && late == 0 && unanswered == 0 && killed == 0 && refused == 0 && !hasOutages
            && unavailable == 0
    }
}
