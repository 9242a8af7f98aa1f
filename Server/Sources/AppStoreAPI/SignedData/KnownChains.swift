import Crypto
import Foundation
import Synchronization

/// The certificate chains that were proven, remembered by their exact bytes, and the budget for
/// proving new ones.
///
/// A chain comes in only after all of its checks; the text of a header is remembered only after a
/// signature under it was valid. So nobody without the App Store's key can fill this.
final class KnownChains: Sendable {
    private struct Entry {
        let chain: CertificateChain
        let digest: [UInt8]
        /// The first parts of JWS that carried this chain, newest first.
        ///
        /// More than one only if the header's JSON or its third certificate differ.
        var headers: [[UInt8]] = []
    }

    private static let maximumHeaders = 4

    /// The chains that were verified, with the newest use first.
    private struct State {
        /// Newest use first.
        var entries: [Entry] = []
        var budgetSecond = Int64.min
        var budgetUsed = 0
        var proven = 0
        /// Digests of chains that were proven before the start and did not come again yet.
        var expected: Set<[UInt8]> = []

        mutating func use(_ index: Int) -> CertificateChain {
            if index > 0 { entries.insert(entries.remove(at: index), at: 0) }
            return entries[0].chain
        }
    }

    private let state = Mutex(State())
    /// Held while a chain is proven.
    private let proof = Mutex(())
    private let capacity: Int
    private let budgetPerSecond: Int

    init(capacity: Int, budgetPerSecond: Int) {
        self.capacity = max(1, capacity)
        self.budgetPerSecond = max(1, budgetPerSecond)
    }

    /// How many chains were proven since the start, with success or without.
    var fullValidations: Int { state.withLock { $0.proven } }

    /// How many chains are remembered.
    var count: Int { state.withLock { $0.entries.count } }

    /// The digests of chains under which a signature was valid.
    var digests: [[UInt8]] {
        state.withLock { state in
            state.entries.filter { !$0.headers.isEmpty }.map(\.digest)
        }
    }

    /// A SHA-256 over both certificates, by which a chain is recognised after a restart.
    static func digest(leaf: [UInt8], intermediate: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        // Its length first, so that no other cut between the two gives the same.
        withUnsafeBytes(of: UInt64(leaf.count).bigEndian) { hash.update(bufferPointer: $0) }
        hash.update(data: leaf)
        hash.update(data: intermediate)
        return Array(hash.finalize())
    }

    /// Expects chains of these digests, as many as are remembered at most.
    func expect(_ digests: [[UInt8]]) {
        state.withLock { $0.expected = Set(digests.prefix(capacity)) }
    }

    /// Tells, once for each, if a chain of this digest was proven before the start.
    func recall(_ digest: [UInt8]) -> Bool {
        state.withLock { $0.expected.remove(digest) != nil }
    }

    /// The chain of a header that came before.
    func chain(header: UnsafeRawBufferPointer) -> CertificateChain? {
        state.withLock { state in
            let found = state.entries.firstIndex { $0.headers.contains { areEqual(header, $0) } }
            return found.map { state.use($0) }
        }
    }

    /// The chain of these two certificates.
    func chain(leaf: [UInt8], intermediate: [UInt8]) -> CertificateChain? {
        state.withLock { state in
            let found = state.entries.firstIndex {
                $0.chain.leaf == leaf && $0.chain.intermediate == intermediate
            }
            return found.map { state.use($0) }
        }
    }

    /// Proves one chain at a time.
    ///
    /// So a new chain of the store that many payloads bring at once costs the budget one, not one
    /// for each thread.
    func proving(
        _ body: () throws(AppStore.VerificationError) -> CertificateChain
    ) throws(AppStore.VerificationError) -> CertificateChain {
        try proof.withLock { _ throws(AppStore.VerificationError) in try body() }
    }

    /// Takes one from the budget of this second, or throws.
    ///
    /// - Parameter isFree: whether it only counts as proven.
    func spend(now: Int64, isFree: Bool) throws(AppStore.VerificationError) {
        let allowed = state.withLock { state in
            if isFree {
                state.proven += 1
                return true
            }
            let second = now / 1000
            if second != state.budgetSecond {
                state.budgetSecond = second
                state.budgetUsed = 0
            }
            guard state.budgetUsed < budgetPerSecond else { return false }
            state.budgetUsed += 1
            state.proven += 1
            return true
        }
        guard allowed else { throw AppStore.VerificationError(.chainBudget) }
    }

    /// Remembers a proven chain; the one that was not used for longest makes room.
    func insert(_ chain: CertificateChain) {
        state.withLock { state in
            state.entries.removeAll {
                $0.chain.leaf == chain.leaf && $0.chain.intermediate == chain.intermediate
            }
            if state.entries.count >= capacity { state.entries.removeLast() }
            let digest = Self.digest(leaf: chain.leaf, intermediate: chain.intermediate)
            state.entries.insert(Entry(chain: chain, digest: digest), at: 0)
        }
    }

    /// Remembers a header under which a signature was valid.
    func remember(header: UnsafeRawBufferPointer, of chain: CertificateChain) {
        state.withLock { state in
            let found = state.entries.firstIndex {
                $0.chain.leaf == chain.leaf && $0.chain.intermediate == chain.intermediate
            }
            guard let found, !state.entries[found].headers.contains(where: { areEqual(header, $0) })
            else { return }
            state.entries[found].headers.insert([UInt8](header), at: 0)
            if state.entries[found].headers.count > Self.maximumHeaders {
                state.entries[found].headers.removeLast()
            }
        }
    }

    private func areEqual(_ left: UnsafeRawBufferPointer, _ right: [UInt8]) -> Bool {
        guard left.count == right.count, let base = left.baseAddress else { return false }
        return right.withUnsafeBytes { other in
            other.baseAddress.map { memcmp(base, $0, left.count) == 0 } ?? false
        }
    }
}
