internal import Logging
internal import Storage
internal import Stores
internal import StripeAPI
internal import TollgateAPI
internal import TollgateCore

/// Invoices, payment methods and plans at Stripe, for their customers.
struct StripeBilling: StoreBilling {
    let store = Store.stripe
    let context: StoreContext
    let reads: StripeReads

    var isSetUp: Bool { reads.client != nil }

    /// As many invoices as Stripe lists at once.
    func invoices(of customers: [String]) async -> StoreInvoices {
        var found = StoreInvoices()
        guard let stripe = reads.client else { return found }
        for customer in customers.prefix(3) {
            do {
                let page = try await stripe.list(
                    ["invoices"],
                    ["customer": .string(customer), "limit": .integer(100)],
                    of: Stripe.Invoice.self
                )
                found.invoices += page.value.data.compactMap { invoice in
                    guard let status = invoice.status, status != .draft else { return nil }
                    return StoreInvoice(
                        number: invoice.number ?? invoice.id,
                        created: Instant(seconds: invoice.created),
                        amount: .init(amount: invoice.total, currency: invoice.currency),
                        status: status.rawValue,
                        url: invoice.hostedInvoiceURL
                    )
                }
            } catch let error where error.isMissing("customer") {
                continue
            } catch {
                context.logger.warning(
                    "the portal is shown without invoices",
                    metadata: ["error": "\(error)"]
                )
                found.isIncomplete = true
                return found
            }
        }
        found.invoices.sort { $0.created > $1.created }
        return found
    }

    func payments(of purchase: Purchase) -> [StorePayment] {
        var payments = purchase.invoices.map(\.value).filter(\.isPaid)
            .map { StorePayment($0.id, at: $0.paid, $0.amount, $0.currency) }
        // Until its lines are read, nothing says what it bought.
        if let payment = purchase.payment, payment.isPaid, payment.lines != nil {
            let value = payment.payment
            payments += [
                StorePayment(value.session, at: payment.paid, value.amount, value.currency)
            ]
        }
        return payments.compactMap(\.self)
    }

    // Where invoices are sent, Stripe reminds of them. A first payment that fails makes no plan.
    func unpaidPeriod(of purchase: Purchase) -> Instant? {
        guard let plan = purchase.subscription?.value, plan.daysUntilDue == nil,
            ["past_due", "unpaid"].contains(plan.status)
        else { return nil }
        return plan.items.map(\.start).max()
    }

    func page(
        of customers: [String],
        changingPaymentMethod changesPaymentMethod: Bool,
        returnURL: String
    ) async throws -> String? {
        let stripe = try reads.configured()
        for customer in customers {
            do {
                let made = try await stripe.createPortalSession(
                    customer: customer,
                    returnURL: returnURL,
                    flow: changesPaymentMethod ? ["type": .string("payment_method_update")] : [:],
                    idempotencyKey: context.random.id("tollgate-portal-")
                )
                return made.value.url
            } catch {
                guard error.isMissing("customer") else { throw reads.unavailable(error) }
            }
        }
        return nil
    }

    func change(_ purchase: Purchase, _ change: PlanChange) async throws {
        let stripe = try reads.configured()
        let answer: Stripe.Answer<Stripe.Subscription>
        do {
            answer = try await stripe.updateSubscription(
                purchase.key.id,
                try parameters(of: change, for: purchase),
                idempotencyKey: context.random.id("tollgate-portal-change-")
            )
        } catch let error as Stripe.RequestError {
            if case .refused(let refused) = error, refused.status == 402 {
                throw Refusal(
                    402,
                    "payment_failed",
                    "The payment failed, so nothing was changed. Change the payment method and try again."
                )
            }
            throw reads.unavailable(error)
        }
        try await reads.record(
            answer.value,
            at: try await reads.instantOfRead(
                answer.date,
                testClock: answer.value.testClock?.id
            )
        )
    }

    private func parameters(
        of change: PlanChange,
        for purchase: Purchase
    ) throws -> Stripe.Parameters {
        guard let subscription = purchase.subscription?.value else {
            throw Refusal.changeNotPossible
        }
        switch change {
        case .cancel: return ["cancel_at_period_end": .bool(true)]
        case .resume:
            // With flexible billing Stripe's own portal sets only an instant (reference §3).
            return subscription.cancelsAtPeriodEnd
                ? ["cancel_at_period_end": .bool(false)] : ["cancel_at": .string("")]
        case .switchPlan(let product):
            let catalog = context.records.history.current
            guard let price = catalog.product(id: product)?.stripePriceIDs.first,
                let item = subscription.items.first
            else { throw Refusal.changeNotPossible }
            return [
                "items": .list([
                    .hash([
                        "id": .string(item.id), "price": .string(price),
                        "quantity": .integer(item.quantity),
                    ])
                ]), "proration_behavior": .string("always_invoice"),
                "payment_behavior": .string("error_if_incomplete"),
            ]
        }
    }
}
