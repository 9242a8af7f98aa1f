// SPDX-License-Identifier: Apache-2.0
package import Storage
package import TollgateCore

extension LetterStore {
    /// Sends letters again that failed, unless their causes are too old.
    ///
    /// - Parameter now: by the stores' time.
    /// - Returns: the number of letters.
    @discardableResult
    package func retryFailed(at now: Instant) async throws -> Int {
        var count = 0
        for kind in Letter.Kind.allCases {
            let oldest = now.advanced(by: -kind.greatestAge)
            count += try await retryFailed(kind.rawValue, causedSince: oldest)
        }
        return count
    }
}
