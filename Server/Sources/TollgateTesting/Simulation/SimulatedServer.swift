import AppStoreAPI
import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import StripeSimulator
import Synchronization
import TollgateAPI
import TollgateCore
import TollgateService

/// A server that lives in a troubled world: it is killed and started again on its database, its
/// messages get lost and doubled, and the stores do not always answer.
final class SimulatedServer: ScenarioBackend {
    /// What it is made of.
    struct Parts: Sendable {
        var catalog: Catalog
        var rootDER: Data
        /// Signs under a root that nobody must trust.
        var impostor: SimulatedAppStore
        var seed: UInt64
        var environment: StoreEnvironment
        var bug: PlantedBug?
        var fate: Fate
        var database: SimulatedDatabase
    }

    /// The stores that it asks; they are met after they were told of it.
    struct Stores: Sendable {
        var clock: VirtualClock
        var appStore: SimulatedAppStore
        var serverAPI: InProcessServerAPI
        var apiKey: SimulatedAppStore.APIKey
        var sharedSecret: String
        var stripe: StripeSimulator
    }

    /// A message on its way.
    enum Letter: Hashable, Sendable {
        case notification(String)
        case event(body: String, signature: String)
    }

    /// What was counted.
    struct Counts: Hashable, Sendable {
        var letters = 0
        var kills = 0
    }

    struct State {
        var tollgate: Tollgate?
        var storage: KillableStorage?
        /// Opened at each start.
        var opens: SimulatedDatabase
        var plight = Plight()
        var copy: Copy?
        /// What the stores sent while it was held up.
        var heldUp: [Letter] = []
        /// What is still under way although its store has given it up, by the instant it arrives.
        var late: [(due: Int64, letter: Letter)] = []
        var acknowledged: Set<RowKey> = []
        var notifications: Set<String> = []
        var violations: [String] = []
        var counts = Counts()
        /// Original transaction ids of what each customer's devices have shown, by customer.
        var shown: [String: Set<String>] = [:]
    }

    /// A copy of the database, and what its server had promised by then.
    struct Copy {
        var database: SimulatedDatabase
        var acknowledged: Set<RowKey>
        var notifications: Set<String>
        var shown: [String: Set<String>]
    }

    /// The stores' present in a server that does not check dates.
    @TaskLocal static var believedNow: Int64?

    let parts: Parts
    let planting: Planting
    private let stores = Mutex<Stores?>(nil)
    private let random: Mutex<SplitMix64>
    let state: Mutex<State>

    init(_ parts: Parts) {
        self.parts = parts
        state = Mutex(State(opens: parts.database))
        random = Mutex(SplitMix64(seed: parts.seed ^ 0x5E54_E500))
        planting = Planting(parts.bug)
    }

    // MARK: - Life

    struct NotRunning: Error, CustomStringConvertible {
        var description: String { "the server does not start again" }
    }

    /// Meets the stores, and starts.
    func start(in world: ScenarioWorld) async throws {
        let met = Stores(
            clock: world.clock,
            appStore: world.appStore,
            serverAPI: InProcessServerAPI(world.appStore),
            apiKey: await world.appStore.apiKey,
            sharedSecret: await world.appStore.sharedSecret,
            stripe: world.stripe
        )
        stores.withLock { $0 = met }
        try await boot()
    }

    func close() async {
        await state.withLock { $0.storage }?.close()
        state.withLock { ($0.tollgate, $0.storage) = (nil, nil) }
        // The stores deliver to it: each would keep the other.
        stores.withLock { $0 = nil }
    }

    var tollgate: Tollgate {
        get throws {
            guard let tollgate = state.withLock({ $0.tollgate }) else { throw NotRunning() }
            return tollgate
        }
    }

    func met() throws -> Stores {
        guard let met = stores.withLock({ $0 }) else { throw NotRunning() }
        return met
    }

    var counts: Counts { state.withLock { $0.counts } }

    /// What was seen to be wrong so far.
    var violations: [String] { state.withLock { $0.violations } }

    func object(_ violation: String) {
        state.withLock { $0.violations.append(violation) }
    }

    // MARK: - Plights

    /// What keeps it from hearing, knowing or telling the time.
    var plight: Plight {
        get { state.withLock { $0.plight } }
        set { state.withLock { $0.plight = newValue } }
    }

    /// The stores' present.
    var present: Int64 { stores.withLock { $0?.clock.nowAtOnce } ?? 0 }

    var isDown: Bool { present < plight.downUntil }

    /// Whether it has a key for the App Store Server API.
    var hasKey: Bool { present >= plight.keylessUntil }

    /// By how many milliseconds its clock is behind.
    var lag: Int64 { plight.lag(at: present) }

    /// Ends whatever plight it is in.
    func comeUp() async {
        let wasKeyless = !hasKey
        plight = Plight()
        if wasKeyless { await bootAgain() }
    }

    /// Starts again, as a server does whose settings have changed.
    func bootAgain() async {
        await shutDown()
        do { try await boot() } catch { object("the server does not start again: \(error)") }
    }

    private func shutDown() async {
        let storage = state.withLock { state in
            defer { (state.tollgate, state.storage) = (nil, nil) }
            return state.storage
        }
        await storage?.close()
    }

    /// Copies the database.
    func backUp() async throws {
        await shutDown()
        let database = try state.withLock { $0.opens }.copy()
        state.withLock { state in
            state.copy = Copy(
                database: database,
                acknowledged: state.acknowledged,
                notifications: state.notifications,
                shown: state.shown
            )
        }
        await bootAgain()
    }

    /// Puts the database back to its last copy: what was promised since is forgotten.
    ///
    /// - Returns: whether there is one.
    func restore() async throws -> Bool {
        guard let copy = state.withLock({ $0.copy }) else { return false }
        await shutDown()
        let database = try copy.database.copy()
        state.withLock { state in
            state.opens = database
            state.acknowledged = copy.acknowledged
            state.notifications = copy.notifications
            state.shown = copy.shown
        }
        await bootAgain()
        return true
    }

    /// Lets what is held up arrive.
    func letGo() async {
        let letters = state.withLock { state in
            state.plight.isHeldUp = false
            defer { state.heldUp = [] }
            return state.heldUp
        }
        for letter in letters { await hand(letter) }
    }

    /// Starts on the database as it is; a start may be cut off too.
    ///
    /// Three of ten are, in the worst worlds, so who supervises it must not give up soon.
    private func boot() async throws {
        var failure: any Error = NotRunning()
        for _ in 0..<50 {
            let storage = KillableStorage(
                try state.withLock { $0.opens }.open(),
                fate: parts.fate,
                tears: parts.bug == .tornTransactions
            )
            do {
                let store = try await makeStore(storage)
                // A catalog is older than every world.
                try await store.adopt(parts.catalog, at: Instant(milliseconds: 1_420_070_400_000))
                let tollgate = try makeTollgate(store, try met()) { [self] count in
                    random.withLock { $0.bytes(count) }
                }
                return state.withLock { ($0.tollgate, $0.storage) = (tollgate, storage) }
            } catch {
                failure = error
                await storage.close()
            }
        }
        throw failure
    }

    private func makeStore(_ storage: KillableStorage) async throws -> RecordStore {
        #if DEBUG
            if parts.bug != nil {
                let planting = planting
                return try await RecordStore(storage) { planting.alter($0) }
            }
        #endif
        return try await RecordStore(storage)
    }

    /// Starts again if it was killed.
    func revive() async {
        guard let killed = state.withLock({ $0.storage }), killed.isKilled else { return }
        state.withLock {
            $0.counts.kills += 1
            ($0.tollgate, $0.storage) = (nil, nil)
        }
        await killed.close()
        planting.forget()
        do { try await boot() } catch { object("the server does not start again: \(error)") }
    }

    /// Does what a client tries again until it is answered.
    func insist<R: Sendable>(
        _ body: @Sendable (Tollgate, Int) async throws -> R
    ) async throws -> R {
        var failure: any Error = NotRunning()
        for attempt in 0..<12 {
            do { return try await body(try tollgate, attempt) } catch {
                failure = error
                let isTrouble =
                    error is StorageError || ((error as? Refusal)?.status ?? 0) >= 500
                await revive()
                guard isTrouble else { throw error }
            }
        }
        throw failure
    }

    // MARK: - What the stores send

    func take(signedPayload: String) async -> Bool {
        await carry(.notification(signedPayload))
    }

    func take(event body: String, signature: String) async -> Bool {
        await carry(.event(body: body, signature: signature))
    }

    /// The way from a store to the server, and what happens on it.
    private func carry(_ letter: Letter) async -> Bool {
        let (fate, trouble) = (parts.fate, parts.fate.trouble)
        if present < plight.swallowedUntil { return true }
        if plight.isHeldUp {
            // Stripe signs an event for the minutes in which it is sent, so it has to send it again.
            guard case .notification = letter else { return false }
            state.withLock { $0.heldUp.append(letter) }
            return true
        }
        await attack(letter)
        if fate.strikes(trouble.lost) { return false }
        if fate.strikes(trouble.late) {
            let present = present
            let delay =
                if case .event = letter { fate.below(240_000) } else { fate.below(864_000_000) }
            state.withLock { $0.late.append((present + 1000 + Int64(delay), letter)) }
            return false
        }
        let isTaken = await hand(letter)
        if fate.strikes(trouble.twice) { _ = await hand(letter) }
        if case .notification(let payload) = letter, fate.strikes(trouble.twin),
            let twin = Forgery.twin(of: payload)
        {
            _ = await hand(.notification(twin))
        }
        return isTaken && !fate.strikes(trouble.unanswered)
    }

    /// Somebody else writes too, and must be refused.
    private func attack(_ letter: Letter) async {
        let (fate, trouble) = (parts.fate, parts.fate.trouble)
        if fate.strikes(trouble.damaged) {
            let isTaken = await hand(Forgery.damaged(letter), isGenuine: false)
            if isTaken { object("a message with a damaged signature was taken") }
        }
        guard case .notification(let payload) = letter else { return }
        if fate.strikes(trouble.postdated), let met = try? met(),
            let words = Forgery.words(of: payload, signedAt: met.clock.nowAtOnce + 864_000_000),
            let signed = try? await met.appStore.sign(anyPayload: words)
        {
            if await hand(.notification(signed), isGenuine: false) {
                object("a message signed for a day to come was taken")
            }
        }
        if fate.strikes(trouble.forged), let met = try? met(),
            let words = Forgery.words(of: payload, signedAt: met.clock.nowAtOnce),
            let signed = try? await parts.impostor.sign(anyPayload: words)
        {
            if await hand(.notification(signed), isGenuine: false) {
                object("a message signed by an impostor was taken")
            }
        }
    }

    /// The next letter that arrives late by `instant`.
    func nextLate(by instant: Int64) -> (due: Int64, letter: Letter)? {
        state.withLock { state in
            let next = state.late.indices.min { state.late[$0].due < state.late[$1].due }
            guard let next, state.late[next].due <= instant else { return nil }
            return state.late.remove(at: next)
        }
    }

    /// Puts a letter into the server's hands; says whether it was answered 200.
    ///
    /// - Parameter isLate: whether it comes so late that the minutes for which Stripe signed it may be
    ///   over.
    @discardableResult
    func hand(_ letter: Letter, isGenuine: Bool = true, isLate: Bool = false) async -> Bool {
        guard !isDown, let tollgate = try? tollgate else { return false }
        if parts.bug == .seenBeforeProcessed, isGenuine,
            !planting.isNew(Forgery.name(of: letter))
        {
            return true
        }
        state.withLock { $0.counts.letters += 1 }
        do {
            switch letter {
            case .notification(let payload):
                let body = Array("{\"signedPayload\":\"\(payload)\"}".utf8)
                let believed = parts.bug == .dateUnchecked ? Int64(4_000_000_000_000) : nil
                _ = try await Self.$believedNow.withValue(believed) {
                    try await tollgate.receiveAppStoreNotification(body)
                }
            case .event(let body, let signature):
                _ = try await tollgate.receiveStripeEvent(Array(body.utf8), signature: signature)
            }
            if isGenuine { acknowledge(letter) }
            return true
        } catch {
            let wasKilled = state.withLock { $0.storage?.isKilled ?? false }
            if isGenuine, !isLate { objectIfRefused(error, "what a store sent") }
            await revive()
            let believesItIsDone =
                wasKilled ? parts.bug == .acknowledgedBeforeCommit : parts.bug == .successOnFailure
            guard believesItIsDone, isGenuine, error is StorageError else { return false }
            acknowledge(letter)
            return true
        }
    }

    /// What is genuine is never refused for good: a store would send it again in vain, or not at all.
    func objectIfRefused(_ error: any Error, _ what: String) {
        var told = Refusal(telling: error)
        if parts.bug == .clockBehindRefuses, lag > 0, !(error is StorageError) {
            told.status = 400
        }
        guard (400..<500).contains(told.status), told.status != 409 else { return }
        object("\(what) was refused: \(told.status) \(told.error.message)")
    }

    private func acknowledge(_ letter: Letter) {
        let name = Forgery.name(of: letter)
        state.withLock { state in
            switch letter {
            case .notification:
                state.acknowledged.insert(
                    RowKey("notification", ScenarioWorld.bundleID, name)
                )
                state.notifications.insert(name)
            case .event: state.acknowledged.insert(RowKey("event", "test", name))
            }
        }
    }

    /// The journal's keys of everything that was answered 200.
    var acknowledged: Set<RowKey> { state.withLock { $0.acknowledged } }

    /// The ids of the notifications that were answered 200.
    var notifications: Set<String> { state.withLock { $0.notifications } }
}
