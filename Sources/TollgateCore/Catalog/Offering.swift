extension Catalog {
    /// Products that an app shows together, in order, with the words above them.
    public struct Offering: Codable, Hashable, Sendable {
        /// What the app or a placement names; never changes.
        public var id: String
        /// The ids of the products, in the order in which they are shown.
        public var products: [String]
        /// What people read, by language: `en`, `pt-BR`, `zh-Hans`.
        public var texts: [String: Text]

        public init(id: String, products: [String], texts: [String: Text] = [:]) {
            self.id = id
            self.products = products
            self.texts = texts
        }

        /// The words of an offering in one language.
        public struct Text: Codable, Hashable, Sendable {
            public var title: String
            /// What stands below the title; `nil`: nothing.
            public var body: String?

            public init(title: String, body: String? = nil) {
                self.title = title
                self.body = body
            }
        }
    }

    /// A place of the app that shows one of several offerings.
    public struct Placement: Codable, Hashable, Sendable {
        /// What the app asks for; never changes.
        public var id: String
        /// The offerings that it may show, each with its share of the customers.
        public var variants: [Variant]

        public init(id: String, variants: [Variant]) {
            self.id = id
            self.variants = variants
        }

        /// An offering and its share.
        public struct Variant: Codable, Hashable, Sendable {
            /// The id of an offering.
            public var offering: String
            /// The share of the customers that see it, from 1 to 100.
            public var percent: Int

            public init(offering: String, percent: Int) {
                self.offering = offering
                self.percent = percent
            }
        }

        /// The offering of the customer who drew `ticket`, a number from 0 to 99; `nil` only in a
        /// placement without variants.
        ///
        /// The tickets go to the variants in order. Raising the share of the last variant by taking it
        /// from the one before leaves everybody else where they are.
        public func offering(ofTicket ticket: Int) -> String? {
            var end = 0
            for variant in variants {
                end += variant.percent
                if ticket < end { return variant.offering }
            }
            return variants.last?.offering
        }
    }

    /// The offering with this id.
    public func offering(id: String) -> Offering? {
        offerings.first { $0.id == id }
    }

    /// The placement with this id.
    public func placement(id: String) -> Placement? {
        placements.first { $0.id == id }
    }
}
