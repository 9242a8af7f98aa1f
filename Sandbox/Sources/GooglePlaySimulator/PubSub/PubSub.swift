import Foundation

/// A message of the topic.
struct PubSubMessage: Hashable, Sendable, Codable {
    let id: String
    let data: String
    /// The time of publication, in virtual time.
    let publishedAt: Int64

    func wire(_ behaviour: Behaviour, isPushed: Bool) -> JSON {
        var encoded = Data(data.utf8).base64EncodedString()
        if behaviour.dataIsUnpadded { encoded.removeAll { $0 == "=" } }
        let hasTwins = isPushed && behaviour.pushHasSnakeCaseTwins
        return [
            "data": .string(encoded), "messageId": .string(id), "publishTime": .time(publishedAt),
            "orderingKey": behaviour.setsOrderingKeys ? .string("play") : nil,
            "message_id": hasTwins ? .string(id) : nil,
            "publish_time": hasTwins ? .time(publishedAt) : nil,
        ]
    }
}

/// One subscription to the topic: a queue that keeps each message until it is acknowledged.
///
/// https://cloud.google.com/pubsub/docs/subscription-properties
struct PubSubQueue: Hashable, Sendable, Codable {
    /// The settings of a Pub/Sub subscription; times in seconds.
    struct Settings: Hashable, Sendable, Codable {
        /// Messages are posted there; `nil`: they are pulled.
        var pushEndpoint: String?
        /// The audience of push tokens; the endpoint if left out.
        var audience: String?
        /// The service account that the tokens of pushes are about; `nil`: no token at all.
        var serviceAccountEmail: String?
        /// The bare data is posted, without the wrapper.
        var noWrapper: Bool?
        var ackDeadlineSeconds: Int64?
        var minimumBackoffSeconds: Int64?
        var maximumBackoffSeconds: Int64?
        /// Attempts after which a message goes to the dead letters; `nil`: never.
        var maxDeliveryAttempts: Int?
        var retentionSeconds: Int64?
        /// Unused for so many days, the subscription is deleted; `nil`: never.
        var expiresAfterDays: Int64?

        var ackDeadline: Int64 { (ackDeadlineSeconds ?? 10) * Timestamp.second }
        var minimumBackoff: Int64 { max(1, minimumBackoffSeconds ?? 10) * Timestamp.second }
        var maximumBackoff: Int64 { max(1, maximumBackoffSeconds ?? 600) * Timestamp.second }
        var retention: Int64 { (retentionSeconds ?? 7 * 86_400) * Timestamp.second }
    }

    struct Entry: Hashable, Sendable, Codable {
        var message: PubSubMessage
        var attempts = 0
        /// From when on it can be handed out.
        var availableAt: Int64
        /// The id that acknowledges it while it is handed out.
        var ackID: String?
        /// The reason for which the last push failed.
        var lastError: String?
    }

    var settings: Settings
    private(set) var entries: [Entry] = []
    private(set) var deadLetters: [PubSubMessage] = []
    private(set) var lastUsed: Int64
    private(set) var ackCount = 0

    init(settings: Settings, at now: Int64) {
        self.settings = settings
        lastUsed = now
    }

    /// Deleted because nobody used it.
    func isExpired(at now: Int64) -> Bool {
        settings.expiresAfterDays.map { now > lastUsed + $0 * Timestamp.day } ?? false
    }

    mutating func add(_ message: PubSubMessage, availableAt: Int64) {
        entries.append(Entry(message: message, availableAt: availableAt))
    }

    /// The next instant at which something is to be pushed.
    var nextPush: Int64? {
        settings.pushEndpoint == nil ? nil : entries.map(\.availableAt).min()
    }

    /// Hands out messages for pulling.
    mutating func pull(_ limit: Int, at now: Int64) -> [Entry] {
        lastUsed = now
        forget(at: now)
        var handed: [Entry] = []
        var dead: [String] = []
        for index in entries.indices where entries[index].availableAt <= now {
            guard handed.count < limit else { break }
            if isDead(entries[index]) {
                dead.append(entries[index].message.id)
                continue
            }
            ackCount += 1
            entries[index].ackID = "ack-\(ackCount)-\(entries[index].message.id)"
            entries[index].attempts += 1
            entries[index].availableAt = now + settings.ackDeadline
            handed.append(entries[index])
        }
        for id in dead { bury(id) }
        return handed
    }

    /// - Returns: `true` if the id is of a message that is handed out.
    @discardableResult
    mutating func acknowledge(_ ackID: String, at now: Int64) -> Bool {
        lastUsed = now
        let count = entries.count
        entries.removeAll { $0.ackID == ackID }
        return entries.count < count
    }

    /// More time for a message that is handed out; none gives it back.
    mutating func modify(_ ackID: String, deadline seconds: Int64, at now: Int64) {
        guard let index = entries.firstIndex(where: { $0.ackID == ackID }) else { return }
        entries[index].availableAt = now + seconds * Timestamp.second
        if seconds == 0 { entries[index].ackID = nil }
    }

    // MARK: - Push

    /// The message that is to be pushed next at `now`.
    mutating func nextToPush(at now: Int64) -> Entry? {
        guard settings.pushEndpoint != nil else { return nil }
        forget(at: now)
        let due = entries.enumerated().filter { $0.element.availableAt <= now }
        guard
            let first = due.min(by: {
                ($0.element.availableAt, $0.offset) < ($1.element.availableAt, $1.offset)
            })
        else { return nil }
        entries[first.offset].attempts += 1
        // While the endpoint has it, nobody else gets it.
        entries[first.offset].availableAt = now + settings.ackDeadline
        lastUsed = now
        return entries[first.offset]
    }

    /// Takes in how a push went; a failure waits longer each time.
    mutating func pushed(_ id: String, _ answer: PushAnswer, at now: Int64) {
        guard let index = entries.firstIndex(where: { $0.message.id == id }) else { return }
        guard case .failed(let reason) = answer else {
            entries.remove(at: index)
            return
        }
        entries[index].lastError = reason
        if isDead(entries[index]) {
            bury(id)
        } else {
            let factor = Int64(1) << min(20, max(0, entries[index].attempts - 1))
            entries[index].availableAt =
                now + min(settings.maximumBackoff, settings.minimumBackoff * factor)
        }
    }

    private func isDead(_ entry: Entry) -> Bool {
        guard let limit = settings.maxDeliveryAttempts else { return false }
        return entry.attempts >= (limit == 0 ? 5 : limit)
    }

    private mutating func bury(_ id: String) {
        guard let index = entries.firstIndex(where: { $0.message.id == id }) else { return }
        deadLetters.append(entries.remove(at: index).message)
    }

    /// Drops messages whose retention is over.
    private mutating func forget(at now: Int64) {
        entries.removeAll { now > $0.message.publishedAt + settings.retention }
    }
}

/// The topic that Google Play publishes to, and the subscriptions to it.
struct PubSub: Hashable, Sendable, Codable {
    let project: String
    let topic: String
    private(set) var queues: [String: PubSubQueue] = [:]
    private var published: Int64 = 0
    /// The newest messages, whoever got them.
    private(set) var log: [PubSubMessage] = []
    private static let logLimit = 10_000

    init(project: String, topic: String) {
        self.project = project
        self.topic = topic
    }

    mutating func subscribe(_ name: String, _ settings: PubSubQueue.Settings, at now: Int64) {
        if queues[name] != nil {
            queues[name]?.settings = settings
        } else {
            queues[name] = PubSubQueue(settings: settings, at: now)
        }
    }

    /// Every subscription gets a message of its own.
    mutating func publish(_ data: String, at now: Int64, availableAt: Int64) {
        published += 1
        let message = PubSubMessage(
            id: "\(10_000_000_000 + published)",
            data: data,
            publishedAt: now
        )
        for name in queues.keys { queues[name]?.add(message, availableAt: availableAt) }
        log.append(message)
        if log.count > Self.logLimit { log.removeFirst(log.count - Self.logLimit) }
    }

    mutating func change<Result>(
        _ name: String,
        _ body: (inout PubSubQueue) -> Result
    ) -> Result? {
        guard var queue = queues[name] else { return nil }
        let result = body(&queue)
        queues[name] = queue
        return result
    }

    mutating func deleteExpired(at now: Int64) {
        for (name, queue) in queues where queue.isExpired(at: now) { queues[name] = nil }
    }

    var nextDue: Int64? { queues.values.compactMap(\.nextPush).min() }
}
