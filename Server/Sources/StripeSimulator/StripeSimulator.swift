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
    let wakes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    /// Opens the saved state, or a new world, and takes part in `clock` from now on.
    /// - Throws: if there is a saved state that cannot be read.
    public init(configuration: Configuration = Configuration(), clock: VirtualClock) async throws {
        self.configuration = configuration
        self.clock = clock
        let now = Int(await clock.now / 1_000)
        var world =
            try Snapshot.load(configuration.statePath)
            ?? World(now: now, seed: configuration.seed, apiVersion: configuration.apiVersion)
        world.now = max(world.now, now)
        if let url = configuration.publicURL { world.baseURL = url }
        world.preload(configuration)
        self.world = world
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        await clock.join(self)
    }

    private init(still world: World, configuration: Configuration) {
        self.configuration = configuration
        clock = VirtualClock(now: Int64(world.now) * 1_000)
        self.world = world
        self.world.deliveries = []
        self.world.faults.isPaused = true
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

    /// Where API and pages are reached; links in objects start with it.
    public var baseURL: String { world.baseURL }

    /// Brings the world to the present of the clock.
    func synchronize() async {
        let now = Int(await clock.now / 1_000)
        world.now = max(world.now, now)
    }

    /// Has what is due at this very instant done, and messages and state taken care of soon.
    func changed() {
        world.perform(at: world.now)
        isDirty = true
        wake.yield()
    }

    /// Writes the state if it changed and there is a place for it.
    func save() {
        guard isDirty, let path = configuration.statePath else { return }
        do {
            try Snapshot.save(world, to: path)
            isDirty = false
        } catch {
            configuration.logger.error("The state cannot be saved: \(error)")
        }
    }

    /// Answers one API request without HTTP between.
    func answer(_ request: APIRequest) async -> APIResponse {
        await synchronize()
        let response = world.answer(
            request,
            keys: [configuration.secretKey],
            wall: configuration.wall()
        )
        if request.method != "GET" { changed() }
        return response
    }
}

extension StripeSimulator {
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
        isDirty = true
        await flush()
        save()
    }
}
