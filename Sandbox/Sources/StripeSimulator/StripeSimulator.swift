import Foundation
import Logging
public import SandboxClock

/// Stripe, played on this machine: the REST API, the hosted pages, the webhooks.
///
/// Objects live on the virtual clock; signatures and HTTP live in real time, since the official
/// libraries check them against it. State is one `World`; this actor only lets one thing happen to
/// it at a time and carries its messages.
public actor StripeSimulator {
    /// Settings, fixed for the life of the simulator.
    public nonisolated let configuration: Configuration
    let clock: VirtualClock
    var world: World
    var isDelivering = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var isDirty = false
    /// Idempotency keys of requests that came over HTTP and are being worked on.
    private var keysInUse: Set<KeyInUse> = []
    /// Where the state is kept; `nil` keeps it in memory only.
    private var snapshot: Snapshot?
    /// The world as the story has told it; `nil` where no story is wanted, since a second world would
    /// make every change a copy.
    var told: World?
    var deeds: [Deed] = []
    let wakes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    private struct KeyInUse: Hashable {
        var key: String
        var authorization: String?
    }

    /// Opens the saved state, or a new world, and takes part in `clock` from now on.
    /// - Throws: if there is a saved state that cannot be read; `Refusal`, if the API version is none.
    public init(configuration: Configuration = Configuration(), clock: VirtualClock) async throws {
        guard APIVersion(configuration.apiVersion) != nil else {
            throw Refusal(
                message: "'\(configuration.apiVersion)' is no API version; one is "
                    + "\(APIVersion.told[0])."
            )
        }
        self.configuration = configuration
        self.clock = clock
        let now = Int(await clock.now / 1_000)
        var world =
            try Snapshot.load(configuration.statePath)
            ?? World(now: now, seed: configuration.seed, apiVersion: configuration.apiVersion)
        world.now = max(world.now, now)
        world.apiVersion = configuration.apiVersion
        if let url = configuration.publicURL { world.baseURL = url }
        Preload.add(&world, configuration)
        snapshot = try configuration.statePath.map { try Snapshot(&world, at: $0) }
        self.world = world
        told = configuration.onDeed == nil ? nil : world
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        await clock.join(self)
    }

    private init(still world: World, configuration: Configuration) {
        self.configuration = configuration
        clock = VirtualClock(now: Int64(world.now) * 1_000)
        self.world = world
        self.world.deliveries = []
        self.world.faults.isPaused = true
        self.world.unsaved = nil
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// This Stripe as it is now, for whoever wants to read it later: time passes it by, and it
    /// tells nobody anything.
    public func still() async -> StripeSimulator {
        await synchronize()
        return StripeSimulator(still: world, configuration: configuration)
    }

    /// The instant at which a saved state was left, in UNIX milliseconds, so that a clock can be
    /// started there; `nil` if there is none.
    public static func savedInstant(statePath: String) throws -> Int64? {
        try Snapshot.load(statePath).map { Int64($0.now) * 1_000 }
    }

    /// Brings the world to the present of the clock.
    func synchronize() async {
        let now = Int(await clock.now / 1_000)
        world.now = max(world.now, now)
    }

    /// Has what is due at this very instant done, and messages and state taken care of soon.
    ///
    /// - Parameter request: the form that was sent, if it was the API that was asked.
    func changed(by request: String = "") {
        noteDeeds(of: request)
        world.perform(at: world.now)
        catchUp()
        isDirty = true
        save()
        wake.yield()
    }

    /// Writes what changed, if there is a place for it; nothing is answered for before.
    func save() {
        guard isDirty, snapshot != nil else { return }
        do {
            try snapshot?.save(&world)
            isDirty = false
        } catch {
            configuration.logger.error("The state cannot be saved: \(error)")
        }
    }

    /// Answers one API request without HTTP between.
    func answer(_ request: APIRequest) async -> APIResponse {
        await synchronize()
        let response = API.answer(
            &world,
            request,
            keys: [configuration.secretKey],
            wall: configuration.wall()
        )
        if request.method != "GET" { changed(by: request.body) }
        return response
    }
}

extension StripeSimulator {
    /// Answers one API request that came over HTTP, where a twin may come meanwhile.
    func answerApart(_ request: APIRequest) async -> APIResponse {
        guard request.method == "POST", let key = request.idempotencyKey else {
            await takeTime()
            return await answer(request)
        }
        // Of one account: whoever guesses a key under another API key neither meets nor holds it.
        let use = KeyInUse(key: key, authorization: request.authorization)
        guard keysInUse.insert(use).inserted else {
            return API.refuseTwin(&world, request, key: key)
        }
        await takeTime()
        let answer = await answer(request)
        keysInUse.remove(use)
        return answer
    }

    private func takeTime() async {
        guard world.faults.apiDelay > 0 else { return }
        await configuration.pause(.milliseconds(world.faults.apiDelay))
    }

    /// What was answered to one request.
    public struct Exchange: Hashable, Sendable {
        public var status: Int
        public var body: String
        /// Names in lower case.
        public var headers: [String: String]

        public init(status: Int, body: String, headers: [String: String] = [:]) {
            (self.status, self.body, self.headers) = (status, body, headers)
        }
    }

    /// Answers one API request in process, as it would be answered over HTTP.
    ///
    /// Its events are delivered by the next advance or `settle()`.
    /// - Parameter headers: names in lower case.
    public func exchange(
        method: String,
        path: String,
        query: String = "",
        body: String = "",
        headers: [String: String]
    ) async -> Exchange {
        let response = await answer(
            APIRequest(
                method: method,
                path: path,
                query: query,
                body: body,
                authorization: headers["authorization"],
                version: headers["stripe-version"],
                idempotencyKey: headers["idempotency-key"]
            )
        )
        return Exchange(status: response.status, body: response.body, headers: response.headers)
    }
}

extension StripeSimulator: VirtualClock.Participant {
    /// The next instant at which something is due here, in UNIX milliseconds.
    ///
    /// What is under way is waited for first, since its failure would be due again.
    public func nextDue() async -> Int64? {
        await flush()
        return world.nextDue.map { Int64($0) * 1_000 }
    }

    /// Does everything that is due at or before `instant` and waits until subscribers answered.
    public func perform(at instant: Int64) async {
        world.perform(at: Int(instant / 1_000))
        catchUp()
        isDirty = true
        await flush()
        save()
    }
}
