public import AppStoreSimulator
public import StripeSimulator

/// One setting of the simulators' switches for behaviour that the stores' documentation leaves
/// open.
///
/// Every scenario must hold under each.
public struct Variant: Sendable {
    public var name: String
    /// Whether it concerns a story that speaks of the App Store.
    public var concernsAppStore = true
    /// Whether it concerns a story that speaks of Stripe.
    public var concernsStripe = true
    /// The acts without which it makes no difference to a story that speaks of Google Play; `nil`: none
    /// makes one, empty: any does.
    var googlePlayActs: Set<String>? = []
    /// The acts with which it makes no sense.
    var notWith: Set<String> = []
    /// Whether backends can hear it in what the stores tell them by themselves.
    public var isHeard = true
    public var behaviour = SimulatedAppStore.Behaviour()
    /// How long before a period's end it is renewed, in milliseconds.
    public var renewalLead: Int64 = 0
    public var policy = StripeSimulator.Policy()
    /// Google Play's switches by the names of its control API.
    var googlePlay: [String: GooglePlayAct.Value] = [:]

    /// The behaviour that is taken as most likely.
    public static let likely = Variant(name: "likely")

    /// The likely behaviour, and for each switch the same with this one set the other way.
    public static let all = ofAppStoreAndStripe + googlePlay

    /// What simulated worlds draw from: another one in the list would change every world.
    static let ofAppStoreAndStripe = [likely] + appStore + stripe

    private static let appStore: [Variant] = [
        appStore("upgrade_sends_refund") { $0.behaviour.upgradeSendsRefund.toggle() },
        appStore("resubscribe_keeps_original_transaction_id") {
            $0.behaviour.resubscribeKeepsOriginalTransactionID.toggle()
        },
        appStore("reversal_clears_revocation") {
            $0.behaviour.reversalClearsRevocation.toggle()
        },
        appStore("extension_moves_expires_date") {
            $0.behaviour.extensionMovesExpiresDate.toggle()
        },
        appStore("grace_recovery_starts_at_charge") {
            $0.behaviour.graceRecoveryStartsAtCharge.toggle()
        },
        appStore("restore_makes_new_transaction_ids") {
            $0.behaviour.restoreMakesNewTransactionIDs.toggle()
        },
        appStore("repeats_consumption_requests") {
            $0.behaviour.repeatsConsumptionRequests.toggle()
        },
        appStore("added_seats_share_line_item") {
            $0.behaviour.addedSeatsShareLineItem.toggle()
        },
        appStore("receipts_date_upgrades") { $0.behaviour.receiptsDateUpgrades.toggle() },
        // Apple charges within the last 24 hours of a period.
        appStore("renewal_lead") { $0.renewalLead = 6 * 3_600_000 },
    ]

    private static let stripe: [Variant] = [
        stripe("entitling_statuses") { $0.policy.entitlingStatuses = ["active"] },
        stripe("announces_unchanged_entitlements") {
            $0.policy.announcesUnchangedEntitlements.toggle()
        },
        stripe("free_trial_payment_status") { $0.policy.freeTrialPaymentStatus = "paid" },
        stripe("dangling_parameter_status") {
            $0.policy.danglingParameterStatus = 404
            $0.isHeard = false  // Only who asks Stripe a wrong question is answered otherwise.
        },
        stripe("upcoming_days") { $0.policy.upcomingDays = 0 },
    ]

    static let googlePlay: [Variant] = [
        googlePlay("event_time_is_number", .truth(true)),
        googlePlay("stale_reads", .number(1), notWith: ["post", "faults", "behaviour"]),
        googlePlay("omits_auto_renew_false", .truth(false), ["cancel", "change"]),
        googlePlay("replaced_token_expires_at_once", .truth(false), ["change", "top_up"]),
        googlePlay("deferred_replacement_has_no_start", .truth(true), ["change"]),
        googlePlay("replaced_expired_is_sent", .text("before"), ["change", "top_up"]),
        googlePlay(
            "replaced_expired_is_never_sent",
            key: "replaced_expired_is_sent",
            .text("never"),
            ["change", "top_up"]
        ),
        googlePlay(
            "refunded_product_is_gone",
            .truth(true),
            ["refund", "refund_pieces", "revoke", "charge_back", "review_refund"]
        ),
        googlePlay("older_consumed_is_gone", .truth(true), ["refund", "charge_back"]),
        googlePlay("old_orders_answer", .truth(false), ["refund", "charge_back"]),
        googlePlay("sends_price_change_confirmed", .truth(false), ["price"]),
        googlePlay("has_silent_grace", .truth(false), ["set_account"]),
        googlePlay("grace_extends_daily", .truth(false), ["set_account"]),
        googlePlay("ended_hold_moves_expiry", .truth(true), ["set_account"]),
        googlePlay("ended_pending_reads_expired", .truth(true), ["let_pending_end"]),
        googlePlay(
            "moved_release_is_unread",
            key: "moved_release",
            .text("unread"),
            ["move_release"]
        ),
        googlePlay(
            "void_codes_are_strings",
            .truth(true),
            ["refund", "refund_pieces", "revoke", "charge_back"]
        ),
    ]

    private static func googlePlay(
        _ name: String,
        key: String? = nil,
        _ value: GooglePlayAct.Value,
        _ acts: Set<String> = [],
        notWith others: Set<String> = []
    ) -> Variant {
        var variant = Variant(name: name)
        (variant.concernsAppStore, variant.concernsStripe) = (false, false)
        (variant.googlePlayActs, variant.notWith) = (acts, others)
        variant.googlePlay = [key ?? name: value]
        return variant
    }

    private static func appStore(_ name: String, _ change: (inout Variant) -> Void) -> Variant {
        var variant = Variant(name: name)
        variant.concernsStripe = false
        variant.googlePlayActs = nil
        change(&variant)
        return variant
    }

    private static func stripe(_ name: String, _ change: (inout Variant) -> Void) -> Variant {
        var variant = Variant(name: name)
        variant.concernsAppStore = false
        variant.googlePlayActs = nil
        change(&variant)
        return variant
    }

    /// Whether playing `scenario` under it can differ from playing it under the likely one.
    public func concerns(_ scenario: Scenario) -> Bool {
        (concernsAppStore && scenario.usesAppStore) || (concernsStripe && scenario.usesStripe)
            || concernsGooglePlay(scenario)
    }

    private func concernsGooglePlay(_ scenario: Scenario) -> Bool {
        guard let googlePlayActs, scenario.usesGooglePlay else { return false }
        let acts = Set(
            scenario.steps.compactMap { step in
                if case .googlePlay(let act) = step.deed { act.name } else { nil }
            }
        )
        return acts.isDisjoint(with: notWith)
            && (googlePlayActs.isEmpty || !acts.isDisjoint(with: googlePlayActs))
    }
}
