/// The set-up of the simulated Google Play for a story.
extension Scenario {
    /// Base plans, offers and ways to buy that a catalog does not tell.
    public struct GooglePlaySettings: Sendable {
        /// By product of the catalog.
        public var plans: [String: Plan] = [:]
        public var offers: [Offer] = []
        /// The seed of faults; `nil`: drawn from the story's name.
        public var seed: UInt64?

        /// The settings of a base plan or purchase option in the Play Console.
        public struct Plan: Hashable, Sendable {
            /// `auto_renewing`, `prepaid`, `installments`.
            public var kind: String?
            /// Periods such as `P7D`; `P0D` for none.
            public var gracePeriod: String?
            public var accountHold: String?
            public var committedPayments: Int?
            /// The length of a rental.
            public var rentalPeriod: String?
            /// The release of a pre-order, in UNIX milliseconds.
            public var release: Int64?
        }

        /// An offer of a base plan: what its first periods cost.
        public struct Offer: Hashable, Sendable {
            public var product: String
            public var id: String
            public var phases: [Phase]

            /// Free, or at `priceMicros`, `count` times.
            public struct Phase: Hashable, Sendable {
                public var duration: String
                public var count: Int
                public var priceMicros: Int64?
            }
        }

        public init() {}
    }
}

extension ScenarioReading {
    mutating func googlePlaySettings(_ place: ScenarioPlace) -> Scenario.GooglePlaySettings {
        var settings = Scenario.GooglePlaySettings()
        guard var fields = mapping(place, "‘google_play’") else { return settings }
        // A story of the sandbox names its package; each telling has one of its own.
        _ = text(&fields, "package_name")
        settings.seed = number(&fields, "seed", in: 0...Int(Int32.max)).map { UInt64($0) }
        for place in elements(&fields, "plans") {
            guard var fields = mapping(place, "a plan") else { continue }
            let product = requiredText(&fields, "product")
            settings.plans[product] = Scenario.GooglePlaySettings.Plan(
                kind: word(&fields, "kind", of: ["auto_renewing", "prepaid", "installments"]),
                gracePeriod: text(&fields, "grace_period"),
                accountHold: text(&fields, "account_hold"),
                committedPayments: number(&fields, "committed_payments", in: 1...100),
                rentalPeriod: text(&fields, "rental_period"),
                release: instant(&fields, "release")
            )
            finish(fields)
        }
        for place in elements(&fields, "offers") {
            guard var fields = mapping(place, "an offer") else { continue }
            settings.offers.append(
                Scenario.GooglePlaySettings.Offer(
                    product: requiredText(&fields, "product"),
                    id: requiredText(&fields, "id"),
                    phases: phases(&fields)
                )
            )
            finish(fields)
        }
        finish(fields)
        return settings
    }

    private mutating func phases(
        _ fields: inout ScenarioFields
    ) -> [Scenario.GooglePlaySettings.Offer.Phase] {
        elements(&fields, "phases").compactMap { place in
            guard var fields = mapping(place, "a phase") else { return nil }
            let phase = Scenario.GooglePlaySettings.Offer.Phase(
                duration: requiredText(&fields, "duration"),
                count: number(&fields, "count", in: 1...12) ?? 1,
                priceMicros: decimal(&fields, "price").map { Int64(($0 * 1_000_000).rounded()) }
            )
            finish(fields)
            return phase
        }
    }
}
