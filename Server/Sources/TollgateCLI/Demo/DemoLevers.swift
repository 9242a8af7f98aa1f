import Stores
import AppStoreSimulator
import Foundation
import GooglePlaySimulator
import SandboxClock
import Storage
import StripeAPI
import StripeSimulator
import TollgateCore
import TollgateServer
import TollgateService

/// The dashboard's levers on the demo's world: its clock, and what happens in the stores.
struct DemoLevers: Sendable {
    let world: DemoWorld

    /// A wish that cannot be met.
    struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    var levers: DashboardLevers {
        DashboardLevers(groups: { await groups() }, pull: { try await pull($0, target: $1) })
    }

    private func groups() async -> [DashboardLevers.Group] {
        typealias Lever = DashboardLevers.Lever
        var groups = [
            DashboardLevers.Group(
                title: "lever_clock",
                levers: [
                    Lever(id: "wait-P1D", label: "lever_day"),
                    Lever(id: "wait-P1W", label: "lever_week"),
                    Lever(id: "wait-P1M", label: "lever_month"),
                    Lever(id: "wait-P1Y", label: "lever_year"),
                ]
            )
        ]
        let readers = await appStoreCustomers()
        if !readers.isEmpty {
            groups.append(
                DashboardLevers.Group(
                    title: Store.appStore.rawValue,
                    levers: [
                        Lever(id: "app-store-cancel", label: "lever_cancel"),
                        Lever(id: "app-store-resume", label: "lever_resume"),
                        Lever(id: "app-store-fail", label: "lever_fail", isDangerous: true),
                        Lever(id: "app-store-recover", label: "lever_recover"),
                        Lever(id: "app-store-refund", label: "lever_refund", isDangerous: true),
                        Lever(id: "app-store-reverse", label: "lever_reverse"),
                    ],
                    targets: readers
                )
            )
        }
        let androidReaders = await googlePlayBuyers()
        if !androidReaders.isEmpty {
            groups.append(
                DashboardLevers.Group(
                    title: Store.googlePlay.rawValue,
                    levers: [
                        Lever(id: "google-play-cancel", label: "lever_cancel"),
                        Lever(id: "google-play-resume", label: "lever_resume"),
                        Lever(id: "google-play-fail", label: "lever_fail", isDangerous: true),
                        Lever(id: "google-play-recover", label: "lever_recover"),
                        Lever(id: "google-play-refund", label: "lever_refund", isDangerous: true),
                    ],
                    targets: androidReaders
                )
            )
        }
        let payers = await stripeCustomers()
        if !payers.isEmpty {
            groups.append(
                DashboardLevers.Group(
                    title: Store.stripe.rawValue,
                    levers: [
                        Lever(id: "stripe-decline", label: "lever_fail", isDangerous: true),
                        Lever(id: "stripe-card", label: "lever_recover"),
                        Lever(id: "stripe-refund", label: "lever_refund", isDangerous: true),
                        Lever(id: "stripe-dispute", label: "lever_dispute", isDangerous: true),
                    ],
                    targets: payers
                )
            )
        }
        return groups
    }

    /// Accounts that have bought something, by what the app calls them; the newest first.
    private func appStoreCustomers() async -> [(id: String, name: String)] {
        var found: [(id: String, name: String)] = []
        for customer in await world.appStore.customers().reversed() {
            let bought = try? await world.appStore.transactions(customer: customer.id)
            guard bought?.isEmpty == false else { continue }
            found.append((customer.id, await name(of: customer.appAccountToken) ?? customer.id))
            if found.count == 20 { break }
        }
        return found
    }

    private func googlePlayBuyers() async -> [(id: String, name: String)] {
        var found: [(id: String, name: String)] = []
        for buyer in await world.googlePlay.buyers().reversed() {
            guard await !world.googlePlay.purchases(account: buyer.id).isEmpty else { continue }
            found.append((buyer.id, await name(of: buyer.obfuscatedAccountID) ?? buyer.id))
            if found.count == 20 { break }
        }
        return found
    }

    /// What the app calls the customer with this account token.
    private func name(of token: String?) async -> String? {
        guard let token,
            let profile = try? await world.server.tollgate.store.profile(alias: .token(token))
        else { return nil }
        return try? world.server.tollgate.customerFiles.shownName(of: profile)
    }

    private func stripeCustomers() async -> [(id: String, name: String)] {
        let page = try? await world.stripeClient.list(
            ["customers"],
            ["limit": .integer(20)],
            of: Stripe.Customer.self
        )
        return (page?.value.data ?? []).map { ($0.id, $0.email ?? $0.id) }
    }

    private func pull(_ lever: String, target: String) async throws {
        if lever.hasPrefix("wait-") {
            guard let duration = CalendarDuration(iso8601: String(lever.dropFirst(5))),
                let then = duration.adding(to: await world.clock.now)
            else { throw Refusal(description: "That is no time to wait.") }
            await world.advance(to: then)
            await world.fetchReports()
            return
        }
        if lever.hasPrefix("google-play-") {
            try await pullInGooglePlay(lever, of: target)
            await world.settle()
            return
        }
        switch lever {
        case "app-store-cancel": try await world.appStore.cancel(try await plan(of: target))
        case "app-store-resume": try await world.appStore.resume(try await plan(of: target))
        case "app-store-fail": try await world.appStore.failBilling(customer: target)
        case "app-store-recover": try await world.appStore.recoverBilling(customer: target)
        case "app-store-refund":
            try await world.appStore.refund(try await transaction(of: target, isRefunded: false))
        case "app-store-reverse":
            try await world.appStore.reverseRefund(
                try await transaction(of: target, isRefunded: true)
            )
        case "stripe-decline":
            try await world.stripe.setDefaultCard("4000000000000341", customer: target)
        case "stripe-card":
            try await world.stripe.setDefaultCard("4242424242424242", customer: target)
        case "stripe-refund": try await world.stripe.refund(customer: target)
        case "stripe-dispute": try await world.stripe.dispute(charge: try await charge(of: target))
        default: throw Refusal(description: "There is no such lever.")
        }
    }

    private func pullInGooglePlay(_ lever: String, of account: String) async throws {
        let play = world.googlePlay
        let bought = await play.purchases(account: account)
        func newest(
            _ isMeant: (SimulatedGooglePlay.Purchase) -> Bool
        ) throws -> String {
            guard let purchase = bought.last(where: isMeant) else {
                throw Refusal(description: "This account has nothing of that kind.")
            }
            return purchase.token
        }
        switch lever {
        case "google-play-cancel":
            try await play.cancel(try newest { $0.isSubscription && $0.renews })
        case "google-play-resume":
            try await play.restore(
                try newest { $0.isSubscription && $0.isRefundable && !$0.renews }
            )
        case "google-play-fail": try await play.setPayment(declines: true, account: account)
        case "google-play-recover": try await play.setPayment(declines: false, account: account)
        case "google-play-refund": try await play.revoke(try newest(\.isRefundable))
        default: throw Refusal(description: "There is no such lever.")
        }
    }

    /// The original transaction id of a customer's newest plan.
    private func plan(of customer: String) async throws -> String {
        let plans = try await world.appStore.transactions(customer: customer)
            .filter { $0.kind == .autoRenewable }
        guard let newest = plans.max(by: { $0.purchaseDate < $1.purchaseDate }) else {
            throw Refusal(description: "This account has no subscription.")
        }
        return newest.originalID
    }

    private func transaction(of customer: String, isRefunded: Bool) async throws -> String {
        let bought = try await world.appStore.transactions(customer: customer)
            .filter { ($0.revocation != nil) == isRefunded }
        guard let newest = bought.max(by: { $0.purchaseDate < $1.purchaseDate }) else {
            throw Refusal(description: "This account has nothing of that kind.")
        }
        return newest.id
    }

    private func charge(of customer: String) async throws -> String {
        let page = try await world.stripeClient.list(
            ["charges"],
            ["customer": .string(customer), "limit": .integer(1)],
            of: Stripe.Charge.self
        )
        guard let charge = page.value.data.first else {
            throw Refusal(description: "This customer has paid nothing yet.")
        }
        return charge.id
    }
}
