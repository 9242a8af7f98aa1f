internal import ScenarioWriting

/// What a customer, a bank or the team does at Stripe, as scenario files name it.
public enum StripeAct: Hashable, Sendable {
    /// A Checkout Session is opened and paid for.
    case checkout(Order, card: String, passesChallenge: Bool, outcome: String)
    /// A Checkout Session is opened; nobody pays yet.
    case openCheckout(Order)
    case payCheckout(card: String, passesChallenge: Bool, outcome: String)
    /// A subscription is made by the API, without a page.
    case subscribe(Order, card: String?, paymentBehavior: String?, outcome: String)
    /// The latest invoice is paid: by card, or outside of Stripe.
    case payInvoice(card: String?, outcome: String, outOfBand: Bool = false)
    /// The customer confirms the payment of the latest invoice in the app.
    case confirmPayment(card: String, passesChallenge: Bool, outcome: String)
    case voidInvoice
    /// The latest invoice is written off.
    case markUncollectible
    case card(String)
    case removeCard
    case cancel(When)
    /// Takes back that it ends.
    case resume
    case change(to: String, proration: String)
    case quantity(Int, proration: String)
    /// Another product beside the plan, on the same subscription.
    case addItem(String, proration: String)
    case pause
    case unpause
    /// Invoices are not collected from now on but void, say, or they are again.
    case pauseCollection(Bool, behavior: String = "void")
    /// Invoices to come are sent, to be paid within so many days; `nil`: they are charged.
    case collectionMethod(daysUntilDue: Int?)
    case removeDiscount
    /// The subscription follows a schedule from its present period on.
    case schedule([Phase], end: String)
    case endTrial
    /// The money that a Checkout page holds is taken, or let go.
    case capture, release
    /// An invoice that is no plan's is sent.
    case invoice(Order)
    /// A part of the newest open invoice is paid, by a payment of its own.
    case payPart(amount: Int, card: String)
    /// In minor units; `nil`: what is left of it. Of the charge with a number, from 1; `nil`: the latest.
    case refund(amount: Int?, charge: Int? = nil)
    case dispute
    case closeDispute(isWon: Bool)
    /// The newest dispute, an inquiry, becomes a chargeback.
    case escalateDispute
    case deleteCustomer
    /// The webhook events of this moment are sent once more.
    case resend(type: String)
    case silence
    case speak

    /// Whether the customer orders something.
    var isOrder: Bool {
        switch self {
        case .checkout, .openCheckout, .subscribe, .invoice: true
        default: false
        }
    }

    /// When a subscription is to end.
    public enum When: Hashable, Sendable {
        case now
        case periodEnd
        /// UNIX milliseconds.
        case at(Int64)
    }

    /// A part of a schedule.
    public struct Phase: Hashable, Sendable {
        public var product: String
        /// UNIX milliseconds.
        public var until: Int64
    }

    /// What is ordered.
    public struct Order: Hashable, Sendable {
        public var product: String
        public var quantity = 1
        public var trialDays: Int?
        /// What becomes of a trial that nobody can pay for: `cancel`, `pause`, `create_invoice`.
        public var missingPaymentMethod: String?
        /// UNIX milliseconds.
        public var cancelAt: Int64?
        /// Products that are bought once, beside it.
        public var with: [String] = []
        /// Products that the buyer adds on the Checkout page, one of each.
        public var adds: [String] = []
        /// `true`: the page's metadata name what it sells, as on pages that this server opens.
        public var namesLines = false
        /// Whether the Checkout page only holds the money.
        public var holds = false
        /// A coupon, in percent; only on the Checkout page.
        public var percentOff: Int?
        /// Whether the coupon is for every invoice, not for the first only.
        public var isOffForever = false
        /// Whether a Checkout page that sells no plan makes an invoice too.
        public var makesInvoice = false
        /// Its invoices are sent, to be paid within so many days; `nil`: they are charged.
        public var daysUntilDue: Int?
    }

    /// How the acts are written.
    static let words = [
        "checkout", "open_checkout", "pay_checkout", "subscribe", "pay_invoice",
        "confirm_payment", "void_invoice", "mark_uncollectible", "card", "remove_card", "cancel",
        "resume", "change", "quantity", "add_item", "pause", "unpause", "pause_collection",
        "resume_collection", "send_invoice", "charge_automatically", "remove_discount", "schedule",
        "end_trial", "capture", "release", "invoice", "pay_part", "refund", "dispute",
        "close_dispute", "escalate_dispute", "delete_customer",
        "resend", "silence", "speak",
    ]

    static let outcomes = ["completed", "declined", "challenged", "incomplete"]
}

extension ScenarioReading {
    /// Reads the act of a step whose `stripe` is `word`.
    mutating func stripeAct(_ name: String, _ fields: inout ScenarioFields) -> StripeAct? {
        switch name {
        case "checkout":
            .checkout(
                order(&fields),
                card: card(&fields) ?? StripeAct.standardCard,
                passesChallenge: passesChallenge(&fields),
                outcome: outcome(&fields)
            )
        case "open_checkout": .openCheckout(order(&fields))
        case "pay_checkout":
            .payCheckout(
                card: card(&fields) ?? StripeAct.standardCard,
                passesChallenge: passesChallenge(&fields),
                outcome: outcome(&fields)
            )
        case "subscribe":
            .subscribe(
                order(&fields),
                card: card(&fields),
                paymentBehavior: word(
                    &fields,
                    "payment_behavior",
                    of: ["allow_incomplete", "default_incomplete", "error_if_incomplete"]
                ),
                outcome: outcome(&fields)
            )
        case "pay_invoice":
            .payInvoice(
                card: card(&fields),
                outcome: outcome(&fields),
                outOfBand: truth(&fields, "out_of_band") ?? false
            )
        case "confirm_payment":
            .confirmPayment(
                card: card(&fields) ?? StripeAct.standardCard,
                passesChallenge: passesChallenge(&fields),
                outcome: outcome(&fields)
            )
        default: laterAct(name, &fields)
        }
    }

    /// Of a plan that is there: what becomes of it, and of what was paid for it.
    private mutating func laterAct(_ name: String, _ fields: inout ScenarioFields) -> StripeAct? {
        switch name {
        case "void_invoice": .voidInvoice
        case "mark_uncollectible": .markUncollectible
        case "card": .card(card(&fields) ?? StripeAct.standardCard)
        case "remove_card": .removeCard
        case "cancel": .cancel(when(&fields))
        case "resume": .resume
        case "change":
            .change(to: requiredText(&fields, "to"), proration: proration(&fields))
        case "quantity":
            .quantity(number(&fields, "quantity", in: 0...1000) ?? 1, proration: proration(&fields))
        case "add_item":
            .addItem(requiredText(&fields, "product"), proration: proration(&fields))
        case "pause": .pause
        case "unpause": .unpause
        case "pause_collection":
            .pauseCollection(
                true,
                behavior: word(
                    &fields,
                    "behavior",
                    of: ["void", "keep_as_draft", "mark_uncollectible"]
                ) ?? "void"
            )
        case "resume_collection": .pauseCollection(false)
        case "send_invoice":
            .collectionMethod(daysUntilDue: number(&fields, "days_until_due", in: 0...365) ?? 30)
        case "charge_automatically": .collectionMethod(daysUntilDue: nil)
        case "remove_discount": .removeDiscount
        case "schedule":
            .schedule(
                phases(&fields),
                end: word(&fields, "end_behavior", of: ["release", "cancel"]) ?? "release"
            )
        case "end_trial": .endTrial
        case "capture": .capture
        case "release": .release
        case "invoice": .invoice(order(&fields))
        case "pay_part":
            .payPart(
                amount: number(&fields, "amount", in: 1...99_999_999) ?? 0,
                card: card(&fields) ?? StripeAct.standardCard
            )
        case "refund":
            .refund(
                amount: number(&fields, "amount", in: 1...99_999_999),
                charge: number(&fields, "charge", in: 1...100)
            )
        case "dispute": .dispute
        case "close_dispute":
            .closeDispute(isWon: word(&fields, "outcome", of: ["won", "lost"]) == "won")
        case "escalate_dispute": .escalateDispute
        case "delete_customer": .deleteCustomer
        case "resend": .resend(type: requiredText(&fields, "type"))
        case "silence": .silence
        case "speak": .speak
        default: nil
        }
    }

    private mutating func order(_ fields: inout ScenarioFields) -> StripeAct.Order {
        StripeAct.Order(
            product: requiredText(&fields, "product"),
            quantity: number(&fields, "quantity", in: 1...1000) ?? 1,
            trialDays: number(&fields, "trial_days", in: 1...730),
            missingPaymentMethod: word(
                &fields,
                "missing_payment_method",
                of: ["cancel", "pause", "create_invoice"]
            ),
            cancelAt: instant(&fields, "cancel_at"),
            with: texts(&fields, "with") ?? [],
            adds: texts(&fields, "adds") ?? [],
            namesLines: truth(&fields, "names_lines") ?? false,
            holds: truth(&fields, "hold") ?? false,
            percentOff: number(&fields, "percent_off", in: 1...100),
            isOffForever: word(&fields, "coupon_duration", of: ["once", "forever"]) == "forever",
            makesInvoice: truth(&fields, "invoice") ?? false,
            daysUntilDue: number(&fields, "days_until_due", in: 0...365)
        )
    }

    private mutating func phases(_ fields: inout ScenarioFields) -> [StripeAct.Phase] {
        elements(&fields, "phases").compactMap { place in
            guard var fields = mapping(place, "a phase") else { return nil }
            let product = requiredText(&fields, "product")
            let until = instant(&fields, "until")
            finish(fields)
            if until == nil { report(place, "a phase has no ‘until’; add when it ends") }
            return until.map { StripeAct.Phase(product: product, until: $0) }
        }
    }

    private mutating func card(_ fields: inout ScenarioFields) -> String? {
        word(&fields, "card", of: ScenarioWriter.cards.keys.sorted()).flatMap {
            ScenarioWriter.cards[$0]
        }
    }

    private mutating func passesChallenge(_ fields: inout ScenarioFields) -> Bool {
        word(&fields, "challenge", of: ["passed", "failed"]) != "failed"
    }

    private mutating func outcome(_ fields: inout ScenarioFields) -> String {
        word(&fields, "outcome", of: StripeAct.outcomes) ?? "completed"
    }

    private mutating func proration(_ fields: inout ScenarioFields) -> String {
        word(&fields, "proration", of: ["create_prorations", "always_invoice", "none"])
            ?? "create_prorations"
    }

    private mutating func when(_ fields: inout ScenarioFields) -> StripeAct.When {
        guard let place = take(&fields, "when"), let text = scalar(place, "‘when’") else {
            return .now
        }
        switch text {
        case "now": return .now
        case "period_end": return .periodEnd
        default: return instant(text, place).map { .at($0.milliseconds) } ?? .now
        }
    }
}

extension StripeAct {
    static let standardCard = "pm_card_visa"
}
