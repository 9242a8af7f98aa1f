extension SimulatedAppStore {
    /// Something the app sells, as it would be set up in App Store Connect.
    public struct Product: Codable, Hashable, Sendable {
        /// Apple's product types, as spelled in signed transactions.
        public enum Kind: String, Codable, Sendable, CaseIterable {
            case autoRenewable = "Auto-Renewable Subscription"
            case nonConsumable = "Non-Consumable"
            case consumable = "Consumable"
            case nonRenewing = "Non-Renewing Subscription"

            /// The spelling in the history endpoint's `productType` filter.
            var filterName: String {
                switch self {
                case .autoRenewable: "AUTO_RENEWABLE"
                case .nonConsumable: "NON_CONSUMABLE"
                case .consumable: "CONSUMABLE"
                case .nonRenewing: "NON_RENEWABLE"
                }
            }
        }

        /// Who hosts the invitations to the seats of a multiseat purchase.
        public enum InvitationManagement: String, Codable, Sendable {
            case apple = "APPLE"
            case developer = "DEVELOPER"
        }

        /// Milliunits: more than anything costs, little enough for sums of many.
        static let prices: ClosedRange<Int64> = 0...1_000_000_000_000

        public var id: String
        public var kind: Kind
        /// In milliunits of `currency`.
        public var price: Int64
        /// ISO 4217.
        public var currency: String
        /// Auto-renewable only.
        public var period: Period?
        /// Auto-renewable only.
        public var subscriptionGroup: String?
        /// The rank in its group; 1 is the highest level of service.
        public var level: Int?
        /// Whether the buyer's family gets it too.
        public var isFamilyShareable: Bool
        /// Whether it is sold by the seat; auto-renewable only.
        public var isMultiSeat: Bool
        /// Who hosts the invitations to its seats; Apple where it is `nil`.
        public var invitations: InvitationManagement?
        /// Offered by itself to whoever never had one in this group.
        public var introductoryOffer: Offer?
        /// A monthly plan with a commitment: to how many billing periods the customer is bound, 2 to
        /// 12; `nil` binds to none.
        public var commitmentPeriods: Int?
        /// Promotional, code and win-back offers, redeemed by identifier.
        public var offers: [Offer]
        /// When false, subscriptions to it end at their next renewal.
        public var isForSale: Bool

        enum CodingKeys: String, CodingKey {
            case id = "product_id"
            case kind = "type"
            case price, currency, period, level, offers
            case subscriptionGroup = "subscription_group_id"
            case isFamilyShareable = "family_shareable"
            case isMultiSeat = "multiseat"
            case invitations = "invitation_management"
            case introductoryOffer = "introductory_offer"
            case commitmentPeriods = "commitment_periods"
            case isForSale = "for_sale"
        }

        public init(
            id: String,
            kind: Kind,
            price: Int64,
            currency: String = "USD",
            period: Period? = nil,
            subscriptionGroup: String? = nil,
            level: Int? = nil,
            isFamilyShareable: Bool = false,
            isMultiSeat: Bool = false,
            introductoryOffer: Offer? = nil,
            commitmentPeriods: Int? = nil,
            offers: [Offer] = []
        ) {
            self.id = id
            self.kind = kind
            self.price = price
            self.currency = currency
            self.period = period
            self.subscriptionGroup = subscriptionGroup
            self.level = level
            self.isFamilyShareable = isFamilyShareable
            self.isMultiSeat = isMultiSeat
            self.introductoryOffer = introductoryOffer
            self.commitmentPeriods = commitmentPeriods
            self.offers = offers
            isForSale = true
        }

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(String.self, forKey: .id)
            kind = try values.decode(Kind.self, forKey: .kind)
            price = try values.decode(Int64.self, forKey: .price)
            currency = try values.decodeIfPresent(String.self, forKey: .currency) ?? "USD"
            period = try values.decodeIfPresent(Period.self, forKey: .period)
            subscriptionGroup = try values.decodeIfPresent(String.self, forKey: .subscriptionGroup)
            level = try values.decodeIfPresent(Int.self, forKey: .level)
            isFamilyShareable =
                try values.decodeIfPresent(Bool.self, forKey: .isFamilyShareable) ?? false
            isMultiSeat = try values.decodeIfPresent(Bool.self, forKey: .isMultiSeat) ?? false
            invitations = try values.decodeIfPresent(
                InvitationManagement.self,
                forKey: .invitations
            )
            introductoryOffer = try values.decodeIfPresent(Offer.self, forKey: .introductoryOffer)
            commitmentPeriods = try values.decodeIfPresent(Int.self, forKey: .commitmentPeriods)
            offers = try values.decodeIfPresent([Offer].self, forKey: .offers) ?? []
            isForSale = try values.decodeIfPresent(Bool.self, forKey: .isForSale) ?? true
            if kind == .autoRenewable, period == nil || subscriptionGroup == nil {
                throw DecodingError.dataCorruptedError(
                    forKey: .period,
                    in: values,
                    debugDescription:
                        "An auto-renewable subscription needs period and subscription_group_id."
                )
            }
            guard Product.prices.contains(price) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .price,
                    in: values,
                    debugDescription: "price is from 0 to 1,000,000,000,000 milliunits."
                )
            }
            if let periods = commitmentPeriods,
                kind != .autoRenewable || !(2...12).contains(periods)
            {
                throw DecodingError.dataCorruptedError(
                    forKey: .commitmentPeriods,
                    in: values,
                    debugDescription:
                        "commitment_periods is from 2 to 12, of an auto-renewable subscription."
                )
            }
        }
    }

    /// A reduced price for the first periods, in Apple's terms.
    public struct Offer: Codable, Hashable, Sendable {
        /// How an offer reaches the customer; the numbers are those of `offerType`.
        public enum Kind: Int, Codable, Sendable {
            case introductory = 1
            case promotional = 2
            case offerCode = 3
            case winBack = 4
        }

        /// How an offer is paid, as spelled in `offerDiscountType`.
        public enum Discount: String, Codable, Sendable {
            case freeTrial = "FREE_TRIAL"
            case payAsYouGo = "PAY_AS_YOU_GO"
            case payUpFront = "PAY_UP_FRONT"
        }

        public var kind: Kind
        /// `offerIdentifier`; introductory offers have none.
        public var id: String?
        public var discount: Discount
        /// What `offerPeriod` states: one trial, one prepaid span, or one of several cheap periods.
        public var period: Period
        /// How many periods pay as you go lasts.
        public var count: Int
        /// In milliunits, per charge.
        public var price: Int64

        enum CodingKeys: String, CodingKey {
            case kind = "offer_type"
            case id = "offer_id"
            case discount = "discount_type"
            case period, count, price
        }

        public init(
            kind: Kind,
            id: String? = nil,
            discount: Discount,
            period: Period,
            count: Int = 1,
            price: Int64 = 0
        ) {
            self.kind = kind
            self.id = id
            self.discount = discount
            self.period = period
            self.count = count
            self.price = price
        }

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            kind = try values.decodeIfPresent(Kind.self, forKey: .kind) ?? .introductory
            id = try values.decodeIfPresent(String.self, forKey: .id)
            discount = try values.decode(Discount.self, forKey: .discount)
            period = try values.decode(Period.self, forKey: .period)
            count = max(1, try values.decodeIfPresent(Int.self, forKey: .count) ?? 1)
            price = try values.decodeIfPresent(Int64.self, forKey: .price) ?? 0
            guard Product.prices.contains(price), count <= 1_000 else {
                throw DecodingError.dataCorruptedError(
                    forKey: .price,
                    in: values,
                    debugDescription:
                        "price is from 0 to 1,000,000,000,000 milliunits, count from 1 to 1,000."
                )
            }
        }
    }
}
