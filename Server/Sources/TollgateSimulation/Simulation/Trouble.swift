import Synchronization

/// What goes wrong in a simulated world: shares from 0 to 1.
public struct Trouble: Hashable, Sendable {
    /// By what it was called.
    public private(set) var name = "none"

    // MARK: On the way from a store
    /// Deliveries that never arrive.
    public var lost = 0.0
    /// Deliveries that arrive twice.
    public var twice = 0.0
    /// Deliveries that arrive long after the store has given them up.
    public var late = 0.0
    /// Deliveries that arrive and whose answer gets lost.
    public var unanswered = 0.0
    /// Deliveries with a damaged signature before them, which must be refused.
    public var damaged = 0.0
    /// Deliveries that are followed by the same words under the signature's twin (n − s).
    public var twin = 0.0
    /// Deliveries before which somebody sends words that Apple signed for a day to come.
    public var postdated = 0.0
    /// Deliveries before which somebody sends a purchase signed under a root of their own.
    public var forged = 0.0

    // MARK: In the server
    /// Durable steps before or after which the server is killed.
    public var killed = 0.0
    /// Durable steps that the database refuses, or of which nobody knows whether they were done.
    public var refused = 0.0
    /// Whether it is down for hours three times a year.
    public var hasOutages = false

    // MARK: At the stores
    /// Calls that are answered 429, 500, with half a page, or not at all.
    public var unavailable = 0.0

    public init() {}

    /// The names of what may go wrong, for the command line; "all" is all of them.
    public static let names = ["none", "light", "all", "deliveries", "attacks", "server", "stores"]

    /// What goes by a name; several of them are joined by commas.
    public init?(named names: String) {
        self.init()
        name = names
        for name in names.split(separator: ",") {
            switch name {
            case "none": break
            case "light":
                (lost, twice, unanswered, killed, unavailable) = (0.02, 0.05, 0.02, 0.002, 0.02)
            case "all":
                addDeliveries()
                addAttacks()
                addServer()
                unavailable = 0.15
            case "deliveries": addDeliveries()
            case "attacks": addAttacks()
            case "server": addServer()
            case "stores": unavailable = 0.15
            default: return nil
            }
        }
    }

    private mutating func addDeliveries() {
        (lost, twice, late, unanswered) = (0.15, 0.08, 0.06, 0.05)
    }

    private mutating func addAttacks() {
        (damaged, twin, postdated, forged) = (0.02, 0.03, 0.01, 0.01)
    }

    private mutating func addServer() {
        (killed, refused, hasOutages) = (0.01, 0.01, true)
    }
}

/// Chance and what it decides in one world, drawn from the world's seed.
final class Fate: Sendable {
    private struct State {
        var random: SplitMix64
        var isHealed = false
    }

    /// Decides in place of every other chance, for what was added later, so that nothing else changes.
    @TaskLocal static var apart: Fate?

    let trouble: Trouble
    private let state: Mutex<State>

    init(_ trouble: Trouble, seed: UInt64) {
        self.trouble = trouble
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    /// While a world is healed nothing goes wrong.
    var isHealed: Bool {
        get { state.withLock { $0.isHealed } }
        set { state.withLock { $0.isHealed = newValue } }
    }

    /// Whether something goes wrong that does so in a `share` of cases.
    func strikes(_ share: Double) -> Bool {
        guard share > 0 else { return false }
        if let apart = Self.apart, apart !== self { return !isHealed && apart.strikes(share) }
        return state.withLock { state in
            guard !state.isHealed else { return false }
            return Double(state.random.next() >> 11) / Double(1 << 53) < share
        }
    }

    /// A number below `bound`.
    func below(_ bound: Int) -> Int {
        if let apart = Self.apart, apart !== self { return apart.below(bound) }
        return state.withLock { Int($0.random.next() % UInt64(max(1, bound))) }
    }
}
