/// What a customer, a bank or Apple does in the App Store, as scenario files name it.
public enum AppStoreAct: Hashable, Sendable {
    case buy(product: String, quantity: Int, offer: String?)
    case cancel(Which)
    case resume(Which)
    case change(to: String)
    case redeem(offer: String, product: String?)
    case consent(Which)
    case failBilling
    case recoverBilling
    /// In thousandths of a percent; `nil`: all of it.
    case refund(Which, share: Int?)
    /// Some seats of a multiseat purchase.
    case refundSeats(Which, seats: Int)
    case addSeats(Int)
    /// The customer is assigned a seat of somebody's subscription.
    case assignSeat(of: String)
    case switchToBundle(Which)
    case migrate(Which)
    case reverseRefund(Which)
    case requestRefund(Which, reason: String)
    case declineRefund(Which)
    case extend(days: Int)
    case extendAll(product: String, days: Int)
    /// In milliunits.
    case raisePrice(product: String, price: Int64, asksConsent: Bool)
    case withdraw(product: String)
    case joinFamily(String?)
    case revokeShare
    case setToken
    /// The app posts the newest transaction of this customer's Apple account.
    case post(Which, mode: String)
    /// The app posts the legacy receipt of this customer's Apple account; with `of` that of one
    /// transaction, as iOS 6 had it.
    case postReceipt(of: Which? = nil, mode: String)
    /// The app restores on a device that is signed in to the Apple account `of` somebody.
    case restore(of: String?)
    case testNotification
    /// Apple ends it with its period, for a reason without a name.
    case end(Which)
    /// A notification of any type, about a purchase to which nothing happens.
    case tell(type: String, subtype: String?, Which)
    /// From now on notifications get lost on the way.
    case silence
    /// From now on they arrive.
    case speak
    /// What goes wrong on the way from now on, by the names of the sandbox's control API.
    case faults(Faults)

    /// What goes wrong: shares from 0 to 1, and a span in which nothing arrives.
    public struct Faults: Hashable, Sendable {
        /// By the names of the sandbox's control API.
        public var values: [String: Double] = [:]
        /// UNIX milliseconds.
        public var outageStart: Int64?
        public var outageEnd: Int64?

        public init() {}
    }

    /// Which transaction is meant, of those of a customer.
    public struct Which: Hashable, Sendable {
        /// A product of the catalog; `nil`: any.
        public var product: String?
        /// 1 is the first one; `nil`: the latest.
        public var number: Int?

        public init(product: String? = nil, number: Int? = nil) {
            (self.product, self.number) = (product, number)
        }
    }

    /// How the acts are written.
    static let words = [
        "buy", "cancel", "resume", "change", "redeem", "consent", "fail_billing",
        "recover_billing", "refund", "reverse_refund", "request_refund", "decline_refund",
        "extend", "extend_all", "raise_price", "withdraw", "join_family", "leave_family",
        "revoke_share", "set_token", "post", "restore", "test_notification", "silence", "speak",
        "faults", "end", "tell", "add_seats", "assign_seat", "switch_to_bundle", "migrate",
        "post_receipt",
    ]
}

extension ScenarioReading {
    /// Reads the act of a step whose `app_store` is `word`.
    mutating func appStoreAct(_ name: String, _ fields: inout ScenarioFields) -> AppStoreAct? {
        switch name {
        case "buy":
            .buy(
                product: requiredText(&fields, "product"),
                quantity: number(&fields, "quantity", in: 1...1000) ?? 1,
                offer: text(&fields, "offer")
            )
        case "cancel": .cancel(which(&fields))
        case "resume": .resume(which(&fields))
        case "consent": .consent(which(&fields))
        case "change": .change(to: requiredText(&fields, "to"))
        case "redeem":
            .redeem(offer: requiredText(&fields, "offer"), product: text(&fields, "product"))
        case "fail_billing": .failBilling
        case "recover_billing": .recoverBilling
        case "refund": refund(&fields)
        case "add_seats": .addSeats(number(&fields, "seats", in: 1...1000) ?? 1)
        case "assign_seat": .assignSeat(of: requiredText(&fields, "of"))
        case "switch_to_bundle": .switchToBundle(which(&fields))
        case "migrate": .migrate(which(&fields))
        case "post_receipt":
            .postReceipt(
                of: truth(&fields, "of_transaction") ?? false ? which(&fields) : nil,
                mode: mode(&fields)
            )
        case "reverse_refund": .reverseRefund(which(&fields))
        case "request_refund":
            .requestRefund(which(&fields), reason: text(&fields, "reason") ?? "UNINTENDED_PURCHASE")
        case "decline_refund": .declineRefund(which(&fields))
        case "extend": .extend(days: number(&fields, "days", in: 1...90) ?? 1)
        case "extend_all":
            .extendAll(
                product: requiredText(&fields, "product"),
                days: number(&fields, "days", in: 1...90) ?? 1
            )
        case "raise_price":
            .raisePrice(
                product: requiredText(&fields, "product"),
                price: Int64(((decimal(&fields, "price") ?? 0) * 1000).rounded()),
                asksConsent: truth(&fields, "asks_consent") ?? false
            )
        case "withdraw": .withdraw(product: requiredText(&fields, "product"))
        case "join_family": .joinFamily(requiredText(&fields, "family"))
        case "leave_family": .joinFamily(nil)
        case "revoke_share": .revokeShare
        case "set_token": .setToken
        case "post":
            .post(which(&fields), mode: mode(&fields))
        case "restore": .restore(of: text(&fields, "of"))
        case "test_notification": .testNotification
        case "end": .end(which(&fields))
        case "tell":
            .tell(
                type: requiredText(&fields, "type"),
                subtype: text(&fields, "subtype"),
                which(&fields)
            )
        case "silence": .silence
        case "speak": .speak
        case "faults":
            .faults(faults(&fields))
        default: nil
        }
    }

    private mutating func refund(_ fields: inout ScenarioFields) -> AppStoreAct {
        let which = which(&fields)
        if let seats = number(&fields, "seats", in: 1...1000) {
            return .refundSeats(which, seats: seats)
        }
        let percent = decimal(&fields, "percent")
        return .refund(which, share: percent.map { Int(($0 * 1000).rounded()) })
    }

    private mutating func mode(_ fields: inout ScenarioFields) -> String {
        word(&fields, "mode", of: ["purchased", "restored", "observed"]) ?? "purchased"
    }

    private mutating func faults(_ fields: inout ScenarioFields) -> AppStoreAct.Faults {
        var faults = AppStoreAct.Faults()
        for name in Self.faults {
            if let value = decimal(&fields, name) { faults.values[name] = value }
        }
        faults.outageStart = instant(&fields, "outage_start")
        faults.outageEnd = instant(&fields, "outage_end")
        return faults
    }

    private static let faults = [
        "drop", "duplicate", "delay", "longest_delay", "reorder", "slow", "corrupt", "api_errors",
    ]

    private mutating func which(_ fields: inout ScenarioFields) -> AppStoreAct.Which {
        AppStoreAct.Which(
            product: text(&fields, "product"),
            number: number(&fields, "purchase", in: 1...1000)
        )
    }
}
