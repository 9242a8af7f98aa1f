public import StrictJSON

extension Stripe {
    /// Something that happened, with the object as it was then.
    ///
    /// Events come at least once and in any order, and `created` counts whole seconds: an event is
    /// deduplicated by its id and never the last word on an object.
    public struct Event: IdentifiedObject {
        public static let objectName = "event"

        public let id: String
        /// What happened: `invoice.paid`.
        public let type: Kind
        /// The version that ``object`` is rendered in: the endpoint's.
        ///
        /// Nil for very old events.
        public let apiVersion: String?
        /// When it happened, in UNIX seconds; in frozen time for objects with a test clock.
        public let created: Int64
        public let livemode: Bool
        /// The object as it was then.
        public let object: JSON
        public let json: JSON

        /// Reads an event from the bytes of a webhook, whose signature was verified before.
        public init(bytes: [UInt8]) throws(DecodingError) {
            let json: JSON
            do {
                json = try JSON(bytes)
            } catch {
                throw DecodingError(object: "event", field: "", expected: "JSON: \(error)")
            }
            try self.init(json)
        }

        public init(_ json: JSON) throws(DecodingError) {
            if json["object"]?.string == "v2.core.event" {
                throw DecodingError(
                    object: "event",
                    field: "object",
                    expected: "‘event’; set the endpoint to snapshot events, not thin ones"
                )
            }
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            type = try fields.word("type")
            apiVersion = try fields.optionalString("api_version")
            created = try fields.integer("created")
            livemode = try fields.bool("livemode")
            guard let data = try fields.optionalFields("data"), let object = data.value("object"),
                object.kind == .object
            else { throw fields.error("data", "an object with an ‘object’") }
            self.object = object
            self.json = json
        }

        /// Whether the object is rendered in the version whose shapes we read.
        ///
        /// If not, the event is a hint that the object should be read (`RULES.md` §4).
        public var isInPinnedVersion: Bool { apiVersion == Stripe.apiVersion }

        /// The id of the object, if it has one.
        public var objectID: String? { object["id"]?.string }

        /// The kind of the object: `checkout.session`.
        public var objectName: String? { object["object"]?.string }
    }
}

extension Stripe.Event {
    /// What happened; the constants are the kinds that are told apart here.
    public struct Kind: Stripe.OpenEnum {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let checkoutSessionAsyncPaymentFailed = Self(
            rawValue: "checkout.session.async_payment_failed"
        )
        public static let customerDeleted = Self(rawValue: "customer.deleted")
        public static let subscriptionUpdated = Self(rawValue: "customer.subscription.updated")
        public static let refundCreated = Self(rawValue: "refund.created")
    }

    /// The object of an event, read.
    public enum Subject: Hashable, Sendable {
        case customer(Stripe.Customer)
        case checkoutSession(Stripe.CheckoutSession)
        case subscription(Stripe.Subscription)
        case invoice(Stripe.Invoice)
        case paymentIntent(Stripe.PaymentIntent)
        case refund(Stripe.Refund)
        case dispute(Stripe.Dispute)
        /// Something that we do not read, by its kind; previews of invoices, and what is left of an
        /// object after its deletion, are among it.
        case other(String?)
    }

    /// Reads the object of this event.
    public func subject() throws(Stripe.DecodingError) -> Subject {
        try Subject(object)
    }
}

extension Stripe.Event.Subject {
    /// Reads any object of Stripe's by what it says it is.
    public init(_ json: JSON) throws(Stripe.DecodingError) {
        let name = json["object"]?.string
        switch name {
        case Stripe.Customer.objectName: self = .customer(try .init(json))
        case _ where json["deleted"]?.bool == true: self = .other(name)
        case Stripe.CheckoutSession.objectName: self = .checkoutSession(try .init(json))
        case Stripe.Subscription.objectName: self = .subscription(try .init(json))
        case Stripe.Invoice.objectName where json["id"]?.string != nil:
            self = .invoice(try .init(json))
        case Stripe.PaymentIntent.objectName: self = .paymentIntent(try .init(json))
        case Stripe.Refund.objectName: self = .refund(try .init(json))
        case Stripe.Dispute.objectName: self = .dispute(try .init(json))
        default: self = .other(name)
        }
    }
}
