internal import StrictJSON
internal import TollgateAPI
internal import TollgateCore

/// The claims of a signed answer (``API/SignedAnswer``), written without an encoder: the answer to
/// each question of a device has some.
struct AnswerClaims: Sendable {
    private let customer: Customer.ID
    /// The instant for which the answer holds, by the stores' clock.
    private let at: Instant
    /// Real time, in seconds.
    private let issued: Int64
    private let key: AnswerSigner.Key
    /// The claims between `at` and `exp`, in the order of their names, each with a comma before it.
    private let members: [UInt8]

    /// - Parameters:
    ///   - app: the publishable key of the app that asks, where there are several.
    ///   - now: the instant for which the answer holds, by the stores' clock.
    ///   - real: real time.
    ///   - key: signs the answer.
    init(
        _ timeline: Timeline,
        of customer: Customer.ID,
        for app: String?,
        in environment: StoreEnvironment,
        at now: Instant,
        _ real: Instant,
        by key: AnswerSigner.Key
    ) {
        self.customer = customer
        at = now
        issued = real.milliseconds / 1000
        self.key = key
        var text = JSONBytes(capacity: 256 + 64 * timeline.entries.count)
        text.add(",\"aud\":")
        text.add(quoted: API.SignedAnswer.audience)
        if let app {
            text.add(",\"azp\":")
            text.add(quoted: app)
        }
        text.add(",\"entitlements\":{")
        Self.add(timeline, at: now, to: &text)
        text.add("},\"environment\":")
        text.add(quoted: environment.rawValue)
        members = text.bytes
    }

    /// Adds the spans by lookup key; a timeline has them in this order.
    ///
    /// What has ended does not concern a device; what is to come does.
    private static func add(_ timeline: Timeline, at now: Instant, to text: inout JSONBytes) {
        var open: String?
        for entry in timeline.entries where entry.until.map({ $0 > now }) ?? true {
            if entry.lookupKey == open {
                text.add(",[")
            } else {
                if open != nil { text.add("],") }
                text.add(quoted: entry.lookupKey)
                text.add(":[[")
                open = entry.lookupKey
            }
            text.add(entry.since.milliseconds)
            text.add(",")
            if let until = entry.until { text.add(until.milliseconds) } else { text.add("null") }
            text.add(",")
            text.add(quoted: entry.ground.rawValue)
            text.add("]")
        }
        if open != nil { text.add("]") }
    }

    /// Adds what stays the same while a device may keep the answer that it has: everything but the
    /// instants, the key that signs, and the hour.
    func addWhatLasts(to text: inout JSONBytes) {
        text.add(raw: members)
        text.add(",\"kid\":")
        text.add(quoted: key.id)
        text.add(",\"hour\":")
        text.add(issued / 3600)
    }

    /// The compact token, in ASCII.
    func signed() throws -> [UInt8] {
        var text = JSONBytes(capacity: members.count + 160)
        text.add("{\"at\":")
        text.add(at.milliseconds)
        text.add(raw: members)
        text.add(",\"exp\":")
        text.add(issued + Entitlements.answerLifetime)
        text.add(",\"iat\":")
        text.add(issued)
        text.add(",\"sub\":")
        text.add(quoted: customer.rawValue)
        text.add("}")
        return try key.sign(text.bytes)
    }
}
