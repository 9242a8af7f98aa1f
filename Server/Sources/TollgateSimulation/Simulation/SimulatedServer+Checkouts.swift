import Stores
import StripeConnector
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService

// The page to which Checkout leads back.
extension SimulatedServer {
    /// The instant at which a buyer comes back: before or after the events about the purchase.
    enum Return { case before, after }

    /// - Returns: `nil` where the buyer closes the window.
    func drawsReturn() -> Return? {
        guard isAsInProduction else { return nil }
        return [.before, .after, nil][apart.below(3)]
    }

    /// Tells a buyer how their Checkout Session went, which records the purchase.
    func tellOutcome(of session: String, to customer: ScenarioCustomer) async {
        guard !isDown, !isBeforeMove else { return }
        await Fate.$apart.withValue(apart) {
            do {
                let outcome = try await insist { tollgate, _ in
                    try await tollgate.stripe.checkouts.outcome(
                        session,
                        for: Customer.ID(try await tollgate.directory.customer(customer.id).id)
                    )
                }
                if outcome.status == .open || outcome.status == .expired {
                    object("a Checkout Session that was completed is \(outcome.status.rawValue)")
                }
            } catch let refusal as Refusal where refusal.status < 500 {
                object("the outcome of a completed Checkout Session is refused: \(refusal)")
            } catch {
                // Nobody answers; the events tell the same.
            }
            await revive()
        }
    }
}
