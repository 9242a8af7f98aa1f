import Foundation

extension API {
    /// The claims of a signed answer (RULES §15): a timeline of access, no store ids, no prices.
    public struct SignedAnswer: Hashable, Codable, Sendable {
        /// The `aud` of every signed answer.
        public static let audience = "tollgate"

        /// The customer's id.
        public var sub: String
        /// For whom the answer is: whoever serves what Tollgate sells, ``audience``.
        public var aud: String
        /// To which app it was given, where there are several: one of its publishable keys; another
        /// app must not trust it.
        public var azp: String?
        public var environment: Environment
        /// Real time of signing, seconds since 1970.
        public var iat: Int64
        /// Real time after which it must not be trusted any more, seconds since 1970.
        public var exp: Int64
        /// The instant for which it was made (milliseconds, the domain's clock).
        public var at: Milliseconds
        /// Per lookup key the spans of access, in order, grace and renewal window already in.
        public var entitlements: [String: [Interval]]

        public init(
            sub: String,
            aud: String,
            azp: String? = nil,
            environment: Environment,
            iat: Int64,
            exp: Int64,
            at: Milliseconds,
            entitlements: [String: [Interval]]
        ) {
            self.sub = sub
            self.aud = aud
            self.azp = azp
            self.environment = environment
            self.iat = iat
            self.exp = exp
            self.at = at
            self.entitlements = entitlements
        }

        /// A half-open span of access; `[since, until, ground]` on the wire.
        public struct Interval: Hashable, Codable, Sendable {
            public var since: Milliseconds
            /// Nil: for ever.
            public var until: Milliseconds?
            public var ground: Ground

            public init(since: Milliseconds, until: Milliseconds?, ground: Ground) {
                self.since = since
                self.until = until
                self.ground = ground
            }

            public init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                since = try container.decode(Milliseconds.self)
                until = try container.decode(Milliseconds?.self)
                ground = try container.decode(Ground.self)
            }

            public func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(since)
                try container.encode(until)
                try container.encode(ground)
            }

            /// Whether `instant` lies in `[since, until)`.
            public func contains(_ instant: Milliseconds) -> Bool {
                since <= instant && (until.map { instant < $0 } ?? true)
            }
        }

        /// The lookup keys that are active at `instant`, sorted.
        public func active(at instant: Milliseconds) -> [String] {
            entitlements.filter { $0.value.contains { $0.contains(instant) } }.keys.sorted()
        }
    }
}
