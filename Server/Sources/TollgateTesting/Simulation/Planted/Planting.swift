import Storage
import Synchronization
import TollgateCore

/// A planted bug at work, with what it remembers of what came before.
final class Planting: Sendable {
    /// What a bug remembers.
    struct Memory {
        var newest: [Purchase.Key: Int64] = [:]
        var first: [Purchase.Key: String] = [:]
        var ends: [Purchase.Key: Instant] = [:]
        var revoked: [String: Instant] = [:]
        /// The newest statement of each revoked period.
        var revocations: [Purchase.Key: [String: Period]] = [:]
        /// The newest status of each subscription.
        var statuses: [Purchase.Key: Newest<SubscriptionStatus>] = [:]
        var seen: Set<String> = []
        /// Stripe's first id of each customer.
        var customers: [String: String] = [:]
        var count = 0
    }

    private let bug: PlantedBug?
    private let memory = Mutex(Memory())

    init(_ bug: PlantedBug?) {
        self.bug = bug
    }

    /// Forgets what a server holds in memory only; nothing of it is.
    func forget() {}

    /// Whether a message's name comes for the first time.
    func isNew(_ name: String) -> Bool {
        memory.withLock { $0.seen.insert(name).inserted }
    }

    /// What the bug makes of something that is to be journalled; `nil`: nothing.
    func alter(_ item: JournalItem) -> JournalItem? {
        guard let bug, case .facts(let facts) = item.content else { return item }
        var item = item
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
        case .replacedAsksNothing, .revokedStaysRevoked: item.wanted = []
        default: break
        }
        let altered = memory.withLock { memory in
            facts.flatMap { Self.alter($0, bug, &memory) }
        }
        item.content = .facts(altered)
        if let key = altered.first?.purchase { item.subject = RecordStore.subject(of: key) }
        return item
    }

    /// What the bug makes of the form of a request to Stripe: a customer who was deleted is named
    /// again.
    func alter(form: String, path: String) -> String {
        guard bug == .deletedCustomerIsKept, path == "/v1/checkout/sessions" else { return form }
        let fields = form.split(separator: "&").map(String.init)
        guard let customer = fields.first(where: { $0.hasPrefix("customer=") }),
            let person = fields.first(where: { $0.hasPrefix("client_reference_id=") })
        else { return form }
        let kept = memory.withLock { memory in
            memory.customers[person] = memory.customers[person] ?? customer
            return memory.customers[person] ?? customer
        }
        return fields.map { $0 == customer ? kept : $0 }.joined(separator: "&")
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
        case .period, .renewal, .status, .refundReversed:
            return alterOfAppStore(fact, bug, &memory)
        default: return alterOfStripe(fact, bug)
        }
    }
}

extension Fact {
    /// Another statement about the same purchase, said a millisecond after this one.
    func followed(by statement: Statement) -> Fact {
        var next = self
        next.stated = Stated(stated.instant.advanced(by: 1))
        next.statement = statement
        return next
    }
}
