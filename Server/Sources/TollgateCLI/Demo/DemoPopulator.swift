import AppStoreSimulator
import Foundation
import GooglePlaySimulator
import StripeAPI
import StripeSimulator
import TollgateAPI
import TollgateCore
import TollgateService

/// Lets a population live in the demo's stores, which tell the server of it as they always do.
struct DemoPopulator: Sendable {
    let world: DemoWorld
    let backend: DemoBackend

    init(_ world: DemoWorld) {
        self.world = world
        backend = DemoBackend(serverURL: world.serverURL, client: world.client)
    }

    /// Somebody as the stores and the server know them.
    private struct Known {
        var customer: String
        var token: String
        /// At the App Store or at Google Play; empty at Stripe.
        var account = ""
    }

    /// Lives through everything until the clock stands at `end`.
    ///
    /// - Returns: how many deeds a store refused, such as the refund of what was refunded already.
    func live(_ population: DemoPopulation, until end: Int64) async throws -> Int {
        var known: [Int: Known] = [:]
        var refused = 0
        for deed in population.deeds {
            await world.advance(to: deed.at)
            let person = population.people[deed.person]
            if deed.act == .join { known[deed.person] = try await join(person) }
            guard let somebody = known[deed.person] else { continue }
            do {
                try await perform(deed.act, person, somebody)
            } catch {
                refused += 1
            }
        }
        await world.advance(to: end)
        await world.fetchReports()
        return refused
    }

    private func join(_ person: DemoPopulation.Person) async throws -> Known {
        let customer = try await backend.customer(person.name)
        var known = Known(customer: customer.id, token: customer.appAccountToken)
        switch person.shop {
        case .appStore:
            known.account = try await world.appStore.createCustomer(
                appAccountToken: known.token,
                storefront: person.storefront
            ).id
        case .googlePlay:
            known.account = try await world.googlePlay.createAccount(
                obfuscatedAccountID: known.token,
                isTester: true
            )
        case .stripe: break
        }
        return known
    }

    private func perform(
        _ act: DemoPopulation.Act,
        _ person: DemoPopulation.Person,
        _ known: Known
    ) async throws {
        switch act {
        case .join: try await buy(person.product, person, known)
        case .buyCoins: try await buy("coins_100", person, known)
        case .cancel: try await cancel(person, known)
        case .refund: try await refund(person, known)
        case .failBilling: try await setBilling(works: false, person, known)
        case .recoverBilling: try await setBilling(works: true, person, known)
        case .dispute: try await dispute(known)
        }
    }

    private func buy(
        _ id: String,
        _ person: DemoPopulation.Person,
        _ known: Known
    ) async throws {
        guard let product = world.catalog.product(id: id) else { return }
        switch person.shop {
        case .appStore:
            guard let sold = product.appStoreProductID else { return }
            let bought = try await world.appStore.buy(
                sold,
                customer: known.account,
                appAccountToken: known.token
            )
            try await world.appStore.finish(bought.transactionID)
        case .googlePlay:
            guard let sold = product.googlePlayProductID else { return }
            _ = try await world.googlePlay.buy(
                sold,
                basePlan: product.kind == .autoRenewable
                    ? product.googlePlayBasePlans?.first : nil,
                account: known.account
            )
            await world.settle()
        case .stripe:
            let session = try await backend.checkout(id, for: known.customer)
            _ = try await world.stripe.pay(
                checkoutSession: session,
                email: "\(person.name)@example.com",
                name: person.name
            )
        }
    }

    private func cancel(_ person: DemoPopulation.Person, _ known: Known) async throws {
        switch person.shop {
        case .appStore:
            let plans = try await world.appStore.transactions(customer: known.account)
                .filter { $0.kind == .autoRenewable }
            guard let plan = plans.max(by: { $0.purchaseDate < $1.purchaseDate }) else { return }
            try await world.appStore.cancel(plan.originalID)
        case .googlePlay:
            let plan = await world.googlePlay.purchases(account: known.account)
                .last { $0.isSubscription && $0.renews }
            if let plan { try await world.googlePlay.cancel(plan.token) }
            await world.settle()
        case .stripe:
            let customer = try await stripeCustomer(known)
            for id in try await subscriptions(of: customer) {
                try await world.stripe.cancel(subscription: id, atPeriodEnd: true)
            }
        }
    }

    private func refund(_ person: DemoPopulation.Person, _ known: Known) async throws {
        switch person.shop {
        case .appStore:
            let bought = try await world.appStore.transactions(customer: known.account)
            guard let newest = bought.max(by: { $0.purchaseDate < $1.purchaseDate }) else { return }
            try await world.appStore.refund(newest.id)
        case .googlePlay:
            let bought = await world.googlePlay.purchases(account: known.account)
            if let newest = bought.last(where: \.isRefundable) {
                try await world.googlePlay.revoke(newest.token)
            }
            await world.settle()
        case .stripe:
            try await world.stripe.refund(customer: try await stripeCustomer(known))
        }
    }

    private func setBilling(
        works: Bool,
        _ person: DemoPopulation.Person,
        _ known: Known
    ) async throws {
        switch person.shop {
        case .appStore:
            if works {
                try await world.appStore.recoverBilling(customer: known.account)
            } else {
                try await world.appStore.failBilling(customer: known.account)
            }
        case .googlePlay:
            try await world.googlePlay.setPayment(declines: !works, account: known.account)
            await world.settle()
        case .stripe:
            try await world.stripe.setDefaultCard(
                works ? "4242424242424242" : "4000000000000341",
                customer: try await stripeCustomer(known)
            )
        }
    }

    private func dispute(_ known: Known) async throws {
        let page = try await world.stripeClient.list(
            ["charges"],
            ["customer": .string(try await stripeCustomer(known)), "limit": .integer(1)],
            of: Stripe.Charge.self
        )
        if let charge = page.value.data.first {
            try await world.stripe.dispute(charge: charge.id)
        }
    }

    // MARK: - At Stripe

    private func stripeCustomer(_ known: Known) async throws -> String {
        let file = try await world.server.tollgate.customerFiles.file(
            known.customer,
            in: .sandbox
        )
        guard let customer = file.storeCustomers[.stripe] else {
            throw DemoLevers.Refusal(description: "This customer has paid nothing at Stripe yet.")
        }
        return customer
    }

    private func subscriptions(of customer: String) async throws -> [String] {
        try await world.stripeClient.list(
            ["subscriptions"],
            ["customer": .string(customer)],
            of: Stripe.Subscription.self
        ).value.data.map(\.id)
    }
}
