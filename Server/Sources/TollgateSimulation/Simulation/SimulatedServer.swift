import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import GooglePlaySimulator
import SandboxClock
import Storage
import Stores
import StripeConnector
import StripeSimulator
import Synchronization
import TollgateAPI
import TollgateAssembly
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
        /// When the customers of another system moved here; `nil`: nobody did.
        var moved: Int64?
        /// The types of Stripe's events that are delivered to it.
        var stripeEvents: [String]
        var bug: PlantedBug?
        var fate: Fate
        /// What goes wrong with Google Play, drawn apart so that nothing else changes.
        var playFate: Fate
        var database: WorldDatabase
    }

    /// The stores that it asks; they are met after they were told of it.
    struct Stores: Sendable {
        var clock: VirtualClock
        var appStore: SimulatedAppStore
        var serverAPI: InProcessServerAPI
        var apiKey: SimulatedAppStore.APIKey
        var stripe: StripeSimulator
        /// `nil` where nobody has an Android phone.
        var googlePlay: SimulatedGooglePlay?
        var googlePlayTokens: GooglePlay.AccessTokens?
    }

    /// A message on its way.
    enum Letter: Hashable, Sendable {
        case notification(String)
        case event(body: String, signature: String)
        /// The body of a push of Google Play's.
        case hint([UInt8])
    }

    /// What was counted.
    struct Counts: Hashable, Sendable {
        var letters = 0
        var kills = 0
    }

    struct State {
        var tollgate: Tollgate?
        var storage: KillableStorage?
        var downUntil: Int64 = .min
        /// What is still under way although its store has given it up, by the instant it arrives.
        var late: [(due: Int64, letter: Letter)] = []
        var acknowledged: Set<RowKey> = []
        var notifications: Set<String> = []
        var violations: [String] = []
        var counts = Counts()
        /// Original transaction ids of what each customer's devices have shown, by customer.
        var shown: [String: Set<String>] = [:]
    }

    /// The stores' present in a server that does not check dates.
    @TaskLocal static var believedNow: Int64?

    let parts: Parts
    let planting: Planting
    /// Trouble of what was added later, drawn apart so that nothing else changes.
    let apart: Fate
    let incidents = ServerIncidents()
    let lag = ReadLag()
    let stores = Mutex<Stores?>(nil)
    private let random: Mutex<SplitMix64>
    let state = Mutex(State())

    init(_ parts: Parts) {
        self.parts = parts
        random = Mutex(SplitMix64(seed: parts.seed ^ 0x5E54_E500))
        planting = Planting(parts.bug)
        apart = Fate(parts.fate.trouble, seed: parts.seed ^ 0xA9A_27)
    }

    // MARK: - Life

    private struct NotRunning: Error, CustomStringConvertible {
        var description: String { "the server does not start again" }
    }

    /// Meets the stores, and starts.
    func start(in world: ScenarioWorld) async throws {
        var tokens: GooglePlay.AccessTokens?
        if world.googlePlay != nil { tokens = try await GooglePlayAccess.tokens() }
        let met = Stores(
            clock: world.clock,
            appStore: world.appStore,
            serverAPI: InProcessServerAPI(world.appStore),
            apiKey: await world.appStore.apiKey,
            stripe: world.stripe,
            googlePlay: world.googlePlay,
            googlePlayTokens: tokens
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

    /// The server does all that `tollgate serve` does in every other world, since that takes longer, and
    /// in none with a planted bug, so that small worlds go on finding theirs.
    var isAsInProduction: Bool { parts.bug == nil && parts.seed.isMultiple(of: 2) }

    var counts: Counts { state.withLock { $0.counts } }

    /// What was seen to be wrong so far.
    var violations: [String] { state.withLock { $0.violations } }

    func object(_ violation: String) {
        state.withLock { $0.violations.append(violation) }
    }

    /// Is down until an instant of the stores' time.
    func goDown(until instant: Int64) {
        state.withLock { $0.downUntil = max($0.downUntil, instant) }
    }

    func comeUp() {
        state.withLock { $0.downUntil = .min }
    }

    var isDown: Bool {
        let present = stores.withLock { $0?.clock.nowAtOnce } ?? 0
        return state.withLock { present < $0.downUntil }
    }

    /// Starts on the database as it is; a start may be cut off too.
    ///
    /// Three of ten are, in the worst worlds, so who supervises it must not give up soon.
    private func boot() async throws {
        var failure: any Error = NotRunning()
        for _ in 0..<50 {
            let storage = KillableStorage(
                try parts.database.open(),
                fate: parts.fate,
                tears: parts.bug == .tornTransactions
            )
            do {
                let store = try await makeStore(storage)
                var catalog = parts.catalog
                if parts.bug == .coinsOfBeforeTheMove { catalog.coinsSince = nil }
                // A catalog is older than every world, or as old as the move.
                let adopted = Instant(milliseconds: parts.moved ?? 1_420_070_400_000)
                try await store.adopt(catalog, at: adopted)
                let tollgate = try makeTollgate(store, try met()) { [self] count in
                    random.withLock { $0.bytes(count) }
                }
                for connector in tollgate.connectors { try await connector.begin() }
                return state.withLock { ($0.tollgate, $0.storage) = (tollgate, storage) }
            } catch {
                failure = error
                await storage.close()
            }
        }
        throw failure
    }

    private func makeStore(_ storage: KillableStorage) async throws -> RecordStore {
        // As a server that starts does: one that was killed may have left the schema half made.
        try await storage.migrate()
        #if DEBUG
            if parts.bug != nil { return try await RecordStore(storage).planted(with: planting) }
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

    // MARK: - Copies of the database

    /// The world's memory of a server's past that belongs to a copy of the database.
    struct Memory {
        fileprivate var acknowledged: Set<RowKey>
        fileprivate var notifications: Set<String>
        fileprivate var shown: [String: Set<String>]
    }

    /// Stops, has a copy made, and starts again.
    func backUp() async throws -> Memory {
        await stop()
        try parts.database.backUp()
        try await boot()
        return state.withLock {
            Memory(acknowledged: $0.acknowledged, notifications: $0.notifications, shown: $0.shown)
        }
    }

    /// Starts on the last copy, and knows no more than that.
    ///
    /// - Returns: whether there is one.
    func restoreBackup(_ memory: Memory) async throws -> Bool {
        await stop()
        let isRestored = try parts.database.restoreBackup()
        if isRestored {
            state.withLock {
                $0.acknowledged = memory.acknowledged
                $0.notifications = memory.notifications
                $0.shown = memory.shown
            }
            incidents.beOlderThanAcknowledged()
        }
        try await boot()
        return isRestored
    }

    private func stop() async {
        let storage = state.withLock { state in
            defer { (state.tollgate, state.storage) = (nil, nil) }
            return state.storage
        }
        await storage?.close()
        planting.forget()
    }

    // MARK: - What clients do

    func begin(_ customer: ScenarioCustomer) async throws {
        // About half of them, by the id, which is random.
        let consents = customer.id.last?.hexDigitValue?.isMultiple(of: 2) ?? false
        _ = try await insist { tollgate, _ in
            try await tollgate.customers.create(
                API.CreateCustomerRequest(
                    appUserID: customer.id,
                    appAccountToken: customer.id,
                    consumptionConsent: consents
                )
            ).isNew
        }
    }

    /// Opens a checkout, for which Tollgate makes the Stripe customer; it is never paid.
    func stripeCustomer(
        of customer: ScenarioCustomer,
        at stripe: StripeSimulator
    ) async throws -> String? {
        // The other system's customers are customers at Stripe already.
        if isBeforeMove { return nil }
        let session: String
        do {
            session = try await insist { tollgate, _ in
                try await tollgate.stripe.checkouts.create(
                    API.CheckoutSessionRequest(product: "coins_100"),
                    customer: customer.id
                ).id
            }
        } catch {
            object("no checkout can be opened: \(error)")
            throw error
        }
        let words = Data((await stripe.object(session) ?? "{}").utf8)
        return (try JSONSerialization.jsonObject(with: words) as? [String: Any])?["customer"]
            as? String
    }

    /// - Throws: `ServerDown`; the device shows it again another day.
    func post(
        _ signedTransaction: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws {
        if isDown { throw ServerDown() }
        _ = try await insist { tollgate, _ in
            let id = Customer.ID(try await tollgate.directory.customer(customer.id).id)
            do {
                _ = try await tollgate.appStore.devices.receive(
                    API.AppStoreTransactionRequest(
                        signedTransaction: signedTransaction,
                        mode: API.SubmissionMode(rawValue: mode) ?? .observed
                    ),
                    from: id
                )
            } catch let refusal as Refusal where refusal.status == 409 {
                // Somebody else's purchase: an answer, which the next comparison looks at.
            }
            return true
        }
        if let original = Forgery.originalTransactionID(in: signedTransaction) {
            note(original, shownBy: customer)
        }
    }

    func note(_ original: String, shownBy customer: ScenarioCustomer) {
        state.withLock { _ = $0.shown[customer.id, default: []].insert(original) }
    }

    func randomBytes(_ count: Int) -> [UInt8] {
        random.withLock { $0.bytes(count) }
    }

    /// Original transaction ids of what a customer's devices have shown.
    func shown(by customer: ScenarioCustomer) -> Set<String> {
        state.withLock { $0.shown[customer.id] ?? [] }
    }

    /// The database as the running server sees it.
    var database: any StorageDriver {
        get throws {
            guard let storage = state.withLock({ $0.storage }) else { throw NotRunning() }
            return storage
        }
    }

    struct ServerDown: Error {}

    /// Spends coins; says whether that was granted.
    func spend(
        _ amount: Int64,
        by customer: ScenarioCustomer,
        in environment: StoreEnvironment,
        key: String
    ) async throws -> Bool {
        if isDown { throw ServerDown() }
        let isForgetful = parts.bug == .spendsAgainWhenRetried
        return try await insist { tollgate, attempt in
            do {
                let reply = try await tollgate.coins.spend(
                    API.SpendRequest(amount: amount),
                    of: customer.id,
                    in: environment,
                    idempotencyKey: isForgetful ? "\(key)-\(attempt)" : key
                )
                if reply.balance < 0 { self.object("coins were spent that nobody had") }
                return true
            } catch let refusal as Refusal where refusal.status == 409 {
                return false
            }
        }
    }

    func settle() async {
        guard !isDown, let tollgate = try? tollgate else { return }
        await dropQuestions()
        await tollgate.fetchWanted()
        await keepWhatIsKnown(tollgate)
        await revive()
    }

    /// As after every look at the questions; sometimes the server stops before.
    private func keepWhatIsKnown(_ tollgate: Tollgate) async {
        guard isAsInProduction, apart.below(2) == 0 else { return }
        await Fate.$apart.withValue(apart) {
            for connector in tollgate.connectors { try? await connector.keepWhatIsKnown() }
        }
    }

    /// Forgets what a planted bug asks nobody.
    private func dropQuestions() async {
        for purchase in planting.unasked {
            _ = try? await database.write { connection in
                try connection.execute(
                    "DELETE FROM wanted WHERE body = $1",
                    [.blob(Array(purchase.canonical.utf8))]
                )
            }
        }
    }

    func answer(
        _ customer: ScenarioCustomer,
        lookupKeys _: [String]
    ) async throws -> ScenarioAnswer {
        try await answer(customer, in: parts.environment)
    }

    /// What the customer may use now, and how many coins they have.
    func answer(
        _ customer: ScenarioCustomer,
        in environment: StoreEnvironment
    ) async throws -> ScenarioAnswer {
        let tollgate = try tollgate
        var at: Instant?
        if parts.bug == .lapsesAtMidnight, let met = try? met() {
            let day: Int64 = 86_400_000
            at = Instant(milliseconds: met.clock.nowAtOnce / day * day)
        }
        let list = try await tollgate.entitlements.active(of: customer.id, in: environment, at: at)
        let coins = try await tollgate.coins.balance(of: customer.id, in: environment)
        var answer = ScenarioAnswer(has: Set(list.data.map(\.lookupKey)), coins: coins.balance)
        // As a server on SQLite answers most requests.
        let atOnce = try tollgate.entitlements.answerAtOnce(of: customer.id, in: environment)
        if at == nil, let atOnce, try atOnce.list() != list {
            answer.objections.append("the answer at once is another one")
        }
        try await tollgate.addSecondOpinion(
            on: customer.id,
            in: environment,
            at: Instant(milliseconds: list.at),
            to: &answer
        )
        return answer
    }
}
