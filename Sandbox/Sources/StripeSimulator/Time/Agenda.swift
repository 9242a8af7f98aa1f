/// What is to happen when: each entry is checked against its object again once its time comes.
struct Agenda: Hashable, Codable, Sendable {
    enum Task: Hashable, Codable, Sendable {
        case expireSession(String)
        case rollPeriod(subscription: String)
        case cancelSubscription(String)
        case expireIncomplete(subscription: String)
        case announceTrialEnd(subscription: String)
        case finalizeInvoice(String)
        case retryPayment(invoice: String)
        case settleRefund(String)
        case openDispute(charge: String)
        case announceRenewal(subscription: String)
        case settlePayment(String)
        case expireHold(String)
        case expireUpdate(subscription: String)
        case advanceSchedule(String)
        case announceScheduleEnd(String)
        case invoiceDue(String)
        case endDunning(invoice: String)
        case payOut
        case completePayout(String)
    }

    struct Entry: Hashable, Codable, Sendable {
        /// UNIX seconds.
        var at: Int
        var sequence: Int
        var task: Task
    }

    /// Latest first, so that the next one is taken off the end.
    private var entries: [Entry] = []
    private var sequence = 0

    var next: Int? { entries.last?.at }

    mutating func add(_ task: Task, at instant: Int) {
        sequence += 1
        let entry = Entry(at: instant, sequence: sequence, task: task)
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let other = entries[middle]
            if (other.at, other.sequence) > (entry.at, entry.sequence) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        entries.insert(entry, at: low)
    }

    /// Takes off the next entry if it is due at or before `instant`.
    mutating func takeDue(at instant: Int) -> Entry? {
        guard let last = entries.last, last.at <= instant else { return nil }
        return entries.removeLast()
    }
}
