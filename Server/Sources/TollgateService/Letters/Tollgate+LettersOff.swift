// SPDX-License-Identifier: Apache-2.0
internal import Logging
internal import Storage
internal import Stores
package import TollgateCore

extension Tollgate {
    /// Notes that this server has no kind of emails to customers switched on.
    ///
    /// A kind begins anew when it is switched on after that, unless another server had it on.
    ///
    /// - Parameter wall: real time, if not the server's own.
    /// - Returns: whether nothing failed; what did is in the log.
    package func noteLettersAreOff(wall: Instant? = nil) async -> Bool {
        do {
            let wall = wall ?? clocks.wall()
            guard let bytes = try await store.letters.progress(),
                var progress = LetterProgress(bytes), !progress.covers([], wall: wall)
            else { return true }
            progress.cover([], at: await clocks.now(), wall: wall)
            try await store.letters.take([], from: bytes, to: progress.bytes(), now: wall)
            return true
        } catch {
            logger.warning("the settings of emails were not noted", metadata: ["error": "\(error)"])
            return false
        }
    }
}
