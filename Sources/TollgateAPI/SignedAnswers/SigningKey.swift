import Foundation

extension API {
    /// A key that signs answers, by its public side: `id` is its `kid` in the key set.
    public struct SigningKey: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        public var status: Status
        /// From when it signs, by real time.
        public var signsFrom: Milliseconds
        /// Until when `/.well-known/jwks.json` shows it; nil while no key follows.
        public var shownUntil: Milliseconds?

        public init(
            id: String,
            status: Status,
            signsFrom: Milliseconds,
            shownUntil: Milliseconds?
        ) {
            self.id = id
            self.status = status
            self.signsFrom = signsFrom
            self.shownUntil = shownUntil
        }

        public enum Status: String, Hashable, Codable, Sendable, CaseIterable {
            /// Signs no more, and still verifies what it signed.
            case former
            case signing
            /// Shown before it signs.
            case next
        }

        private enum CodingKeys: String, CodingKey {
            case id, status
            case signsFrom = "signs_from"
            case shownUntil = "shown_until"
        }
    }

    /// The body of `POST /v1/signing_keys/rotate`; all may be left out.
    public struct SigningKeyRotation: Hashable, Codable, Sendable {
        /// The new key signs within a minute, not in a day.
        public var atOnce: Bool?
        /// What the former keys signed is worth nothing from then on; implies `at_once`.
        public var forgetFormer: Bool?

        public init(atOnce: Bool? = nil, forgetFormer: Bool? = nil) {
            self.atOnce = atOnce
            self.forgetFormer = forgetFormer
        }

        private enum CodingKeys: String, CodingKey {
            case atOnce = "at_once"
            case forgetFormer = "forget_former"
        }
    }
}
