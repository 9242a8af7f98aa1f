// SPDX-License-Identifier: Apache-2.0
import Synchronization

extension Stripe {
    /// The secret key of a client; it may be replaced while calls are under way.
    public final class SecretKey: Sendable {
        private let text: Mutex<String>

        init(_ text: String) {
            self.text = Mutex(text)
        }

        /// The key as the next request bears it.
        var current: String { text.withLock { $0 } }

        /// Has calls from now on bear another key of the same account and mode.
        ///
        /// A call that is under way ends with the key with which it began.
        ///
        /// - Parameter text: `sk_…` or `rk_…`.
        /// - Returns: `false` for a key of the other mode, which is one for other objects: it is not
        ///   taken.
        public func replace(with text: String) -> Bool {
            self.text.withLock { current in
                guard Self.isLive(text) == Self.isLive(current) else { return false }
                current = text
                return true
            }
        }

        private static func isLive(_ key: String) -> Bool {
            key.split(separator: "_").contains("live")
        }
    }
}
