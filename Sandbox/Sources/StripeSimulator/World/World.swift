/// Everything that this Stripe knows: a value.
///
/// Here are the state and the operations on it that all resources share. What Stripe does with a
/// resource is in an enum with its name, such as `Refunds`: functions that take the world.
///
/// Time is `now`, set from outside; chance is seeded; nothing here reaches the network. What is to
/// be told to webhook endpoints waits in `deliveries` until somebody carries it.
struct World: Codable, Sendable {
    /// The objects of one kind, in the order in which they were made.
    struct Table: Codable, Sendable {
        var objects: [String: JSON] = [:]
        var order: [String] = []
    }

    /// What an event is put down to: the request being answered, if there is one.
    struct Cause: Codable, Sendable {
        var requestID: String?
        var idempotencyKey: String?
    }

    /// The present of the shared clock, in UNIX seconds.
    var now: Int
    var random: SeededRandom
    /// The version whose shapes events have for endpoints that name none.
    var apiVersion: String
    /// Where this simulator is reached; links to its pages start with it.
    var baseURL = "http://127.0.0.1"
    var tables: [Kind: Table] = [:]
    /// What is due on the shared clock.
    var agenda = Agenda()
    /// What is due on Stripe's test clocks, by clock.
    var clockAgendas: [String: Agenda] = [:]
    var deliveries: [Delivery] = []
    var faults = StripeSimulator.Faults()
    var policy = StripeSimulator.Policy()
    var replies: [String: StoredReply] = [:]
    var cause = Cause()
    /// How far a test clock has come while it is being advanced.
    var advancing: [String: Int] = [:]
    /// When the next automatic payout is due.
    var nextPayout: Int?
    /// What changed since the state was written last; `nil` where nobody writes it.
    var unsaved: Unsaved?

    enum CodingKeys: String, CodingKey {
        case now, random, apiVersion, baseURL, tables, agenda, clockAgendas, deliveries, faults
        case policy, replies, cause, advancing, nextPayout
    }

    init(now: Int, seed: UInt64, apiVersion: String) {
        self.now = now
        random = SeededRandom(seed: seed)
        self.apiVersion = apiVersion
    }
}

// MARK: - Objects

extension World {
    mutating func newID(_ kind: Kind) -> String { kind.prefix + random.token(kind.length) }

    func get(_ kind: Kind, _ id: String?) -> JSON? {
        id.flatMap { tables[kind]?.objects[$0] }
    }

    /// - Parameter param: the parameter that named it; "id" for the path, which makes it a 404.
    func find(_ kind: Kind, _ id: String, param: String = "id") throws -> JSON {
        guard let object = get(kind, id), object["deleted"].bool != true else {
            var error = APIError.noSuch(kind.noun, id, param: param)
            if param != "id" { error.status = policy.danglingParameterStatus }
            throw error
        }
        return object
    }

    /// All objects of a kind, oldest first.
    func all(_ kind: Kind) -> [JSON] {
        guard let table = tables[kind] else { return [] }
        return table.order.compactMap { table.objects[$0] }
    }

    /// Stores `object` as it is.
    mutating func put(_ kind: Kind, _ object: JSON) {
        let id = object["id"].text
        if tables[kind, default: Table()].objects.updateValue(object, forKey: id) == nil {
            tables[kind]?.order.append(id)
        }
        unsaved?.note(kind, id)
    }

    /// Stores a new object and announces it.
    @discardableResult
    mutating func add(_ kind: Kind, _ object: JSON, event: String? = nil) -> JSON {
        put(kind, object)
        if let event { emit(event, object) }
        return object
    }

    /// Changes an object; if something did change, announces it with what was there before.
    @discardableResult
    mutating func change(
        _ kind: Kind,
        _ id: String,
        event: String? = nil,
        _ body: (inout JSON) throws -> Void
    ) rethrows -> JSON {
        guard let before = get(kind, id) else { return .null }
        var after = before
        try body(&after)
        guard after != before else { return after }
        put(kind, after)
        if let event, let previous = Self.previousAttributes(before, after) {
            emit(event, after, previous: previous)
        }
        return after
    }

    /// Removes an object, leaving the mark that answers for it from now on.
    mutating func delete(_ kind: Kind, _ id: String) -> JSON {
        tables[kind]?.objects[id] = nil
        tables[kind]?.order.removeAll { $0 == id }
        unsaved?.note(kind, id)
        return ["id": .string(id), "object": .string(kind.rawValue), "deleted": true]
    }

    /// What an object of `kind` has in any case.
    mutating func blank(
        _ kind: Kind,
        id: String? = nil,
        created: Int? = nil,
        nulls: String = "",
        _ members: [String: JSON]
    ) -> JSON {
        var object = JSON.object(nulls: nulls, members)
        object["id"] = .string(id ?? newID(kind))
        object["object"] = .string(kind.rawValue)
        object["livemode"] = false
        object["created"] = .int(created ?? now)
        if object["metadata"].isNull { object["metadata"] = [:] }
        return object
    }

    /// The old values of what changed: nested objects by member, lists whole.
    static func previousAttributes(_ before: JSON, _ after: JSON) -> JSON? {
        guard let old = before.members, let new = after.members else { return nil }
        var previous: [String: JSON] = [:]
        for name in Set(old.keys).union(new.keys) where !name.hasPrefix("_") {
            let (was, became) = (old[name] ?? .null, new[name] ?? .null)
            guard was != became else { continue }
            let nested = was["object"].string == "list" ? nil : previousAttributes(was, became)
            if was["object"].string == "list" {
                previous[name] = ["data": was["data"]]
            } else {
                previous[name] = nested ?? was
            }
        }
        return previous.isEmpty ? nil : .object(previous)
    }
}

// MARK: - Time

extension World {
    /// The present for a customer: their test clock's if they have one.
    func now(for customer: String?) -> Int {
        guard let clock = testClock(of: customer) else { return now }
        return advancing[clock] ?? get(.testClock, clock)?["frozen_time"].int ?? now
    }

    func testClock(of customer: String?) -> String? {
        get(.customer, customer)?["test_clock"].string
    }

    /// Puts something on the agenda of the customer's clock.
    mutating func schedule(_ task: Agenda.Task, at instant: Int, for customer: String?) {
        if let clock = testClock(of: customer) {
            clockAgendas[clock, default: Agenda()].add(task, at: instant)
        } else {
            agenda.add(task, at: instant)
        }
    }

    /// The next instant, in UNIX seconds, at which something is due on the shared clock.
    var nextDue: Int? {
        let retry = faults.isPaused ? nil : deliveries.map(\.due).min()
        return [agenda.next, retry].compactMap { $0 }.min()
    }

    /// Does what is due on the shared clock at or before `instant`.
    mutating func perform(at instant: Int) {
        now = max(now, instant)
        cause = Cause()
        while let entry = agenda.takeDue(at: now) { perform(entry.task) }
    }

    mutating func perform(_ task: Agenda.Task) {
        switch task {
        case .expireSession(let id): CheckoutSessions.expireIfDue(&self, id)
        case .rollPeriod(let id): Subscriptions.rollPeriod(&self, of: id)
        case .cancelSubscription(let id): Subscriptions.cancelIfDue(&self, id)
        case .expireIncomplete(let id): Subscriptions.expireIncomplete(&self, id)
        case .announceTrialEnd(let id): Subscriptions.announceTrialEnd(&self, of: id)
        case .finalizeInvoice(let id): Invoices.finalizeIfDue(&self, id)
        case .retryPayment(let id): Invoices.retryPaymentIfDue(&self, of: id)
        case .settleRefund(let id): Refunds.settle(&self, id)
        case .openDispute(let id): Disputes.open(&self, on: id)
        case .announceRenewal(let id): Previews.announceRenewal(&self, of: id)
        case .settlePayment(let id): PaymentIntents.settlePayment(&self, id)
        case .expireHold(let id): PaymentIntents.expireHold(&self, id)
        case .expireUpdate(let id): PendingUpdates.expire(&self, of: id)
        case .advanceSchedule(let id): SubscriptionSchedules.advanceIfDue(&self, id)
        case .announceScheduleEnd(let id): SubscriptionSchedules.announceEnd(&self, of: id)
        case .invoiceDue(let id): Invoices.becomeDue(&self, id)
        case .endDunning(let id): Invoices.endDunningIfDue(&self, id)
        case .payOut: Balance.payOutIfDue(&self)
        case .completePayout(let id): Balance.completePayout(&self, id)
        }
    }
}
