public import Foundation
public import SandboxClock

/// The App Store played by us: customers buy, subscriptions renew and lapse on a virtual clock,
/// and the app's server is told in Apple's own signed words, under a root certificate of our own.
///
/// Every action returns once the app's server has answered the notifications that it caused.
public actor SimulatedAppStore: VirtualClock.Participant {
    /// Posts a message to an address and says how that went.
    public typealias Deliver =
        @Sendable (_ message: Message, _ url: String) async -> SendAttemptResult

    /// What is posted.
    public enum Message: Hashable, Sendable {
        /// App Store Server Notifications V2: the value of `signedPayload`.
        case signedPayload(String)
        /// Version 1: the whole JSON body.
        case versionOne(String)
    }

    /// The certificate that a verifier has to trust, in DER.
    public nonisolated let rootDER: Data
    /// The environment that this store plays.
    public nonisolated let environment: Environment
    nonisolated let clock: VirtualClock
    var signer: StoreSigner
    private let deliver: Deliver
    private let stateFile: StateFile?
    let realtimeLimit: Int64

    /// Keys for the App Store Server API; the first one is the store's own.
    public private(set) var apiKeys: [APIKey]
    var world: World
    private var delivery: Delivery
    private var rateLimits: RateLimits?
    private(set) var responder: OCSPResponder

    /// What the state file holds.
    fileprivate struct Snapshot: Codable {
        var authority: CertificateAuthority.Snapshot
        var apiKeys: [APIKey]
        var world: World
        var now: Int64
    }

    /// The store's story so far.
    public internal(set) var story: Story
    let onDeed: (@Sendable (Story) -> Void)?
    /// Not kept between runs.
    var performanceTests = PerformanceTests()
    private var lastNow: Int64

    /// The instant at which the store in a state file was left, so that a clock can go on there.
    ///
    /// - Throws: `StateFile.Problem`.
    public static func savedNow(statePath: String) throws -> Int64? {
        try StateFile(statePath).read(Snapshot.self)?.now
    }

    /// Certificates and keys that several stores can share, as bytes to be kept.
    ///
    /// - Parameters:
    ///   - ocspURL: named in leaf and intermediate as their OCSP responder.
    ///   - former: an authority whose root and intermediate are kept, so that only the leaf is new.
    public static func makeAuthority(
        ocspURL: String? = nil,
        replacingLeafOf former: Data? = nil
    ) throws -> Data {
        let authority =
            try former.map { try CertificateAuthority($0).replacingLeaf(ocspURL: ocspURL) }
            ?? CertificateAuthority.generate(ocspURL: ocspURL)
        return try PayloadSigner.encoder.encode(authority.snapshot)
    }

    /// The root certificate, in DER, of what `makeAuthority` made.
    public static func rootDER(ofAuthority bytes: Data) throws -> Data {
        try JSONDecoder().decode(CertificateAuthority.Snapshot.self, from: bytes).root.certificate
    }

    /// Opens the store, or takes up the one that the state file holds.
    ///
    /// The caller lets it join `clock`.
    /// - Parameter deliver: how notifications reach the app's server; over HTTP unless a test
    ///   wants to look at them directly.
    /// - Throws: when the state cannot be read, or keys and certificates cannot be made.
    public init(
        configuration: Configuration,
        clock: VirtualClock,
        deliver: Deliver? = nil
    ) throws {
        self.clock = clock
        stateFile = try configuration.statePath.map { try StateFile($0) }
        realtimeLimit = configuration.realtimeLimit
        environment = configuration.environment
        delivery = Delivery(configuration)
        onDeed = configuration.onDeed
        if configuration.enforcesRateLimits {
            rateLimits = RateLimits(environment: configuration.environment)
        }
        self.deliver =
            deliver ?? HTTPDelivery(timeout: configuration.deliveryTimeout).post
        var former = try stateFile?.read(Snapshot.self)
        former?.reopen(configuration)
        let snapshot = try former ?? Snapshot(configuration)
        let authority = try CertificateAuthority(snapshot.authority)
        apiKeys = snapshot.apiKeys
        world = snapshot.world
        lastNow = snapshot.now
        story = Story(of: world, environment: environment, seed: configuration.seed)
        rootDER = snapshot.authority.root.certificate
        signer = try StoreSigner(authority, in: environment, lastSigned: lastNow)
        responder = try OCSPResponder(authority)
    }

    /// The store's own key for the App Store Server API.
    public var apiKey: APIKey { apiKeys[0] }

    // MARK: - Configuration

    /// Where notifications go from now on; `nil` sends none.
    public func setNotificationURL(_ url: String?) {
        world.notificationURL = url
        save()
    }

    /// Which version of notifications goes out from now on, 1 or 2.
    ///
    /// Retries stay what they were; after a switch to 2 those of version 1 go on for three days.
    public func setNotificationVersion(_ version: Int) async {
        let now = await clock.now
        world.choose(notificationVersion: version, at: now)
        save()
    }

    /// Names the app.
    public func setApp(bundleID: String, appAppleID: Int64) {
        world.bundleID = bundleID
        world.appAppleID = appAppleID
        save()
    }

    /// What `verifyReceipt` asks for, and notifications of version 1 bear, from now on.
    public func setSharedSecret(_ secret: String) {
        world.sharedSecret = secret
        save()
    }

    /// Adds products, or replaces those of the same id.
    public func setProducts(_ products: [Product]) {
        for product in products { world.products[product.id] = product }
        story.add(products)
        save()
    }

    /// Accepts tokens signed with another key too.
    public func register(_ key: APIKey) {
        apiKeys.removeAll { $0.keyID == key.keyID }
        apiKeys.append(key)
        save()
    }

    /// What goes wrong from now on.
    public func setFaults(_ faults: Faults) async {
        delivery.faults = faults
        await note("faults", .everyone, faults.details)
    }

    /// What is said of the store's certificates from now on.
    func setOCSPAnswer(_ answer: OCSPResponder.Answer) {
        responder.answer = answer
    }

    /// The behaviour from now on, where the store's documentation leaves it open.
    public func setBehaviour(_ behaviour: Behaviour) {
        world.behaviour = behaviour
        save()
    }

    /// Counts one call of the App Store Server API.
    /// - Throws: 4290000 when there were too many.
    func admit(method: String, path: String, wall: Double) throws(APIError) {
        try rateLimits?.admit(method: method, path: path, wall: wall)
    }

    // MARK: - Time

    /// When something happens by itself next.
    public func nextDue() -> Int64? {
        world.nextDue()?.instant
    }

    /// Renews, fails, ends and delivers what is due by `instant`; returns once the app's server
    /// has answered.
    public func perform(at instant: Int64) async {
        while let entry = world.nextDue(), entry.instant <= instant {
            switch entry.subject {
            case .subscription(let id):
                Billing.performDue(&world, id, at: entry.instant)
                await tell(at: entry.instant)
            case .consumptionRequest(let id):
                ConsumptionRequests.repeatRequest(&world, id, at: entry.instant)
                await tell(at: entry.instant)
            case .notification(let id):
                lastNow = max(lastNow, instant)
                Delivery.begin(&world, id)
                await attempt(id, at: instant)
                save()
            }
        }
    }

    // MARK: - Changing the world

    /// Makes one change, keeps it, and tells the app's server.
    func change<Result: Sendable>(
        _ body: @Sendable (inout World, Int64) throws -> Result
    ) async throws -> Result {
        let now = await clock.now
        let result = try body(&world, now)
        await tell(at: now)
        return result
    }

    /// Makes one change of which nobody is told, and keeps it.
    func keep<Result: Sendable>(
        _ body: @Sendable (inout World, Int64) throws -> Result
    ) async throws -> Result {
        let now = await clock.now
        let result = try body(&world, now)
        save()
        return result
    }

    /// Makes an answer of the App Store Server API.
    func answer<Answer: Sendable>(
        _ make: @Sendable (ServerAnswers) throws -> Answer
    ) async throws -> Answer {
        let now = await clock.now
        return try make(ServerAnswers(world: world, signer: signer, now: now))
    }

    /// Signs what was announced and sends it.
    private func tell(at now: Int64) async {
        lastNow = max(lastNow, now)
        let sent = signer.signAnnouncements(of: &world, at: now)
        save()
        guard !sent.isEmpty else { return }
        for id in sent { await attemptFirst(id, at: now) }
        save()
    }

    private func attemptFirst(_ id: String, at now: Int64) async {
        let wait = delivery.delay()
        guard wait == 0 else { return Delivery.postpone(&world, id, until: now + wait) }
        await attempt(id, at: now)
    }

    private func attempt(_ id: String, at now: Int64) async {
        guard let notification = world.notifications[id],
            let attempt = delivery.attempt(notification, at: now)
        else { return }
        let result = await attempt.send(deliver)
        Delivery.record(&world, id, at: now, result: delivery.seen(result))
    }

    /// Returns `true` if this call of the App Store Server API is to fail.
    func failsCall() -> Bool { delivery.failsCall() }

    // MARK: - Keeping

    func save() {
        guard let stateFile else { return }
        let snapshot = Snapshot(
            authority: signer.authority.snapshot,
            apiKeys: apiKeys,
            world: world,
            now: lastNow
        )
        stateFile.write { try PayloadSigner.encoder.encode(snapshot) }
    }
}

extension SimulatedAppStore.Snapshot {
    /// A new store.
    fileprivate init(_ configuration: SimulatedAppStore.Configuration) throws {
        authority =
            try
            (configuration.authority.map { try CertificateAuthority($0) }
            ?? .generate(ocspURL: configuration.ocspURL)).snapshot
        world = World(configuration)
        apiKeys = [.generate(using: &world.random)]
        now = 0
    }

    /// Takes a former store up again, with what its configuration states now.
    fileprivate mutating func reopen(_ configuration: SimulatedAppStore.Configuration) {
        world.rebuildDues(now: now)
        for product in configuration.products { world.products[product.id] = product }
        if let url = configuration.notificationURL { world.notificationURL = url }
    }
}
