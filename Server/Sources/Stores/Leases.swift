public import Storage
internal import TollgateCore

/// What is done by one server at a time.
public struct Leases: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource

    public init(records: RecordStore, clocks: Clocks, random: RandomSource) {
        (self.records, self.clocks, self.random) = (records, clocks, random)
    }

    /// Does `work` if no other server is doing it.
    ///
    /// - Parameters:
    ///   - name: what is done: `reconcile/app_store/production`.
    ///   - seconds: for how long a server that died may hold it up, by real time; `work` prolongs
    ///     it by calling what it is given as often as it likes, which throws `LeaseLost` once
    ///     somebody else has it.
    /// - Returns: `nil` if somebody else is doing it.
    public func holding<Result: Sendable>(
        _ name: String,
        seconds: Int64 = 120,
        _ work: (_ prolong: @escaping @Sendable () async throws -> Void) async throws -> Result
    ) async throws -> Result? {
        let holder = random.id("server_")
        let records = records
        let wall = clocks.wall
        @Sendable func lease() -> Lease {
            let until = wall().advanced(by: seconds * 1000)
            return Lease(name: name, holder: holder, until: until)
        }
        // Each time is a commit, so only when a tenth of it is over.
        let pace = WorkPace()
        _ = pace.isDue(wall(), every: 0)
        guard try await records.leases.take(lease(), now: wall()) else { return nil }
        do {
            let result = try await work {
                guard pace.isDue(wall(), every: seconds * 100) else { return }
                guard try await records.leases.take(lease(), now: wall()) else {
                    throw LeaseLost(name: name)
                }
            }
            try await records.leases.release(lease())
            return result
        } catch {
            try? await records.leases.release(lease())
            throw error
        }
    }
}

/// Another server has taken over what this one was too slow with.
public struct LeaseLost: Error, CustomStringConvertible {
    public var name: String

    public var description: String { "another server has taken over \(name)" }
}
