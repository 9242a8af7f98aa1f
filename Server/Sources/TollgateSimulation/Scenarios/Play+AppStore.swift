import AppStoreSimulator
import TollgateCore

extension Play {
    func perform(_ act: AppStoreAct, _ step: Scenario.Step) async throws {
        let store = world.appStore
        guard let account = appleAccounts[step.customer], let customer = people[step.customer]
        else { return }
        switch act {
        case .buy(let product, let quantity, let offer):
            _ = try await store.buy(
                try productID(product),
                customer: account,
                quantity: quantity,
                offer: offer
            )
        case .cancel(let which):
            try await store.cancel(try await subscription(which, of: account))
        case .resume(let which):
            try await store.resume(try await subscription(which, of: account))
        case .consent(let which):
            try await store.consentToPriceIncrease(try await subscription(which, of: account))
        case .change(let product):
            _ = try await store.changePlan(
                try await subscription(.init(), of: account),
                to: try productID(product)
            )
        case .redeem(let offer, let product):
            _ = try await store.redeemOffer(
                try await subscription(.init(), of: account),
                offer: offer,
                productID: try product.map { try productID($0) }
            )
        case .refund, .refundSeats, .reverseRefund, .requestRefund, .declineRefund:
            try await giveBack(act, account)
        case .addSeats, .assignSeat, .switchToBundle, .migrate:
            try await succeed(act, account, step)
        case .postReceipt, .post, .restore: try await show(act, account, customer, step)
        case .extendAll, .raisePrice, .withdraw: try await decide(act, step)
        case .failBilling: try await store.failBilling(customer: account)
        case .recoverBilling: try await store.recoverBilling(customer: account)
        case .extend(let days):
            try await store.extend(try await subscription(.init(), of: account), days: days)
        case .joinFamily(let family): try await store.join(family: family, customer: account)
        case .revokeShare:
            try await store.revokeFamilyShare(try await subscription(.init(), of: account))
        case .setToken:
            try await store.attach(
                appAccountToken: customer.id,
                to: try await transaction(.init(), of: account).originalID
            )
        case .testNotification: _ = try await store.requestTestNotification()
        case .end(let which): try await store.end(try await subscription(which, of: account))
        case .tell(let type, let subtype, let which):
            let id = try await transaction(which, of: account).id
            try await store.tell(type, subtype: subtype, about: id)
        case .silence:
            var faults = SimulatedAppStore.Faults()
            faults.drop = 1
            await store.setFaults(faults)
        case .speak: await store.setFaults(SimulatedAppStore.Faults())
        case .faults(let values): await store.setFaults(faults(values))
        }
    }

    /// Refunds, and what becomes of them.
    private func giveBack(_ act: AppStoreAct, _ account: String) async throws {
        let store = world.appStore
        switch act {
        case .refund(let which, let share):
            try await store.refund(try await transaction(which, of: account).id, percentage: share)
        case .refundSeats(let which, let seats):
            try await store.refundSeats(seats, of: try await transaction(which, of: account).id)
        case .reverseRefund(let which):
            try await store.reverseRefund(try await transaction(which, of: account).id)
        case .requestRefund(let which, let reason):
            try await store.requestRefund(
                try await transaction(which, of: account).id,
                reason: reason
            )
        case .declineRefund(let which):
            try await store.declineRefund(try await transaction(which, of: account).id)
        default: break
        }
    }

    /// Seats, and purchases that continue others.
    private func succeed(
        _ act: AppStoreAct,
        _ account: String,
        _ step: Scenario.Step
    ) async throws {
        let store = world.appStore
        switch act {
        case .addSeats(let seats):
            _ = try await store.addSeats(seats, to: try await subscription(.init(), of: account))
        case .assignSeat(let owner):
            guard let source = appleAccounts[owner] else {
                throw failure(step, "there is no customer ‘\(owner)’")
            }
            try await store.assignSeat(of: try await subscription(.init(), of: source), to: account)
        case .switchToBundle(let which):
            _ = try await store.switchToBundle(try await subscription(which, of: account))
        case .migrate(let which):
            _ = try await store.migrate(try await subscription(which, of: account))
        default: break
        }
    }

    /// Posts to the server as the app on a device does.
    private func show(
        _ act: AppStoreAct,
        _ account: String,
        _ customer: ScenarioCustomer,
        _ step: Scenario.Step
    ) async throws {
        let store = world.appStore
        switch act {
        case .postReceipt(let which, let mode):
            // StoreKit 1 restores into the receipt.
            if mode == "restored" { _ = try await store.restore(customer: account) }
            let receipt: String
            if let which {
                let id = try await transaction(which, of: account).id
                receipt = try await store.transactionReceipt(id)
            } else {
                receipt = try await store.receipt(customer: account)
            }
            try await post(
                receipt: receipt,
                answered: try await store.verified(receipt: receipt),
                by: customer,
                mode: mode
            )
        case .post(let which, let mode):
            let id = try await transaction(which, of: account).id
            try await post(try await store.signedTransaction(id).jws, by: customer, mode: mode)
        case .restore(let other):
            guard let source = appleAccounts[other ?? step.customer] else {
                throw failure(step, "there is no customer ‘\(other ?? "")’")
            }
            for restored in try await store.restore(customer: source) {
                try await post(restored.jws, by: customer, mode: "restored")
            }
        default: break
        }
    }

    /// Changes a product as the team would in App Store Connect.
    private func decide(_ act: AppStoreAct, _ step: Scenario.Step) async throws {
        let store = world.appStore
        switch act {
        case .extendAll(let product, let days):
            try await store.extendAll(
                productID: try productID(product),
                days: days,
                identifier: "extension-\(step.line)"
            )
        case .raisePrice(let product, let price, let asksConsent):
            try await store.raisePrice(
                of: try productID(product),
                to: price,
                consentRequired: asksConsent
            )
        case .withdraw(let product):
            try await store.withdraw(productID: try productID(product))
        default: break
        }
    }

    private func faults(_ stated: AppStoreAct.Faults) -> SimulatedAppStore.Faults {
        let values = stated.values
        var faults = SimulatedAppStore.Faults()
        faults.drop = values["drop"] ?? 0
        faults.duplicate = values["duplicate"] ?? 0
        faults.delay = values["delay"] ?? 0
        faults.longestDelay = values["longest_delay"].map { Int64($0) } ?? faults.longestDelay
        faults.reorder = values["reorder"] ?? 0
        faults.slow = values["slow"] ?? 0
        faults.corrupt = values["corrupt"] ?? 0
        faults.apiErrors = values["api_errors"] ?? 0
        faults.outageStart = stated.outageStart.map { $0 + telling.shift }
        faults.outageEnd = stated.outageEnd.map { $0 + telling.shift }
        return faults
    }

    private func productID(_ product: String) throws -> String {
        guard let id = loaded.catalog.product(id: product)?.appStoreProductID else {
            throw SimulatedAppStore.Refusal.notFound("App Store product of ‘\(product)’")
        }
        return id
    }

    func transaction(
        _ which: AppStoreAct.Which,
        of account: String
    ) async throws -> SimulatedAppStore.Transaction {
        let id = try which.product.map { try productID($0) }
        let found = try await world.appStore.transactions(customer: account)
            .filter { id == nil || $0.productID == id }
        let index = which.number.map { $0 - 1 } ?? found.count - 1
        guard found.indices.contains(index) else {
            throw SimulatedAppStore.Refusal.notFound("purchase of this customer")
        }
        return found[index]
    }

    /// The same as it was sold, whatever ids restoring has made of it.
    func sale(
        _ which: AppStoreAct.Which,
        of account: String
    ) async throws -> SimulatedAppStore.Transaction {
        let found = try await transaction(which, of: account)
        return try await world.appStore.transactions(customer: account).first {
            $0.isSameSale(as: found)
        } ?? found
    }

    /// The original transaction id of the customer's newest subscription.
    private func subscription(
        _ which: AppStoreAct.Which,
        of account: String
    ) async throws -> String {
        let id = try which.product.map { try productID($0) }
        let all = try await world.appStore.transactions(customer: account).filter {
            $0.kind == .autoRenewable && (id == nil || $0.productID == id)
        }
        // What a family member shares is the buyer's to change, so their own comes first.
        let found = all.last { $0.ownership == .purchased } ?? all.last
        guard let found else {
            throw SimulatedAppStore.Refusal.notFound("subscription of this customer")
        }
        return found.originalID
    }
}
