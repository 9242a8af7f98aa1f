extension SimulatedGooglePlay {
    /// The acts of this store so far, kept so that they can be written down and repeated.
    public struct Story: Sendable {
        public var packageName: String
        public var seed: UInt64
        public var accounts: [Person]
        public var products: [SoldProduct]
        public var deeds: [Deed]
    }

    /// A buyer, as they were when they came.
    public struct Person: Hashable, Sendable {
        public var id: String
        public var region: String
        public var isTester: Bool
    }

    /// A base plan of a subscription, or a purchase option of what is bought once.
    public struct SoldProduct: Hashable, Sendable {
        public var productID: String
        public var planID: String
        /// Whether this is the default base plan, which purchases without a plan get.
        public var isFirst: Bool
        public var isSubscription: Bool
        /// The length of a plan's period or of a rental; `nil`: it lasts.
        public var period: String?
        public var priceMicros: Int64
        public var currency: String
        /// Further settings of the Play Console, by the names that scenarios have for them.
        public var settings: [String: String] = [:]
        public var offers: [SoldOffer] = []
        public var preOrder: PreOrder?
    }

    /// An offer of a base plan.
    public struct SoldOffer: Hashable, Sendable {
        public var id: String
        public var phases: [Phase]

        /// `count` periods, free without a price.
        public struct Phase: Hashable, Sendable {
            public var duration: String
            public var count: Int
            public var priceMicros: Int64?
        }
    }

    /// An offer to order something ahead of its release.
    public struct PreOrder: Hashable, Sendable {
        public var offerID: String
        /// UNIX milliseconds.
        public var release: Int64
    }

    /// One thing that was done.
    public struct Deed: Hashable, Sendable {
        /// UNIX milliseconds on the virtual clock.
        public var at: Int64
        /// The name that the command line gives it.
        public var act: String
        public var account: String?
        /// The number of the account's purchase, from 1, or of its order.
        public var purchase: Int?
        /// By name, in order.
        public var details: [(name: String, value: String)]

        public static func == (left: Deed, right: Deed) -> Bool {
            left.at == right.at && left.act == right.act && left.account == right.account
                && left.details.map(\.value) == right.details.map(\.value)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(at)
            hasher.combine(act)
        }
    }
}
