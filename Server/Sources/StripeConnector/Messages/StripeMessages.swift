internal import Logging
internal import Storage
internal import Stores
internal import StrictJSON
internal import StripeAPI
internal import TollgateAPI
internal import TollgateCore

/// Verifies what Stripe sends and says it in our words: each event comes here once.
struct StripeMessages: Sendable {
    let context: StoreContext
    /// Of the webhook endpoint; while one is rolled, both.
    let secrets: Replaceable<[String]>
    /// How often a signature may have us say that our clock is wrong.
    private let clockPace = WorkPace()

    init(_ context: StoreContext, secrets: [String]) {
        self.context = context
        self.secrets = Replaceable(secrets)
    }

    /// The event that a message is, its signature verified where Stripe has sent it.
    ///
    /// - Throws: `Stripe.WebhookSignature.Refusal`; a refusal `malformed_body` for what is no event.
    func event(_ message: ReceivedMessage) throws -> Stripe.Event {
        switch message.way {
        case .delivered(let signature): try verify(message.body, signature)
        case .fetched, .parked: break
        }
        do {
            return try Stripe.Event(bytes: message.body)
        } catch {
            throw Refusal(400, .malformedBody, "This is not a Stripe event: \(error).")
        }
    }

    /// - Parameter signature: the header `Stripe-Signature`.
    private func verify(_ body: [UInt8], _ signature: String?) throws {
        let wall = context.clocks.wall().milliseconds / 1000
        do {
            let signed = try Stripe.WebhookSignature.verify(
                header: signature,
                body: body,
                secrets: secrets.value,
                now: wall
            )
            noteClock(secondsBehind: signed.subtractingReportingOverflow(wall).partialValue)
        } catch {
            noteClock(error)
            throw error
        }
    }

    /// Translates an event, whether Stripe delivered it or we found it in the list of events.
    ///
    /// One row for both: the event's id is what both share.
    func translate(_ event: Stripe.Event, from message: ReceivedMessage) -> Translation {
        let meaning = StripeTranslator.message(event)
        let evidence = Evidence(
            source: event.id,
            key: RowKey("event", event.livemode ? "live" : "test", event.id),
            stated: Instant(seconds: event.created),
            kind: message.way == .fetched ? .fetched : .delivered,
            body: message.body
        )
        return Translation(ofStripe: meaning, evidence: evidence)
    }

    // MARK: - The clock

    // A signature proves what time it is at Stripe. Each warning comes once a minute at most: whoever
    // sends what shows it again and again must not fill the log.

    private func noteClock(secondsBehind seconds: Int64) {
        guard seconds > 300, clockPace.isDue(context.clocks.wall(), every: 60_000) else { return }
        context.logger.error("this server's clock is \(seconds) seconds behind Stripe's: set it")
    }

    private func noteClock(_ error: Stripe.WebhookSignature.Refusal) {
        guard let seconds = error.age, clockPace.isDue(context.clocks.wall(), every: 60_000)
        else { return }
        context.logger.warning(
            "a webhook that Stripe signed \(seconds) seconds ago was refused: this server's clock is ahead of Stripe's, or somebody sends again what they caught"
        )
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
            RowKey(StripeTranslator.key(payment, livemode: object["livemode"]?.bool == true))
        }
    }
}
