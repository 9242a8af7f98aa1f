/// What changed in a world since its state was written last.
struct Unsaved: Sendable {
    struct Entry: Hashable, Codable, Sendable {
        var kind: Kind
        var id: String
    }

    /// Objects that were made, changed or removed, each once, in the order in which that began.
    private(set) var objects: [Entry] = []
    private var known: Set<Entry> = []
    /// Idempotency keys with a new reply.
    var replies: Set<String> = []

    mutating func note(_ kind: Kind, _ id: String) {
        let entry = Entry(kind: kind, id: id)
        if known.insert(entry).inserted { objects.append(entry) }
    }
}

extension World {
    /// Everything but objects and replies; of a change, what is different from before.
    struct Frame: Codable, Hashable, Sendable {
        var now: Int?
        var random: SeededRandom?
        var baseURL: String?
        var agenda: Agenda?
        var clockAgendas: [String: Agenda]?
        var deliveries: [Delivery]?
        var faults: StripeSimulator.Faults?
        var policy: StripeSimulator.Policy?
        var advancing: [String: Int]?
        var payout: Payout?

        /// An instant or none, so that "none" can be told from "as before".
        struct Payout: Codable, Hashable, Sendable { var at: Int? }

        /// What is here and was not so in `before`.
        func changed(since before: Frame) -> Frame {
            func new<Value: Equatable>(_ path: KeyPath<Frame, Value?>) -> Value? {
                self[keyPath: path] == before[keyPath: path] ? nil : self[keyPath: path]
            }
            return Frame(
                now: new(\.now),
                random: new(\.random),
                baseURL: new(\.baseURL),
                agenda: new(\.agenda),
                clockAgendas: new(\.clockAgendas),
                deliveries: new(\.deliveries),
                faults: new(\.faults),
                policy: new(\.policy),
                advancing: new(\.advancing),
                payout: new(\.payout)
            )
        }
    }

    /// One step from a written state to the next.
    struct Step: Codable, Sendable {
        struct Object: Codable, Sendable {
            var kind: Kind
            var id: String
            /// `nil`: it was removed.
            var object: JSON?
        }

        var frame: Frame
        var objects: [Object]
        var replies: [String: StoredReply]
    }

    var frame: Frame {
        Frame(
            now: now,
            random: random,
            baseURL: baseURL,
            agenda: agenda,
            clockAgendas: clockAgendas,
            deliveries: deliveries,
            faults: faults,
            policy: policy,
            advancing: advancing,
            payout: .init(at: nextPayout)
        )
    }

    /// What leads from the state that was written last, whose frame was `before`, to this one.
    func step(since before: Frame) -> Step {
        let unsaved = unsaved ?? Unsaved()
        return Step(
            frame: frame.changed(since: before),
            objects: unsaved.objects.map {
                Step.Object(kind: $0.kind, id: $0.id, object: get($0.kind, $0.id))
            },
            replies: Dictionary(
                unsaved.replies.compactMap { key in replies[key].map { (key, $0) } },
                uniquingKeysWith: { _, last in last }
            )
        )
    }

    /// Takes a step that was written.
    mutating func take(_ step: Step) {
        let frame = step.frame
        now = frame.now ?? now
        random = frame.random ?? random
        baseURL = frame.baseURL ?? baseURL
        agenda = frame.agenda ?? agenda
        clockAgendas = frame.clockAgendas ?? clockAgendas
        deliveries = frame.deliveries ?? deliveries
        faults = frame.faults ?? faults
        policy = frame.policy ?? policy
        advancing = frame.advancing ?? advancing
        if let payout = frame.payout { nextPayout = payout.at }
        for entry in step.objects {
            if let object = entry.object {
                put(entry.kind, object)
            } else {
                _ = delete(entry.kind, entry.id)
            }
        }
        replies.merge(step.replies) { _, last in last }
    }
}
