import AppStoreSimulator
import Foundation
import StripeSimulator
import TollgateCore

extension SimulatedWorld {
    private struct Impossible: Error {}

    /// Does one thing; what was done, `nil` if nothing.
    mutating func perform(_ act: PlannedAct) async -> PlannedAct? {
        let name = act.customer.map { "c\($0)" } ?? ""
        let step = Scenario.Step(
            line: act.number,
            at: now,
            isExact: true,
            customer: name,
            deed: .check(.init())
        )
        var act = act
        do {
            switch act.deed {
            case .appStore(let deed): try await play.perform(deed, step)
            case .stripe(let deed): try await perform(deed, step)
            case .world(let deed): act.deed = try await perform(deed, step)
            case .spend(let amount): try await spend(amount, by: name, number: act.number)
            case .outage(let span):
                guard fate.trouble.hasOutages else { return nil }
                server.plight.downUntil = max(server.plight.downUntil, now + span)
            case .reconcile:
                owe(.news)
                await payDebt()
            }
            return act
        } catch {
            return nil  // The store does not allow it, or nobody answers.
        }
    }

    private mutating func perform(_ act: StripeAct, _ step: Scenario.Step) async throws {
        do {
            try await play.perform(act, step)
        } catch {
            await afterStripe(step)
            throw error
        }
        await afterStripe(step)
    }

    private mutating func afterStripe(_ step: Scenario.Step) async {
        await play.world.stripe.settle()
        guard let person = play.people[step.customer],
            let known = play.stripeCustomers[person]
        else { return }
        stripeIDs[step.customer, default: []].insert(known.id)
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

    // MARK: - What scenarios have no words for

    /// - Returns: the deed in the words of scenarios, where they have some for it.
    private mutating func perform(
        _ act: WorldAct,
        _ step: Scenario.Step
    ) async throws -> PlannedAct.Deed {
        switch act {
        case .refund(let product, let back, let share):
            let (which, id) = try await sale(of: product, back: back, step)
            try await play.perform(.refund(which, share: share), step)
            reversed[id] = nil
            return .appStore(.refund(which, share: share))
        case .reverseRefund(let product, let back):
            let (which, id) = try await sale(of: product, back: back, step)
            try await play.perform(.reverseRefund(which), step)
            reversed[id] = now
            return .appStore(.reverseRefund(which))
        case .openApp: try await openApp(step)
        case .postReplaced: return try await postReplaced(step)
        case .subscribe, .checkout, .addItem, .removeItem, .refundCharge, .dispute,
            .endDispute:
            do { try await performAtStripe(act, step) } catch {
                await afterStripe(step)
                throw error
            }
            await afterStripe(step)
        case .swallow, .withoutKey, .clockBehind, .backUp, .restore: try await befall(act)
        }
        return .world(act)
    }

    /// What happens to the server.
    private mutating func befall(_ act: WorldAct) async throws {
        switch act {
        case .swallow(let span):
            server.plight.swallowedUntil = max(server.plight.swallowedUntil, now + span)
            owe(.everything)
        case .withoutKey(let span):
            server.plight.keylessUntil = max(server.plight.keylessUntil, now + span)
            await server.bootAgain()
            owe(.news)
        case .clockBehind(let lag, let span):
            server.plight.lag = lag
            server.plight.lagUntil = now + span
        case .backUp:
            try await server.backUp()
            spentAtCopy = spent
        case .restore:
            guard try await server.restore() else { throw Impossible() }
            spent = spentAtCopy
            owe(.everything)
            if now >= server.plight.clear { await payDebt() }
        default: break
        }
    }

    // MARK: - In the App Store

    /// Of the purchases of a product, the one that `back` others follow; by its first id, whatever
    /// ids restoring has made of it.
    private func sale(
        of product: String?,
        back: Int,
        _ step: Scenario.Step
    ) async throws -> (AppStoreAct.Which, String) {
        let account = play.appleAccounts[step.customer] ?? ""
        let id = product.flatMap { catalog.product(id: $0)?.appStoreProductID }
        let found = try await play.world.appStore.transactions(customer: account)
            .filter { id == nil || $0.productID == id }
        guard back < found.count else { throw Impossible() }
        let which = AppStoreAct.Which(product: product, number: found.count - back)
        return (which, try await play.sale(which, of: account).id)
    }

    /// What a device shows must be given at once, whatever else got lost: StoreKit's current
    /// entitlements are verified and current.
    ///
    /// https://developer.apple.com/documentation/storekit/transaction/currententitlements
    private mutating func openApp(_ step: Scenario.Step) async throws {
        guard let customer = play.people[step.customer] else { return }
        let account = play.appleAccounts[step.customer] ?? ""
        let view = try await play.world.appStore.entitlements(customer: account)
        for shown in view.currentEntitlements {
            try await play.post(shown, by: customer, mode: "observed")
        }
        await settleInPeace()
        guard !server.isDown, server.lag == 0 else { return }
        let environment: StoreEnvironment = customer.isProduction ? .production : .sandbox
        let answer = try await server.answer(customer, in: environment)
        let lasting = catalog.products.filter {
            $0.kind == .autoRenewable || $0.kind == .nonConsumable
        }
        let keys = view.currentEntitlements.compactMap(Forgery.productID).flatMap { id in
            lasting.first { $0.appStoreProductID == id }?.entitlements ?? []
        }
        outcome.comparisons += 1
        let missing = Set(keys).subtracting(answer.has)
        guard !missing.isEmpty else { return }
        object(
            "\(step.customer) shows a verified purchase of \(Truth.list(missing)) and has not got it",
            about: step.customer
        )
    }

    /// A moment in which nothing else goes wrong.
    private func settleInPeace() async {
        let isHealed = fate.isHealed
        fate.isHealed = true
        for _ in 0..<2 { await server.settle() }
        fate.isHealed = isHealed
    }

    /// An old device shows what another plan has replaced, and not by which: the store is asked at
    /// once, and who has the other plan has what it gives.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/isupgraded
    private mutating func postReplaced(_ step: Scenario.Step) async throws -> PlannedAct.Deed {
        guard let customer = play.people[step.customer], server.hasKey else { throw Impossible() }
        let account = play.appleAccounts[step.customer] ?? ""
        let store = play.world.appStore
        let transactions = try await store.transactions(customer: account)
        guard let replaced = transactions.last(where: \.isUpgraded),
            let product = catalog.products.first(where: {
                $0.appStoreProductID == replaced.productID
            })
        else { throw Impossible() }
        let number = transactions.filter { $0.productID == replaced.productID }
            .firstIndex { $0.id == replaced.id }
        let which = AppStoreAct.Which(product: product.id, number: (number ?? 0) + 1)
        let act = AppStoreAct.post(which, mode: "observed")
        try await play.perform(act, step)
        await settleInPeace()
        guard !server.isDown, server.lag == 0 else { return .appStore(act) }
        let environment: StoreEnvironment = customer.isProduction ? .production : .sandbox
        let plan = try await store.subscription(replaced.originalID)
        let running = transactions.last { $0.originalID == replaced.originalID }
        guard plan.state == .active, now < plan.renewalDate, let running else {
            return .appStore(act)
        }
        let keys = catalog.products.first { $0.appStoreProductID == running.productID }
        let answer = try await server.answer(customer, in: environment)
        outcome.comparisons += 1
        let missing = Set(keys?.entitlements ?? []).subtracting(answer.has)
        if !missing.isEmpty {
            object(
                "\(step.customer) showed what was replaced and has not got \(Truth.list(missing))",
                about: step.customer
            )
        }
        return .appStore(act)
    }
}
