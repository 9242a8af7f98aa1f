// SPDX-License-Identifier: Apache-2.0
package import Storage
package import TollgateCore

extension LetterCounts {
    /// Returns the time since which a letter waits in spite of attempts; `nil`: none does.
    ///
    /// Letters that nobody tries any more belong to a kind that was switched off.
    package func stuck(at wall: Instant) -> Instant? {
        let halfDay: Int64 = 43_200_000
        guard let lastTry, wall.milliseconds - lastTry.milliseconds < halfDay else { return nil }
        return oldestTried
    }
}
