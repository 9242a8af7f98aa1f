/// What is kept open to be used again, so many at most.
///
/// The least recently used goes first, and none that is in use: while all are, there may be more.
struct KeptOpen<Value> {
    private struct Entry {
        var value: Value
        var users: Int
        /// The higher, the later it was used.
        var used: Int
    }

    private let limit: Int
    private var entries: [String: Entry] = [:]
    private var uses = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// The one under `key`, made if it is not there; in use until it is given back.
    mutating func take(_ key: String, orMake make: () -> Value) -> Value {
        uses += 1
        var entry = entries[key] ?? Entry(value: make(), users: 0, used: uses)
        entry.users += 1
        entry.used = uses
        entries[key] = entry
        return entry.value
    }

    /// Says that one who took it uses it no longer.
    mutating func giveBack(_ key: String) {
        entries[key]?.users -= 1
    }

    /// Lets go of those that are too many, to be closed by the caller.
    mutating func surplus() -> [Value] {
        let count = max(0, entries.count - limit)
        guard count > 0 else { return [] }
        let idle = entries.filter { $0.value.users == 0 }
            .sorted { $0.value.used < $1.value.used }
            .prefix(count)
        for entry in idle { entries[entry.key] = nil }
        return idle.map { $0.value.value }
    }

    /// Lets go of all, to be closed by the caller.
    mutating func removeAll() -> [Value] {
        defer { entries = [:] }
        return entries.values.map(\.value)
    }
}
