internal import AppStoreAPI
internal import Storage
internal import Stores
internal import Synchronization

extension AppStoreConnector {
    /// Lets certificate chains that were proven before be proven again outside of the budget, so that
    /// a flood of unknown ones keeps none of Apple's out after a restart.
    public func begin() async throws {
        verifier?.recall(try await context.records.journal.provenChains())
    }

    /// Keeps which chains were proven since; nothing is written where none was.
    public func keepWhatIsKnown() async throws {
        let digests = verifier?.provenChains ?? []
        guard keptChains.withLock({ !$0.isSuperset(of: digests) }) else { return }
        try await context.records.journal.keepProvenChains(digests)
        keptChains.withLock { $0 = Set(digests) }
    }
}
