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

        /// Has calls from now on bear another key of the same account.
        ///
        /// A call that is under way ends with the key with which it began.
        ///
        /// - Parameter text: `sk_…` or `rk_…`.
        public func replace(with text: String) { self.text.withLock { $0 = text } }
    }
}
