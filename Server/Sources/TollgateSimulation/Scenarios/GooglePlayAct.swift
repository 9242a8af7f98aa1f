/// An act of a buyer, a bank, Google, the team or the app in Google Play, as scenario files name it.
///
/// The acts are those of `tollgate sandbox google-play act`, with underscores, so that what the
/// sandbox writes down can be played; `GooglePlayAct.forms` has a few more.
public struct GooglePlayAct: Hashable, Sendable {
    /// `refund_pieces`, say.
    public var name: String
    public var which = Which()
    /// By the keys of the control API.
    public var values: [String: Value] = [:]
    /// `true` where it must be refused.
    public var isRefused = false

    /// An act that does not happen.
    static let nothing = GooglePlayAct(name: "")

    /// A choice among the purchases of a customer.
    public struct Which: Hashable, Sendable {
        /// A product of the catalog; `nil`: any.
        public var product: String?
        /// 1 is the first one; `nil`: the latest.
        public var number: Int?
        /// The number of the order of the purchase, from 1; `nil`: the latest.
        public var order: Int?
        /// The owner of the purchase; `nil`: the customer.
        public var owner: String?
    }

    /// The value of a key.
    public enum Value: Hashable, Sendable {
        case text(String)
        case texts([String])
        case number(Int64)
        case share(Double)
        case truth(Bool)
    }

    /// The object of an act.
    enum Subject: Hashable, Sendable {
        case account
        case newPurchase
        /// A purchase of either kind.
        case purchase
        case subscription
        case oneTime
        case order
        case product
        case nothing
    }

    /// The type of a key's value.
    enum Kind: Hashable, Sendable {
        case text
        case words([String])
        case texts
        case number
        case share
        case truth
        case instant
    }

    /// The object and the keys of an act.
    struct Form: Sendable {
        var subject: Subject
        var keys: [(String, Kind)] = []
    }

    static let replacementModes = [
        "WITH_TIME_PRORATION", "CHARGE_PRORATED_PRICE", "WITHOUT_PRORATION", "CHARGE_FULL_PRICE",
        "DEFERRED", "KEEP_EXISTING",
    ]

    private static let plan: [(String, Kind)] = [
        ("base_plan_id", .text), ("offer_id", .text), ("add_ons", .texts),
        ("add_on_offer_id", .text), ("replacement_mode", .words(replacementModes)),
    ]

    /// Every act, by its name.
    static let forms = [bought, running, decided, wrong].reduce(into: [String: Form]()) {
        $0.merge($1) { first, _ in first }
    }

    /// Acts of buyers that begin something, and of the app.
    private static let bought: [String: Form] = [
        "set_account": Form(
            subject: .account,
            keys: [
                (
                    "payment",
                    .words(["approves", "declines", "slowly_approves", "slowly_declines", "cash"])
                ), ("region", .text), ("tester", .truth), ("obfuscated_account_id", .text),
                ("obfuscated_profile_id", .text),
            ]
        ),
        "buy": Form(
            subject: .newPurchase,
            keys: plan + [
                ("promotion", .text), ("quantity", .number), ("purchase_option_id", .text),
                ("bundle", .texts), ("rewarded", .truth), ("obfuscated_account_id", .text),
                ("obfuscated_profile_id", .text),
            ]
        ),
        "pay": Form(subject: .purchase),
        "let_pending_end": Form(subject: .purchase),
        "acknowledge": Form(subject: .purchase),
        "consume": Form(subject: .oneTime),
        "post": Form(
            subject: .purchase,
            keys: [("mode", .words(["purchased", "restored", "observed"]))]
        ),
    ]

    /// Acts of buyers on their subscriptions.
    private static let running: [String: Form] = [
        "change": Form(subject: .subscription, keys: plan),
        "top_up": Form(subject: .subscription),
        "resubscribe": Form(subject: .subscription),
        "cancel": Form(subject: .subscription, keys: [("reason", .text), ("words", .text)]),
        "restore": Form(subject: .subscription),
        "pause": Form(subject: .subscription, keys: [("length", .text)]),
        "unpause": Form(subject: .subscription),
        "resume": Form(subject: .subscription),
        "consent": Form(subject: .subscription),
    ]

    /// Acts of the team, of banks and of Google.
    private static let decided: [String: Form] = [
        "price": Form(
            subject: .product,
            keys: [
                ("base_plan_id", .text), ("price_micros", .number), ("region", .text),
                ("mode", .words(["PRICE_DECREASE", "PRICE_INCREASE", "OPT_OUT_PRICE_INCREASE"])),
                ("notice_days", .number), ("new_subscribers_only", .truth),
            ]
        ),
        "refund": Form(
            subject: .order,
            keys: [
                ("amount_micros", .number), ("revoke", .truth), ("reason", .number),
                ("source", .number),
            ]
        ),
        "refund_pieces": Form(
            subject: .oneTime,
            keys: [("quantity", .number), ("reason", .number)]
        ),
        "revoke": Form(subject: .purchase, keys: [("reason", .number), ("source", .number)]),
        "release": Form(subject: .oneTime),
        "move_release": Form(
            subject: .product,
            keys: [
                ("purchase_option_id", .text), ("offer_id", .text), ("release_time", .instant),
            ]
        ),
        "defer": Form(subject: .subscription, keys: [("days", .number)]),
        "revoke_prorated": Form(subject: .subscription),
        "revoke_item": Form(subject: .subscription, keys: [("item", .text)]),
        "charge_back": Form(subject: .order),
        "review_refund": Form(subject: .order),
        "step_up": Form(subject: .subscription),
    ]

    /// Faults on the way, and messages about nothing.
    private static let wrong: [String: Form] = [
        "tell": Form(subject: .purchase, keys: [("type", .number)]),
        "publish": Form(subject: .nothing, keys: [("data", .text)]),
        "push": Form(
            subject: .nothing,
            keys: [("data", .text), ("audience", .text), ("email", .text), ("age", .number)]
        ),
        "post_unknown": Form(
            subject: .nothing,
            keys: [("count", .number), ("at_most", .number)]
        ),
        "test_notification": Form(subject: .nothing),
        "silence": Form(subject: .nothing),
        "speak": Form(subject: .nothing),
        "faults": Form(
            subject: .nothing,
            keys: [
                ("lost", .share), ("doubled", .share), ("late", .share),
                ("longest_delay", .number), ("drop", .share), ("duplicate", .share),
                ("slow", .share), ("api_errors", .share), ("api_slow", .share),
                ("api_status", .number), ("api_failures", .number), ("outage_start", .instant),
                ("outage_end", .instant),
            ]
        ),
        "behaviour": Form(
            subject: .nothing,
            keys: [
                ("stale_reads", .number), ("token_days", .number),
                ("sends_one_time_notifications", .truth),
            ]
        ),
    ]

    /// The names of the acts.
    static let words = forms.keys.sorted()

    /// The products of the catalog that it names.
    ///
    /// Lists that the sandbox wrote have Google's ids.
    var products: [String] { which.product.map { [$0] } ?? [] }
}

extension ScenarioReading {
    /// Reads the act of a step whose `google_play` is `name`.
    mutating func googlePlayAct(
        _ name: String,
        _ fields: inout ScenarioFields
    ) -> GooglePlayAct? {
        guard let form = GooglePlayAct.forms[name] else { return nil }
        var act = GooglePlayAct(name: name)
        switch form.subject {
        case .newPurchase, .product:
            act.which.product = requiredText(&fields, "product")
        case .subscription where name == "change":
            act.which.product = requiredText(&fields, "product")
            act.which.number = number(&fields, "purchase", in: 1...1000)
        case .purchase, .subscription, .oneTime, .order:
            act.which.product = text(&fields, "product")
            act.which.number = number(&fields, "purchase", in: 1...1000)
        case .account, .nothing: break
        }
        if form.subject == .order { act.which.order = number(&fields, "order", in: 1...1000) }
        if name == "post" { act.which.owner = text(&fields, "of") }
        for (key, kind) in form.keys {
            if let value = value(&fields, key, kind) { act.values[key] = value }
        }
        act.isRefused = word(&fields, "outcome", of: ["completed", "refused"]) == "refused"
        return act
    }

    private mutating func value(
        _ fields: inout ScenarioFields,
        _ key: String,
        _ kind: GooglePlayAct.Kind
    ) -> GooglePlayAct.Value? {
        switch kind {
        case .text: text(&fields, key).map { .text($0) }
        case .words(let words): word(&fields, key, of: words).map { .text($0) }
        case .texts: texts(&fields, key).map { .texts($0) }
        case .number: number(&fields, key, in: 0...1_000_000_000_000_000).map { .number(Int64($0)) }
        case .share: decimal(&fields, key).map { .share($0) }
        case .truth: truth(&fields, key).map { .truth($0) }
        case .instant: instant(&fields, key).map { .number($0) }
        }
    }
}
