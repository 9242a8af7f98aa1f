internal import Intake
internal import Storage
public import Stores
internal import StrictJSON
internal import StripeAPI
internal import TollgateAPI
internal import TollgateCore

extension Tollgate {
    /// Takes in the body of a Stripe webhook.
    ///
    /// Durable when this returns.
    ///
    /// - Parameter signature: the header `Stripe-Signature`.
    /// - Throws: `Stripe.WebhookSignature.Refusal`; a refusal `malformed_body` for what is no
    ///   event; `StorageError` where it could not be kept, so that Stripe sends it again.
    public func receiveStripeEvent(_ body: [UInt8], signature: String?) async throws -> Receipt {
        let wall = clocks.wall().milliseconds / 1000
        do {
            let signed = try Stripe.WebhookSignature.verify(
                header: signature,
                body: body,
                secrets: configuration.stripeWebhookSecrets,
                now: wall
            )
            noteClock(secondsBehindStripe: signed.subtractingReportingOverflow(wall).partialValue)
        } catch {
            noteClock(error)
            throw error
        }
        let event: Stripe.Event
        do {
            event = try Stripe.Event(bytes: body)
        } catch {
            throw Refusal(
                400,
                .invalidRequestError,
                .malformedBody,
                "This is no Stripe event: \(error)."
            )
        }
        return try await receive(event, body: body, kind: .delivered)
    }

    /// Takes in an event, whether Stripe delivered it or we found it in the list of events.
    ///
    /// One row for both: the event's id is what both share.
    func receive(
        _ event: Stripe.Event,
        body: [UInt8],
        kind: JournalItem.Kind
    ) async throws -> Receipt {
        let rereads = try await rereads(for: event)
        let meaning = StripeIntake.message(event)
        var evidence = Evidence(
            source: event.id,
            key: RowKey("event", event.livemode ? "live" : "test", event.id),
            stated: Instant(seconds: event.created),
            kind: kind,
            body: body
        )
        // What a purchase's facts do not lead to must be found by whom it is about.
        if case .facts = meaning {} else { evidence.person = Self.payer(in: body) }
        let receipt = try await house.journal(
            Translation(meaning, evidence: evidence, questions: rereads),
            of: .stripe
        )
        // Told twice, it is done twice: a crash may have come between the two.
        if event.type == .customerDeleted, let customer = event.objectID {
            try await customers.retire(stripeCustomer: customer)
        }
        return receipt
    }

    /// Whom an event or an object is about, hashed: Stripe's customer, or where it names none the
    /// payment; `nil` where it names neither.
    static func payer(in body: [UInt8]) -> RowKey? {
        guard let json = try? JSON(body) else { return nil }
        let object = json["data"]?["object"] ?? json
        func id(_ value: JSON?) -> String? { value?.string ?? value?["id"]?.string }
        let isCustomer = object["object"]?.isString("customer") == true
        if let customer = id(isCustomer ? object : object["customer"]) {
            return RowKey(Holder.stripeCustomer(customer))
        }
        let isPayment = object["object"]?.isString("payment_intent") == true
        return id(isPayment ? object : object["payment_intent"]).map { payment in
            RowKey(StripeIntake.key(payment, livemode: object["livemode"]?.bool == true))
        }
    }
}
