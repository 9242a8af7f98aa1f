// SPDX-License-Identifier: Apache-2.0
package import Storage
package import TollgateCore

extension LetterCounts {
    /// Returns the time since which the mail server has accepted no letter; `nil`: it accepts them.
    ///
    /// One that is refused for a while, as new senders are, says nothing while others are accepted.
    /// Letters that nobody tries any more belong to a kind that was switched off.
    package func stuck(at wall: Instant) -> Instant? {
        let halfDay: Int64 = 43_200_000
        guard let lastTry, wall.milliseconds - lastTry.milliseconds < halfDay else { return nil }
        return firstTried
    }
}
