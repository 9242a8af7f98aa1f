internal import Storage
internal import Stores
internal import StripeAPI
internal import TollgateCore

/// One kind of object of a Stripe account that a sweep goes through, in the order in which it does.
enum StripeSweepStage: String, Codable, CaseIterable {
    case customers, subscriptions, invoices, sessions, payments, refunds, disputes

    /// For people.
    var words: String {
        switch self {
        case .customers: "customers"
        case .subscriptions: "subscriptions"
        case .invoices: "invoices"
        case .sessions: "completed checkouts"
        case .payments: "payments without a checkout"
        case .refunds: "refunds"
        case .disputes: "disputes"
        }
    }
}

/// How many objects were looked at, and how many of them said anything new.
public struct SweepCount: Codable, Hashable, Sendable {
    public var seen = 0
    public var new = 0

    public init() {}

    mutating func count(_ isNews: Bool) {
        seen += 1
        if isNews { new += 1 }
    }

    mutating func add(_ other: SweepCount) {
        seen += other.seen
        new += other.new
    }
}

extension StripeConnector {
    /// Reads every object of one kind and records what the record does not say yet.
    ///
    /// - Parameters:
    ///   - last: the id of the last one that an earlier, interrupted sweep went through.
    ///   - lines: what a payment paid for that went through no checkout; `nil` if nobody says so.
    ///   - each: told the id of each one once it is recorded, and whether it said anything new.
    func sweep(
        _ stage: StripeSweepStage,
        after last: String?,
        selling lines: (Stripe.PaymentIntent) -> [StripePayment.Line]? = {
            $0.metadata[StripeTranslator.linesKey].flatMap(StripePayment.soldLines)
        },
        _ each: (String, Bool) async throws -> Void
    ) async throws {
        let stripe = try reads.configured()
        switch stage {
        case .customers:
            for try await customer in stripe.lists.customers(after: last) {
                try await each(customer.id, try await customers.relink(customer))
            }
        case .subscriptions:
            for try await subscription in stripe.lists.subscriptions(after: last) {
                let instant = try await instantOfSweep(testClock: subscription.testClock?.id)
                try await each(subscription.id, try await reads.record(subscription, at: instant))
            }
        case .invoices:
            for try await invoice in stripe.lists.invoices(after: last) {
                let instant = try await instantOfSweep()
                try await each(invoice.id, try await reads.record(invoice, at: instant))
            }
        case .sessions:
            for try await session in stripe.lists.checkoutSessions(status: .complete, after: last) {
                try await each(session.id, try await sweep(session))
            }
        case .payments:
            for try await intent in stripe.lists.paymentIntents(after: last) {
                guard intent.status == .succeeded, let lines = lines(intent) else { continue }
                let instant = try await instantOfSweep()
                try await each(
                    intent.id,
                    try await reads.record(
                        intent,
                        selling: lines,
                        at: instant,
                        shown: await reads.instantOfRead(nil)
                    )
                )
            }
        case .refunds:
            for try await refund in stripe.lists.refunds(after: last) {
                try await each(
                    refund.id,
                    try await sweep(payment: refund.paymentIntent?.id, refund.livemode) {
                        $0.refunds.contains {
                            $0.value.id == refund.id
                                && $0.value.status == refund.status?.rawValue
                        }
                    }
                )
            }
        case .disputes:
            for try await dispute in stripe.lists.disputes(after: last) {
                try await each(
                    dispute.id,
                    try await sweep(payment: dispute.paymentIntent?.id, dispute.livemode) {
                        $0.disputes.contains {
                            $0.value.id == dispute.id && $0.value.status == dispute.status.rawValue
                        }
                    }
                )
            }
        }
    }

    /// As of when an object on a page of a list speaks: the page may be minutes old by the time its
    /// last object is reached, and our clock may run ahead of Stripe's.
    ///
    /// What happened within these minutes, the list of events tells.
    private func instantOfSweep(testClock: String? = nil) async throws -> Instant {
        let wall = context.clocks.wall().milliseconds / 1000
        return try await reads.instantOfRead(wall - 300, testClock: testClock)
    }

    /// A completed session is fulfilled again only where its payment is not known to be.
    private func sweep(_ session: Stripe.CheckoutSession) async throws -> Bool {
        guard session.mode == .payment else {
            // A plan's session only says who bought it.
            guard session.clientReferenceID != nil, let subscription = session.subscription?.id
            else { return false }
            let known = try await context.records.record(
                of: StripeTranslator.key(subscription, livemode: session.livemode)
            )
            guard known?.buyer == nil else { return false }
            try await reads.fulfil(checkoutSession: session.id)
            return true
        }
        let known = try await context.records.record(
            of: StripeTranslator.key(
                session.paymentIntent?.id ?? session.id,
                livemode: session.livemode
            )
        )
        if let payment = known?.payment, payment.isComplete, payment.lines != nil,
            payment.isPaid == (session.paymentStatus != .unpaid)
        {
            return false
        }
        try await reads.fulfil(checkoutSession: session.id)
        return true
    }

    /// What was taken back of a payment is read only where the record does not say it.
    private func sweep(
        payment id: String?,
        _ livemode: Bool?,
        _ isKnown: (Purchase) -> Bool
    ) async throws -> Bool {
        guard let id else { return false }
        for livemode in livemode.map({ [$0] }) ?? [false, true] {
            if let record = try await context.records.record(
                of: StripeTranslator.key(id, livemode: livemode)
            ), isKnown(record) {
                return false
            }
        }
        return try await reads.read(payment: id).isNews
    }
}

extension Stripe.Refund {
    /// Stripe does not say it of a refund.
    fileprivate var livemode: Bool? { nil }
}
