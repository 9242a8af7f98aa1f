internal import Storage
internal import Stores
internal import StripeAPI
public import TollgateAPI
public import TollgateCore

extension Checkouts {
    /// How a Checkout Session went, by Stripe's word; what was paid for is recorded before this
    /// returns.
    ///
    /// - Parameter customer: who asks; another's session is as if it were not there. `nil`: a
    ///   visitor, who knows only its unguessable id.
    /// - Throws: refusals 404 `resource_missing`, 503 `store_unavailable`.
    public func outcome(
        _ id: String,
        for customer: Customer.ID?
    ) async throws -> API.CheckoutOutcome {
        guard id.hasPrefix("cs_"), id.utf8.count < 256,
            id.utf8.allSatisfy({ isIDByte($0) })
        else { throw Refusal.missing("checkout session", id) }
        do {
            let session = try await reads.fulfil(checkoutSession: id)
            if let customer, try await isAnothers(session, than: customer) {
                throw Refusal.missing("checkout session", id)
            }
            return API.CheckoutOutcome(id: id, status: try await status(of: session))
        } catch let error as Stripe.RequestError {
            throw reads.unavailable(error)
        }
    }

    private func isIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether a session names another buyer; a visitor's reference names nobody.
    private func isAnothers(
        _ session: Stripe.CheckoutSession,
        than customer: Customer.ID
    ) async throws -> Bool {
        guard let reference = session.clientReferenceID, reference != customer.rawValue else {
            return false
        }
        let isOurs = session.metadata[StripeTranslator.linesKey] != nil
        let name = isOurs ? Holder.reference(reference) : Holder(appUserID: reference)
        guard let named = try await context.records.profile(alias: name) else { return false }
        return named.customer != customer
    }

    private func status(of session: Stripe.CheckoutSession) async throws -> API.CheckoutStatus {
        switch try await reads.fulfilment(of: session) {
        case .fulfilled: .confirmed
        case .processing: .processing
        case .failed: .failed
        case .expired: .expired
        case .open: .open
        }
    }
}
