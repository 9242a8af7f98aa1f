internal import Synchronization

/// Whether a database's tables lie on several machines, as its connections have found.
final class FoundDistribution: Sendable {
    private let found = Atomic(false)

    var isFound: Bool {
        get { found.load(ordering: .relaxed) }
        set { found.store(newValue, ordering: .relaxed) }
    }
}
