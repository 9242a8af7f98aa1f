public import Foundation
import NIOCore
public import SandboxClock

/// Google Play played by us: people buy, subscriptions renew and lapse on a virtual clock, and the
/// app's server is told by Pub/Sub and reads by the Play Developer API.
///
/// A thin shell around values: `PlayStore` knows purchases and orders, `PubSub` the messages. Every
/// act returns once the app's server has answered what was pushed to it; a call of the Developer API
/// returns before, since a server with one thread cannot answer while it waits for its own call.
public actor SimulatedGooglePlay: VirtualClock.Participant {
    /// Posts one message, and returns the endpoint's answer.
    typealias Push = @Sendable (PushRequest) async -> PushAnswer

    nonisolated let clock: VirtualClock
    private let push: Push
    private let stateFile: StateFile?
    private let enforcesQuotas: Bool

    private(set) var store: PlayStore
    private(set) var pubSub: PubSub
    private(set) var keys: GoogleKeys
    private(set) var account: ServiceAccount
    /// Signs purchases on devices.
    let licence: SigningIdentity
    private(set) var tokens = TokenEndpoint()
    private(set) var faults = Faults()
    private(set) var bucket: Bucket
    private var faultRandom: SeededRandom
    private var quotas = Quotas()
    private var lastNow: Int64 = 0
    private let recorder: StoryRecorder?
    private let seed: UInt64
    private var deeds: [Deed] = []
    /// The pushes that calls of the Developer API left behind.
    private var delivery: Task<Void, Never>?

    /// The name of the one subscription that is there from the beginning.
    static let subscription = "play"

    struct Snapshot: Codable {
        var store: PlayStore
        var pubSub: PubSub
        var keys: GoogleKeys
        var account: ServiceAccount
        var licence: SigningIdentity
        var tokens: TokenEndpoint
        var faults: Faults
        var bucket: Bucket
        var faultRandom: SeededRandom
        var now: Int64
    }

    /// The instant at which the store in a state file was left, so that a clock can go on there.
    ///
    /// - Throws: `StateFile.Problem`.
    public static func savedNow(statePath: String) throws -> Int64? {
        try StateFile(statePath).read(Snapshot.self)?.now
    }

    /// Opens the store, or takes up the one that the state file holds.
    ///
    /// The caller lets it join `clock`.
    /// - Throws: when the state or the catalog cannot be read, or keys cannot be made.
    public init(configuration: Configuration, clock: VirtualClock) throws {
        let push = HTTPPush(timeout: .milliseconds(configuration.pushTimeout))
        try self.init(configuration: configuration, clock: clock, push: push.post)
    }

    /// - Parameters:
    ///   - signsPushes: whether pushes have a token where the subscription names nobody.
    init(
        configuration: Configuration,
        clock: VirtualClock,
        push: @escaping Push,
        signsPushes: Bool = true
    ) throws {
        self.clock = clock
        self.push = push
        seed = configuration.seed
        stateFile = try configuration.statePath.map { try StateFile($0) }
        enforcesQuotas = configuration.enforcesQuotas
        recorder = configuration.onDeed.map(StoryRecorder.init)
        let now = clock.nowAtOnce
        if let saved = try stateFile?.read(Snapshot.self) {
            (store, pubSub, keys, account) = (saved.store, saved.pubSub, saved.keys, saved.account)
            (tokens, faults, bucket) = (saved.tokens, saved.faults, saved.bucket)
            (faultRandom, lastNow, licence) = (saved.faultRandom, saved.now, saved.licence)
        } else {
            store = PlayStore(packageName: configuration.packageName, seed: configuration.seed)
            store.behaviour.shortensTests = configuration.shortensTests
            store.behaviour.limitsTestRenewals = configuration.shortensTests
            pubSub = PubSub(project: configuration.project, topic: "play-notifications")
            faultRandom = SeededRandom(seed: configuration.seed ^ 0xF4017)
            var random = SeededRandom(seed: configuration.seed ^ 0x4E75)
            let made =
                try configuration.keys.map { try JSONDecoder().decode(Keys.self, from: $0) }
                ?? Keys(
                    project: configuration.project,
                    usesOneKey: configuration.usesOneKey,
                    using: &random
                )
            (keys, account, licence) = (made.google, made.account, made.licence)
            bucket = Bucket(name: "pubsite_prod_rev_" + random.digits(20))
        }
        if let bytes = configuration.catalog {
            let catalog = try ActBody.decode(Catalog.self, from: bytes)
            try catalog.check()
            store.catalog.merge(catalog)
        }
        let isNew = pubSub.queues[Self.subscription] == nil
        if isNew || configuration.pushEndpoint != nil {
            var settings = pubSub.queues[Self.subscription]?.settings ?? .init()
            settings.pushEndpoint = configuration.pushEndpoint
            settings.audience = configuration.pushAudience
            if settings.serviceAccountEmail == nil, signsPushes {
                settings.serviceAccountEmail = account.email
            }
            pubSub.subscribe(Self.subscription, settings, at: now)
        }
    }

    /// A store that stands still at what a snapshot holds.
    init(still snapshot: Snapshot, seed: UInt64) {
        clock = VirtualClock(now: snapshot.now)
        push = { _ in .accepted }
        (stateFile, recorder, enforcesQuotas) = (nil, nil, false)
        (store, pubSub) = (snapshot.store, PubSub(project: "still", topic: "still"))
        (keys, account, tokens) = (snapshot.keys, snapshot.account, snapshot.tokens)
        (faults, bucket, licence) = (snapshot.faults, snapshot.bucket, snapshot.licence)
        // Nothing is left to chance.
        (faults.apiErrors, faults.apiSlow) = (nil, nil)
        (faultRandom, lastNow) = (snapshot.faultRandom, snapshot.now)
        self.seed = seed
    }

    /// The service account's key file, whose tokens come from `tokenURL`.
    public func serviceAccountFile(tokenURL: String) -> Data {
        account.file(tokenURL: tokenURL).bytes
    }

    // MARK: - Time

    public func nextDue() -> Int64? {
        [store.nextDue, pubSub.nextDue].compactMap { $0 }.min()
    }

    /// Renews, ends and delivers what is due by `instant`.
    public func perform(at instant: Int64) async {
        store.happen(at: instant)
        publish(at: instant)
        await deliver(at: instant)
    }

    // MARK: - Changing

    /// Does an act, keeps it, and returns once the app's server has answered.
    func perform(_ act: any Act, subject: String) async throws -> JSON {
        let now = await clock.now
        let before = store
        let answer: JSON
        do {
            answer = try act.perform(on: &store, subject: subject, at: now)
        } catch {
            // What was done half is not done at all.
            store = before
            throw error
        }
        record(act, subject: subject, answer: answer, at: now)
        publish(at: now)
        await deliver(at: now)
        return answer
    }

    /// Changes what is set up, and keeps it.
    func setUp<Result: Sendable>(_ body: (inout SetUp) throws -> Result) async throws -> Result {
        // Nothing may be awaited between the copy and its return: acts meanwhile would be undone.
        let now = await clock.now
        var setUp = SetUp(
            store: store,
            pubSub: pubSub,
            keys: keys,
            account: account,
            tokens: tokens,
            faults: faults,
            bucket: bucket,
            now: now
        )
        let result = try body(&setUp)
        (store, pubSub, keys, account) = (setUp.store, setUp.pubSub, setUp.keys, setUp.account)
        (tokens, faults, bucket) = (setUp.tokens, setUp.faults, setUp.bucket)
        publish(at: now)
        await deliver(at: now)
        return result
    }

    /// Everything that can be set up, as values.
    struct SetUp {
        var store: PlayStore
        var pubSub: PubSub
        var keys: GoogleKeys
        var account: ServiceAccount
        var tokens: TokenEndpoint
        var faults: Faults
        var bucket: Bucket
        var now: Int64
    }

    /// Answers one call of the Developer API.
    func answer(_ endpoint: Endpoint, _ call: Call, seconds: Int64) throws -> JSON? {
        if enforcesQuotas {
            try quotas.draw(
                endpoint.bucket,
                seconds: seconds,
                ordersPerDay: store.behaviour.ordersPerDay
            )
        }
        guard account.permissions.contains(endpoint.permission) else {
            throw APIError.permissionDenied
        }
        let before = store
        do {
            let answer = try endpoint.answer(call, &store)
            if endpoint.method != "GET" || store != before {
                publish(at: call.now)
                // The answer leaves first: whoever acts is not kept waiting for its own hint.
                let earlier = delivery
                delivery = Task {
                    await earlier?.value
                    await push(at: call.now)
                }
            }
            return answer
        } catch {
            // A read that finds nothing yet is counted all the same.
            if endpoint.method != "GET" { store = before }
            throw error
        }
    }

    /// - Throws: the answer of a fault, instead of the API's.
    func failIfFaulty() throws(APIError) {
        if let status = faults.apiStatus, faults.apiFailures ?? 1 > 0 {
            faults.apiFailures = faults.apiFailures.map { $0 - 1 }
            throw .fault(status)
        }
        if faultRandom.chance(faults.apiErrors ?? 0) { throw .unavailable }
    }

    /// - Throws: where a fault loses the answer to a call that was made.
    func loseAnswer() throws(APIError) {
        if faultRandom.chance(faults.apiSlow ?? 0) { throw .unavailable }
    }

    // MARK: - Telling

    /// Publishes what there is to say, and keeps everything.
    private func publish(at now: Int64) {
        lastNow = max(lastNow, now)
        for announcement in store.takeOutbox() { publish(announcement, at: now) }
        pubSub.deleteExpired(at: now)
        save()
    }

    /// Pushes what is due, and returns once nothing is under way any more.
    func deliver(at now: Int64) async {
        await push(at: now)
        await delivery?.value
    }

    private func push(at now: Int64) async {
        var isPushed = false
        for name in pubSub.queues.keys.sorted() {
            while let entry = pubSub.change(name, { $0.nextToPush(at: now) }) ?? nil {
                await push(entry, of: name, at: now)
                isPushed = true
            }
        }
        if isPushed { save() }
    }

    private func publish(_ announcement: Announcement, at now: Int64) {
        let data = announcement.data(package: store.packageName, store.behaviour)
        guard !faultRandom.chance(faults.lost ?? 0) else { return }
        let copies = faultRandom.chance(faults.doubled ?? 0) ? 2 : 1
        for _ in 0..<copies {
            var at = now
            if faultRandom.chance(faults.late ?? 0) {
                let longest = UInt64(min(max(1, faults.longestDelay ?? 3_600_000), 1 << 40))
                at += 1 + Int64(faultRandom.next() % longest)
            }
            pubSub.publish(data, at: now, availableAt: at)
        }
    }

    private func push(_ entry: PubSubQueue.Entry, of name: String, at now: Int64) async {
        guard let settings = pubSub.queues[name]?.settings, let url = settings.pushEndpoint else {
            return
        }
        var answer = PushAnswer.failed("An outage or a fault of the sandbox kept it away.")
        if !faults.isOutage(at: now), !faultRandom.chance(faults.drop ?? 0) {
            do {
                let request = try request(for: entry, of: name, settings, to: url)
                let isTwice = faultRandom.chance(faults.duplicate ?? 0)
                answer = await push(request)
                if isTwice { _ = await push(request) }
                if answer == .accepted, faultRandom.chance(faults.slow ?? 0) {
                    answer = .failed("A fault of the sandbox lost the answer.")
                }
            } catch {
                answer = .failed("The token of the push cannot be signed: \(error)")
            }
        }
        _ = pubSub.change(name) { $0.pushed(entry.message.id, answer, at: now) }
    }

    private func request(
        for entry: PubSubQueue.Entry,
        of name: String,
        _ settings: PubSubQueue.Settings,
        to url: String
    ) throws -> PushRequest {
        let authorization = try settings.serviceAccountEmail.map { email in
            let token = try identityToken(email: email, audience: settings.audience ?? url)
            return "Bearer \(token)"
        }
        let body: JSON = [
            "message": entry.message.wire(store.behaviour, isPushed: true),
            "subscription": .string("projects/\(pubSub.project)/subscriptions/\(name)"),
            "deliveryAttempt": settings.maxDeliveryAttempts == nil ? nil : .whole(entry.attempts),
        ]
        let bytes = settings.noWrapper == true ? Data(entry.message.data.utf8) : body.bytes
        return PushRequest(url: url, authorization: authorization, body: bytes)
    }

    /// An identity token of real time, signed by Google's newest key.
    func identityToken(
        email: String,
        audience: String,
        issuer: String? = nil,
        age: Int64 = 0
    ) throws -> String {
        let plain = store.behaviour.issuerHasNoScheme
        return try keys.identityToken(
            email: email,
            subject: account.clientID,
            audience: audience,
            issuer: issuer ?? (plain ? "accounts.google.com" : "https://accounts.google.com"),
            seconds: Int64(Date().timeIntervalSince1970) - age
        )
    }

    /// Answers an assertion at the token endpoint.
    func token(
        for assertion: String,
        tokenURL: String,
        seconds: Int64
    ) throws -> JSON {
        let claims = try TokenEndpoint.claims(
            of: assertion,
            account,
            tokenURL: tokenURL,
            seconds: seconds
        )
        if let audience = claims["target_audience"]?.text {
            return [
                "id_token": .string(try identityToken(email: account.email, audience: audience))
            ]
        }
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
        let token = "ya29.c." + faultRandom.text(60, of: letters)
        let answer = try tokens.grant(
            claims["scope"]?.text ?? "",
            token: token,
            seconds: seconds
        )
        save()
        return answer
    }

    // MARK: - Keeping

    /// Changes one subscription to the topic, and keeps it.
    @discardableResult
    func changeQueue<Result: Sendable>(
        _ name: String,
        _ body: (inout PubSubQueue) -> Result
    ) -> Result? {
        defer { save() }
        return pubSub.change(name, body)
    }

    private func record(_ act: any Act, subject: String, answer: JSON, at now: Int64) {
        guard let recorder else { return }
        let deed = StoryRecorder.deed(act, subject: subject, answer: answer, store, at: now)
        deeds.append(deed)
        recorder.tell(deeds, store, seed: seed)
    }

    private func save() {
        guard let stateFile else { return }
        let snapshot = snapshot(at: lastNow)
        stateFile.write { try JSONEncoder().encode(snapshot) }
    }

    private func snapshot(at now: Int64) -> Snapshot {
        Snapshot(
            store: store,
            pubSub: pubSub,
            keys: keys,
            account: account,
            licence: licence,
            tokens: tokens,
            faults: faults,
            bucket: bucket,
            faultRandom: faultRandom,
            now: now
        )
    }

    /// This store as it is now, for whoever reads it later: time passes it by, and it tells nobody
    /// anything.
    public func still() -> SimulatedGooglePlay {
        SimulatedGooglePlay(still: snapshot(at: clock.nowAtOnce), seed: seed)
    }

    /// An access token for the Developer API that is good from now on, for a client that has no other
    /// way to it than this process.
    public func admit(accessToken: String) {
        tokens.admit(accessToken)
        save()
    }
}
