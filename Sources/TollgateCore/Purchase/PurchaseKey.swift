extension Purchase {
    /// What keeps one purchase apart from every other: store, app, environment and the store's id.
    public struct Key: Hashable, Sendable {
        public var store: Store
        public var environment: StoreEnvironment
        /// The bundle id; in Google Play the package name; for Stripe the account (`-` if there is but
        /// one).
        public var application: String
        /// An original transaction id, a Stripe subscription's or payment intent's id, a purchase token
        /// of Google Play.
        public var id: String

        public init(
            store: Store,
            environment: StoreEnvironment,
            application: String,
            id: String
        ) {
            self.store = store
            self.environment = environment
            self.application = application
            self.id = id
        }

        /// `app_store/sandbox/com.example.app/2000000001`, the form in which it is kept and shown.
        public var canonical: String {
            "\(store.rawValue)/\(environment.rawValue)/\(application)/\(id)"
        }

        /// What precedes the ids of purchases in StoreKit testing in Xcode; Apple's ids are digits.
        public static let xcodePrefix = "xcode-"

        /// Whether Xcode sold it on a developer's machine, so that no store can be asked about it.
        public var isOfXcode: Bool {
            store.isPlayedByXcode && id.hasPrefix(Self.xcodePrefix)
        }

        /// Reads what `canonical` wrote; `nil` for anything else.
        public init?(canonical: String) {
            let parts = canonical.split(
                separator: "/",
                maxSplits: 3,
                omittingEmptySubsequences: false
            )
            guard parts.count == 4, let store = Store(rawValue: String(parts[0])),
                let environment = StoreEnvironment(rawValue: String(parts[1]))
            else { return nil }
            self.init(
                store: store,
                environment: environment,
                application: String(parts[2]),
                id: String(parts[3])
            )
        }
    }
}

extension Purchase.Key: Comparable {
    public static func < (left: Self, right: Self) -> Bool { left.canonical < right.canonical }
}

extension Purchase.Key: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let key = Self(canonical: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not a purchase key"
            )
        }
        self = key
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(canonical)
    }
}

extension Purchase.Key: CustomStringConvertible {
    public var description: String { canonical }
}
