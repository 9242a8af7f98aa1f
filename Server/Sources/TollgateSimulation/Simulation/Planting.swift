import Storage
import Synchronization
import TollgateCore

/// A planted bug at work, with what it remembers of what came before.
final class Planting: Sendable {
    private struct Memory {
        var newest: [Purchase.Key: Int64] = [:]
        var first: [Purchase.Key: String] = [:]
        var ends: [Purchase.Key: Instant] = [:]
        var revoked: [String: Instant] = [:]
        var seen: Set<String> = []
        var count = 0
        var invoices: [Purchase.Key: [String: Fact]] = [:]

        /// A subscription, and its invoices anew without some of their lines.
        func forget(
            beside fact: Fact,
            where isForgotten: (StripeInvoice.Line) -> Bool
        ) -> [Fact] {
            let changed = (invoices[fact.purchase] ?? [:]).values.compactMap { known -> Fact? in
                guard case .invoice(var invoice) = known.statement else { return nil }
                let count = invoice.lines.count
                invoice.lines.removeAll(where: isForgotten)
                guard invoice.lines.count < count else { return nil }
                var anew = fact
                anew.statement = .invoice(invoice)
                return anew
            }
            return [fact] + changed
        }
    }

    private let bug: PlantedBug?
    private let memory = Mutex(Memory())
    private let histories = Mutex(HistoryMemory())

    init(_ bug: PlantedBug?) {
        self.bug = bug
    }

    /// Forgets what a server holds in memory only; nothing of it is.
    func forget() {}

    /// The purchases about which no store is asked, until the next pass over the stores.
    var unasked: Set<Purchase.Key> {
        get { histories.withLock { $0.unasked } }
        set { histories.withLock { $0.unasked = newValue } }
    }

    /// Whether a message's name comes for the first time.
    func isNew(_ name: String) -> Bool {
        memory.withLock { $0.seen.insert(name).inserted }
    }

    /// What the bug makes of something that is to be journalled; `nil`: nothing.
    func alter(_ item: JournalItem) -> JournalItem? {
        guard let bug, case .facts(let facts) = item.content else { return item }
        var item = item
        if PlantedBug.ofAppStoreHistories.contains(bug) {
            item.content = .facts(histories.withLock { $0.alter(facts, bug) })
            return item
        }
        switch bug {
        case .dedupeBySignatureText:
            guard item.kind == .signed, let body = item.body else { return item }
            item.dedupeKey = RowKey("text", String(decoding: body, as: UTF8.self))
        case .creditedPerDelivery:
            let count = memory.withLock { memory in
                memory.count += 1
                return memory.count
            }
            guard item.kind == .signed else { return item }
            item.dedupeKey = RowKey("delivery", "\(count)")
        default: break
        }
        let altered = memory.withLock { memory in
            facts.flatMap { Self.alter($0, bug, &memory) }
        }
        item.content = .facts(altered)
        if let key = altered.first?.purchase { item.subject = RecordStore.subject(of: key) }
        return item
    }

    private static func alter(_ fact: Fact, _ bug: PlantedBug, _ memory: inout Memory) -> [Fact] {
        var fact = fact
        switch bug {
        case .arrivalOrderTrusted:
            let newest = memory.newest[fact.purchase] ?? .min
            let stated = max(fact.stated.instant.milliseconds, newest == .min ? .min : newest + 1)
            memory.newest[fact.purchase] = stated
            fact.stated = Stated(Instant(milliseconds: stated), isRead: fact.stated.isRead)
            return [fact]
        case .sandboxIsProduction:
            fact.purchase.environment = .production
            return [fact]
        default: break
        }
        switch fact.statement {
        case .period(let period): return alter(period, of: fact, bug, &memory)
        case .renewal(var terms):
            if bug == .graceIgnored { terms.graceEnd = nil }
            fact.statement = .renewal(terms)
        case .status(var status):
            if bug == .graceIgnored, status.value == SubscriptionStatus.billingGrace {
                status.value = SubscriptionStatus.billingRetry
            }
            if bug == .retryIsGrace, status.value == SubscriptionStatus.billingRetry {
                status.value = SubscriptionStatus.billingGrace
            }
            fact.statement = .status(status)
        case .refundReversed:
            if bug == .reversedRefundForgotten { return [] }
        default: return alterOfStripe(StripePlanting.alter(fact, bug), bug, &memory)
        }
        return [fact]
    }

    private static func alter(
        _ period: Period,
        of fact: Fact,
        _ bug: PlantedBug,
        _ memory: inout Memory
    ) -> [Fact] {
        var (fact, period) = (fact, period)
        var more: [Fact] = []
        switch bug {
        case .accessBeyondPaid: period.end = period.end?.advanced(by: 3 * 86_400_000)
        case .renewalIgnored:
            guard period.kind == .autoRenewable else { break }
            let first = memory.first[fact.purchase] ?? period.id
            memory.first[fact.purchase] = first
            if first != period.id { return [] }
        case .upgradeIgnored:
            guard period.kind == .autoRenewable else { break }
            let known = memory.ends[fact.purchase] ?? period.start
            if period.start < known, memory.first[fact.purchase] != period.id { return [] }
            if let end = period.end { memory.ends[fact.purchase] = max(known, end) }
            memory.first[fact.purchase] = period.id
        case .refundOfOldPeriodEndsAccess:
            guard period.revoked != nil, period.kind == .autoRenewable else { break }
            var ended = fact
            ended.stated = Stated(fact.stated.instant.advanced(by: 1))
            ended.statement = .status(SubscriptionStatus(value: SubscriptionStatus.revoked))
            more = [ended]
        case .reversedRefundForgotten:
            if let revoked = period.revoked { memory.revoked[period.id] = revoked }
            period.revoked = memory.revoked[period.id]
        case .refundIgnored: period.revoked = nil
        case .partialRefundTakesAll: period.revokedShare = nil
        case .quantityIgnored: period.quantity = 1
        case .familyShareIsAPurchase: period.isFamilyShared = false
        case .tokenIgnored: period.token = nil
        case .creditedPerDelivery: period.id += "-\(memory.count)"
        default: break
        }
        fact.statement = .period(period)
        return [fact] + more
    }

    /// Takes a payment for unpaid that only a read calls paid after it was complete and unpaid.
    private static func forgetCapture(
        _ payment: inout StripePayment,
        _ fact: Fact,
        _ memory: inout Memory
    ) {
        if payment.status == "complete", !payment.isPaid {
            memory.first[fact.purchase] = "held"
        } else if fact.stated.isRead, memory.first[fact.purchase] == "held" {
            (payment.isPaid, payment.paidBy) = (false, nil)
        }
    }

    private static func alterOfStripe(
        _ fact: Fact,
        _ bug: PlantedBug,
        _ memory: inout Memory
    ) -> [Fact] {
        var fact = fact
        switch fact.statement {
        case .subscription(var subscription):
            if bug == .removedItemChangesThePast {
                let items = Set(subscription.items.map(\.id))
                return memory.forget(beside: fact) { $0.item.map { !items.contains($0) } ?? false }
            }
            if bug == .graceAfterSwitchLost, subscription.status == "past_due" {
                let prices = Set(subscription.items.map(\.price))
                return memory.forget(beside: fact) { !prices.contains($0.price) }
            }
            switch (bug, subscription.status) {
            case (.cancellationIgnored, "canceled"): return []
            case (.pastDueIsActive, "past_due"), (.unpaidIsActive, "unpaid"),
                (.unpaidIsActive, "incomplete"), (.unpaidIsActive, "incomplete_expired"):
                subscription.status = "active"
            default: break
            }
            fact.statement = .subscription(subscription)
        case .payment(var payment):
            if bug == .unpaidSessionGrants { payment.isPaid = true }
            if bug == .captureIgnored { forgetCapture(&payment, fact, &memory) }
            if bug == .quantityIgnored {
                payment.lines = payment.lines?.map { .init(price: $0.price, quantity: 1) }
            }
            fact.statement = .payment(payment)
        case .invoice(var invoice):
            if bug == .prorationCredits {
                for index in invoice.lines.indices { invoice.lines[index].isProration = false }
            }
            fact.statement = .invoice(invoice)
            if bug == .removedItemChangesThePast || bug == .graceAfterSwitchLost {
                memory.invoices[fact.purchase, default: [:]][invoice.id] = fact
            }
        case .refund(var refund):
            switch bug {
            case .partialRefundTakesAll: refund.amount = 1_000_000_000
            case .refundIgnored: return []
            case .onlyOneRefundCounts: refund.id = "re_1"
            case .refundTakenPerEvent: refund.id += fact.source
            case .failedRefundStands where refund.status == "failed": refund.status = "succeeded"
            default: break
            }
            fact.statement = .refund(refund)
        case .dispute(var dispute):
            if bug == .disputeIgnored { return [] }
            if bug == .disputeIsNoRefund, fact.purchase.id.hasPrefix("sub_") { return [] }
            if bug == .wonDisputeIsLost, dispute.status == "won" { dispute.status = "lost" }
            fact.statement = .dispute(dispute)
        default: break
        }
        return [fact]
    }
}
