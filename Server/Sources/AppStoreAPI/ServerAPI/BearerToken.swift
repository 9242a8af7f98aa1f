import Foundation
import Synchronization

extension AppStore {
    /// The token in use, made anew shortly before it ends.
    public final class BearerToken: Sendable {
        /// How long a token lives, in seconds; Apple allows 3600 at most.
        public static let lifetime: Int64 = 300
        /// How long before its end another one is made, in seconds.
        static let margin: Int64 = 60

        private let key: APIKey
        private let bundleID: String
        private let token = Mutex<(text: String, issuedAt: Int64)?>(nil)

        init(key: APIKey, bundleID: String) {
            self.key = key
            self.bundleID = bundleID
        }

        /// A token that is good at this second of the wall clock.
        func text(at second: Int64) throws -> String {
            try token.withLock { token in
                if let token, second >= token.issuedAt,
                    second - token.issuedAt < Self.lifetime - Self.margin
                {
                    return token.text
                }
                let text = try key.token(bundleID: bundleID, issuedAt: second)
                token = (text, second)
                return text
            }
        }
    }
}
