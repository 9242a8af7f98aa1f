import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import StripeSimulator
import Synchronization
import TollgateAPI
import TollgateCore
import TollgateService

extension SimulatedServer {
    // MARK: - What clients do

    func begin(_ customer: ScenarioCustomer) async throws {
        _ = try await insist { tollgate, _ in
            try await tollgate.createCustomer(
                API.CreateCustomerRequest(
                    appUserID: customer.id,
                    appAccountToken: customer.id
                )
            ).isNew
        }
    }

    /// Opens a checkout, for which Tollgate makes the Stripe customer; it is never paid.
    ///
    /// However often Stripe is in trouble, one of twelve tries gets through.
    func stripeCustomer(
        of customer: ScenarioCustomer,
        at stripe: StripeSimulator
    ) async throws -> String? {
        if isDown { throw ServerDown() }
        let session: String
        do {
            session = try await insist { tollgate, _ in
                try await tollgate.createCheckout(
                    API.CheckoutSessionRequest(product: "coins_100"),
                    customer: customer.id
                ).id
            }
        } catch {
            object("no checkout can be opened for \(customer.name): \(error)")
            throw error
        }
        let words = Data((await stripe.object(session) ?? "{}").utf8)
        return (try JSONSerialization.jsonObject(with: words) as? [String: Any])?["customer"]
            as? String
    }

    /// - Throws: `ServerDown`; the device shows it again another day.
    func post(
        _ signedTransaction: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws {
        if isDown { throw ServerDown() }
        _ = try await insist { tollgate, _ in
            let id = Customer.ID(try await tollgate.customer(customer.id).id)
            do {
                _ = try await tollgate.receiveSignedTransaction(
                    API.AppStoreTransactionRequest(
                        signedTransaction: signedTransaction,
                        mode: API.SubmissionMode(rawValue: mode) ?? .observed
                    ),
                    from: id
                )
            } catch let refusal as Refusal where refusal.status == 409 {
                // Somebody else's purchase: an answer, which the next comparison looks at.
            } catch {
                self.objectIfRefused(error, "what a device showed")
                throw error
            }
            return true
        }
        if let original = Forgery.originalTransactionID(in: signedTransaction) {
            noteShown(original, by: customer)
        }
    }

    /// Ignores `answer`: the server asks the store itself.
    func post(
        receipt: String,
        answered answer: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws {
        if isDown { throw ServerDown() }
        _ = try await insist { tollgate, _ in
            let id = Customer.ID(try await tollgate.customer(customer.id).id)
            return try await tollgate.receiveReceipt(
                receipt,
                from: id,
                mode: Claim.Mode(rawValue: mode) ?? .observed,
                isTrusted: false
            ).new
        }
        for original in Forgery.originalTransactionIDs(inAnswer: answer) {
            noteShown(original, by: customer)
        }
    }

    private func noteShown(_ original: String, by customer: ScenarioCustomer) {
        state.withLock { _ = $0.shown[customer.id, default: []].insert(original) }
    }

    /// Original transaction ids of what a customer's devices have shown.
    func shown(by customer: ScenarioCustomer) -> Set<String> {
        state.withLock { $0.shown[customer.id] ?? [] }
    }

    /// The database as the running server sees it.
    var database: any StorageDriver {
        get throws {
            guard let storage = state.withLock({ $0.storage }) else { throw NotRunning() }
            return storage
        }
    }

    struct ServerDown: Error {}

    /// Spends coins; says whether that was granted.
    func spend(
        _ amount: Int64,
        by customer: ScenarioCustomer,
        in environment: StoreEnvironment,
        key: String
    ) async throws -> Bool {
        if isDown { throw ServerDown() }
        let isForgetful = parts.bug == .spendsAgainWhenRetried
        return try await insist { tollgate, attempt in
            do {
                let reply = try await tollgate.spend(
                    API.SpendRequest(amount: amount),
                    of: customer.id,
                    in: environment,
                    idempotencyKey: isForgetful ? "\(key)-\(attempt)" : key
                )
                if reply.balance < 0 { self.object("coins were spent that nobody had") }
                return true
            } catch let refusal as Refusal where refusal.status == 409 {
                return false
            }
        }
    }

    func settle() async {
        guard !isDown, let tollgate = try? tollgate else { return }
        await tollgate.fetchWanted()
        await revive()
    }

    /// Asks both stores what was missed.
    ///
    /// - Parameters:
    ///   - all: whether what the stores believe to be delivered is asked for too, as after a restored
    ///     backup.
    ///   - mustSucceed: whether a failure is a violation.
    /// - Returns: whether both answered to the end.
    func reconcile(all isAsked: Bool, mustSucceed: Bool) async -> Bool {
        let reach: ReconciliationReach =
            isAsked && parts.bug != .deliveredIsTaken ? .everything : .news
        guard !isDown else { return false }
        var isWhole = hasKey
        if hasKey {
            do {
                _ = try await tollgate.reconcileAppStore(in: parts.environment, reach: reach)
            } catch {
                isWhole = false
                if mustSucceed { object("reconciling with the App Store fails: \(error)") }
            }
            await revive()
        }
        do {
            _ = try await tollgate.reconcileStripe(reach: reach)
        } catch {
            isWhole = false
            if mustSucceed { object("reconciling with Stripe fails: \(error)") }
        }
        await revive()
        return isWhole
    }

    func answer(
        _ customer: ScenarioCustomer,
        lookupKeys _: [String]
    ) async throws -> ScenarioAnswer {
        try await answer(customer, in: parts.environment)
    }

    /// What the customer may use now, and how many coins they have.
    func answer(
        _ customer: ScenarioCustomer,
        in environment: StoreEnvironment
    ) async throws -> ScenarioAnswer {
        let tollgate = try tollgate
        var at: Instant?
        if parts.bug == .lapsesAtMidnight, let met = try? met() {
            let day: Int64 = 86_400_000
            at = Instant(milliseconds: met.clock.nowAtOnce / day * day)
        }
        let list = try await tollgate.entitlements(of: customer.id, in: environment, at: at)
        let coins = try await tollgate.coins(of: customer.id, in: environment)
        return ScenarioAnswer(has: Set(list.data.map(\.lookupKey)), coins: coins.balance)
    }
}
