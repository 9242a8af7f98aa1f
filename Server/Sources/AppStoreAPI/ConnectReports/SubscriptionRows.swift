extension AppStore {
    /// What SUBSCRIPTION, SUBSCRIPTION_EVENT and SUBSCRIBER say of the plan that a line is about.
    public struct ReportedPlan: Hashable, Codable, Sendable {
        public var appName: String
        public var appAppleID: String
        public var subscriptionName: String
        public var subscriptionAppleID: String
        public var subscriptionGroupID: String
        /// As Apple writes it: `1 Month`, `7 Days`.
        public var standardSubscriptionDuration: String

        init(_ row: TabularReport.Row) throws(ConnectReportError) {
            appName = try row.text("App Name") ?? ""
            appAppleID = try row.required("App Apple ID")
            subscriptionName = try row.text("Subscription Name") ?? ""
            subscriptionAppleID = try row.required("Subscription Apple ID")
            subscriptionGroupID = try row.text("Subscription Group ID") ?? ""
            standardSubscriptionDuration = try row.text("Standard Subscription Duration") ?? ""
        }
    }

    /// A line of SUBSCRIPTION: how many subscriptions stood how at the end of the day.
    public struct SubscriptionRow: Hashable, Codable, Sendable {
        public var plan: ReportedPlan
        public var offerName: String?
        public var promotionalOfferID: String?
        public var customerPrice: ReportAmount
        public var customerCurrency: String?
        public var developerProceeds: ReportAmount
        public var proceedsCurrency: String?
        public var preservedPricing: String?
        public var proceedsReason: String?
        public var client: String?
        public var device: String?
        public var state: String?
        public var country: String?
        public var activeStandardPrice: Int64
        public var activeFreeTrials: Int64
        public var activePayUpFront: Int64
        public var activePayAsYouGo: Int64
        /// Free, paid up front and paid as they go: promotional offers, codes and win-backs.
        public var promotionalOffers: Int64
        public var offerCodes: Int64
        public var winBackOffers: Int64
        public var marketingOptIns: Int64
        public var billingRetry: Int64
        public var gracePeriod: Int64
        public var subscribers: Int64

        init(_ row: TabularReport.Row) throws(ConnectReportError) {
            plan = try ReportedPlan(row)
            offerName = row.textIfAny("Subscription Offer Name")
            promotionalOfferID = row.textIfAny("Promotional Offer ID")
            customerPrice = try row.amount("Customer Price")
            customerCurrency = try row.text("Customer Currency")
            developerProceeds = try row.amount("Developer Proceeds")
            proceedsCurrency = try row.text("Proceeds Currency")
            preservedPricing = row.textIfAny("Preserved Pricing")
            proceedsReason = row.textIfAny("Proceeds Reason")
            client = row.textIfAny("Client")
            device = row.textIfAny("Device")
            state = row.textIfAny("State")
            country = row.textIfAny("Country")
            activeStandardPrice = try row.count("Active Standard Price Subscriptions")
            activeFreeTrials = try row.countIfAny(
                "Active Free Trial Introductory Offer Subscriptions"
            )
            activePayUpFront = try row.countIfAny(
                "Active Pay Up Front Introductory Offer Subscriptions"
            )
            activePayAsYouGo = try row.countIfAny(
                "Active Pay As You Go Introductory Offer Subscriptions"
            )
            promotionalOffers = try Self.sum(row, "Promotional Offer Subscriptions")
            offerCodes = try Self.sum(row, "Offer Code Subscriptions")
            winBackOffers = try Self.sum(row, "Win-Back Offers")
            marketingOptIns = try row.countIfAny("Marketing Opt-Ins")
            billingRetry = try row.countIfAny("Billing Retry")
            gracePeriod = try row.countIfAny("Grace Period")
            subscribers = try row.countIfAny("Subscribers")
        }

        /// The three ways to pay an offer, with and without `Active` before them.
        private static func sum(
            _ row: TabularReport.Row,
            _ offer: String
        ) throws(ConnectReportError) -> Int64 {
            var sum: Int64 = 0
            for way in ["Free Trial", "Pay Up Front", "Pay As You Go"] {
                sum += try row.countIfAny("\(way) \(offer)")
                sum += try row.countIfAny("Active \(way) \(offer)")
            }
            return sum
        }
    }

    /// A line of SUBSCRIPTION_EVENT: how often something happened to a plan on a day.
    public struct SubscriptionEventRow: Hashable, Codable, Sendable {
        public var eventDate: ReportDay
        /// What happened: `Subscribe`, `Renew`, `Cancel`.
        public var event: String
        public var plan: ReportedPlan
        public var offerType: String?
        public var offerDuration: String?
        public var offerName: String?
        public var promotionalOfferID: String?
        public var preservedPricing: String?
        public var proceedsReason: String?
        public var consecutivePaidPeriods: Int64
        public var originalStartDate: ReportDay?
        public var device: String?
        public var client: String?
        public var state: String?
        public var country: String?
        public var previousSubscriptionName: String?
        public var previousSubscriptionAppleID: String?
        public var daysBeforeCanceling: Int64
        public var cancellationReason: String?
        public var daysCanceled: Int64
        public var quantity: Int64
        public var paidServiceDaysRecovered: Int64

        init(_ row: TabularReport.Row) throws(ConnectReportError) {
            eventDate = try row.day("Event Date")
            event = try row.required("Event")
            plan = try ReportedPlan(row)
            offerType = row.textIfAny("Subscription Offer Type")
            offerDuration = row.textIfAny("Subscription Offer Duration")
            offerName = row.textIfAny("Subscription Offer Name")
            promotionalOfferID = row.textIfAny("Promotional Offer ID")
            preservedPricing = row.textIfAny("Preserved Pricing")
            proceedsReason = row.textIfAny("Proceeds Reason")
            consecutivePaidPeriods = try row.countIfAny("Consecutive Paid Periods")
            originalStartDate = try row.dayIfAny("Original Start Date")
            device = row.textIfAny("Device")
            client = row.textIfAny("Client")
            state = row.textIfAny("State")
            country = row.textIfAny("Country")
            previousSubscriptionName = row.textIfAny("Previous Subscription Name")
            previousSubscriptionAppleID = row.textIfAny("Previous Subscription Apple ID")
            daysBeforeCanceling = try row.countIfAny("Days Before Canceling")
            cancellationReason = row.textIfAny("Cancellation Reason")
            daysCanceled = try row.countIfAny("Days Canceled")
            quantity = try row.count("Quantity")
            paidServiceDaysRecovered = try row.countIfAny("Paid Service Days Recovered")
        }
    }

    /// A line of SUBSCRIBER: one payment or refund of one subscriber, under a number of Apple's own.
    public struct SubscriberRow: Hashable, Codable, Sendable {
        public var eventDate: ReportDay
        public var plan: ReportedPlan
        public var offerName: String?
        public var promotionalOfferID: String?
        public var offerType: String?
        public var offerDuration: String?
        public var customerPrice: ReportAmount
        public var customerCurrency: String?
        public var developerProceeds: ReportAmount
        public var proceedsCurrency: String?
        public var preservedPricing: String?
        public var proceedsReason: String?
        public var client: String?
        public var device: String?
        public var country: String?
        public var subscriberID: String
        public var isRefund: Bool
        public var purchaseDate: ReportDay?
        public var units: Int64

        init(_ row: TabularReport.Row) throws(ConnectReportError) {
            eventDate = try row.day("Event Date")
            plan = try ReportedPlan(row)
            offerName = row.textIfAny("Subscription Offer Name")
            promotionalOfferID = row.textIfAny("Promotional Offer ID")
            offerType = row.textIfAny("Subscription Offer Type")
            offerDuration = row.textIfAny("Subscription Offer Duration")
            customerPrice = try row.amount("Customer Price")
            customerCurrency = try row.text("Customer Currency")
            developerProceeds = try row.amount("Developer Proceeds")
            proceedsCurrency = try row.text("Proceeds Currency")
            preservedPricing = row.textIfAny("Preserved Pricing")
            proceedsReason = row.textIfAny("Proceeds Reason")
            client = row.textIfAny("Client")
            device = row.textIfAny("Device")
            country = row.textIfAny("Country")
            subscriberID = try row.required("Subscriber ID")
            isRefund = row.textIfAny("Refund")?.lowercased() == "yes"
            purchaseDate = try row.dayIfAny("Purchase Date")
            units = try row.count("Units")
        }
    }
}
