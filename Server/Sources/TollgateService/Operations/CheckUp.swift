// SPDX-License-Identifier: Apache-2.0
internal import TollgateCore

/// Everything that can be wrong with a server, its machine and its stores, asked on demand.
public struct CheckUp: Sendable {
    /// Checks that are asked one after the other.
    public struct Part: Sendable {
        fileprivate let name: String
        fileprivate let ask: @Sendable () async -> [Finding]

        /// - Parameters:
        ///   - name: names the part where it does not answer: `stripe`.
        ///   - ask: ends early where its task is cancelled.
        public init(_ name: String, _ ask: @escaping @Sendable () async -> [Finding]) {
            (self.name, self.ask) = (name, ask)
        }
    }

    private let parts: [Part]

    /// - Parameter parts: asked side by side.
    public init(_ parts: [Part]) {
        self.parts = parts
    }

    /// Asks everything.
    ///
    /// - Parameters:
    ///   - limit: the time after which a part that has not answered counts as failed.
    ///   - progress: told how many parts have answered, and how many there are.
    /// - Returns: the findings in the order of the parts.
    public func findings(
        within limit: Duration,
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) async -> [Finding] {
        await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask { (index, await part.findings(within: limit)) }
            }
            var found: [Int: [Finding]] = [:]
            for await (index, findings) in group {
                found[index] = findings
                progress(found.count, parts.count)
            }
            return parts.indices.flatMap { found[$0] ?? [] }
        }
    }
}

extension CheckUp.Part {
    fileprivate func findings(within limit: Duration) async -> [Finding] {
        await withTaskGroup(of: [Finding]?.self) { group in
            group.addTask { await self.ask() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            let first: [Finding]? = await group.next() ?? nil
            group.cancelAll()
            return first ?? [late(limit)]
        }
    }

    private func late(_ limit: Duration) -> Finding {
        .failed(
            name,
            "Not all of it answered within \(limit.components.seconds) seconds.",
            "Ask again; if it stays so, look at the network of this machine."
        )
    }
}
