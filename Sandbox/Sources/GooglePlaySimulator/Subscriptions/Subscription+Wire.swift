extension Subscription {
    /// `SubscriptionPurchaseV2`.
    func wire(at now: Int64, _ behaviour: Behaviour) -> JSON {
        let isDeferred = items.contains { $0.deferredReplacement != nil && !$0.isEnded }
        let hasStart = !isDeferred || !behaviour.deferredReplacementHasNoStart
        return [
            "kind": "androidpublisher#subscriptionPurchaseV2",
            "etag": .string(etag),
            "regionCode": .string(region),
            "startTime": .time(hasStart ? startTime : nil),
            "subscriptionState": .string(stateName(behaviour)),
            "acknowledgementState": isAcknowledged && startTime != nil
                ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING",
            "linkedPurchaseToken": .text(linkedToken),
            "externalAccountIdentifiers": identifiers.wire,
            "testPurchase": .mark(isTest),
            "canceledStateContext": canceledContext,
            "pausedStateContext": pausedContext,
            "inGracePeriodStateContext": isInGrace ? declinedContext : nil,
            "onHoldStateContext": isOnHold ? declinedContext : nil,
            "outOfAppPurchaseContext": outOfApp.map(Self.wire),
            "lineItems": .array(items.map { $0.wire(at: now, behaviour) }),
        ]
    }

    private var isInGrace: Bool { if case .grace = phase { true } else { false } }
    private var isOnHold: Bool { if case .hold = phase { true } else { false } }

    func stateName(_ behaviour: Behaviour) -> String {
        let name =
            switch phase {
            case .pending: "PENDING"
            case .active, .retrying: "ACTIVE"
            case .grace: "IN_GRACE_PERIOD"
            case .hold: "ON_HOLD"
            case .paused: "PAUSED"
            case .canceled: "CANCELED"
            case .expired: "EXPIRED"
            case .pendingCanceled:
                behaviour.endedPendingReadsExpired
                    ? "PENDING_PURCHASE_EXPIRED" : "PENDING_PURCHASE_CANCELED"
            }
        return "SUBSCRIPTION_STATE_\(name)"
    }

    private var canceledContext: JSON? {
        guard phase == .canceled || phase == .expired, !isPrepaid || cancellation == .replacement,
            let cancellation
        else { return nil }
        switch cancellation {
        case .user(let at, let reason, let words):
            let survey: JSON? = reason.map { reason in
                [
                    "reason": .string("CANCEL_SURVEY_REASON_\(reason)"),
                    "reasonUserInput": .text(words),
                ]
            }
            return [
                "userInitiatedCancellation": [
                    "cancelTime": .time(at), "cancelSurveyResult": survey,
                ]
            ]
        case .system: return ["systemInitiatedCancellation": [:]]
        case .developer: return ["developerInitiatedCancellation": [:]]
        case .replacement: return ["replacementCancellation": [:]]
        }
    }

    private var pausedContext: JSON? {
        guard case .paused(let until) = phase else { return nil }
        return ["autoResumeTime": .time(until)]
    }

    private var declinedContext: JSON {
        ["renewalDeclined": ["pendingOrderId": .text(declined?.orderID)]]
    }

    private static func wire(_ context: OutOfApp) -> JSON {
        [
            "expiredExternalAccountIdentifiers": context.identifiers.wire,
            "expiredPurchaseToken": .string(context.expiredToken),
        ]
    }
}

extension SubscriptionItem {
    fileprivate func wire(at now: Int64, _ behaviour: Behaviour) -> JSON {
        [
            "productId": .string(productID),
            "expiryTime": .time(expiry),
            "latestSuccessfulOrderId": .text(latestOrder),
            "offerDetails": [
                "basePlanId": .string(plan.basePlanID),
                "offerId": .text(offerID),
                "offerTags": .items(offerTags.map(JSON.string)),
            ],
            "offerPhase": period.map(Self.phase),
            "autoRenewingPlan": plan.isPrepaid ? nil : renewing(behaviour),
            "prepaidPlan": plan.isPrepaid ? ["allowExtendAfterTime": .time(extendAfter)] : nil,
            "deferredItemReplacement": deferredReplacement.map { ["productId": .string($0)] },
            "deferredItemRemoval": .mark(isBeingRemoved),
            "itemReplacement": replacement.flatMap { Self.wire($0, at: now) },
            "signupPromotion": promotion.map(Self.wire),
        ]
    }

    private func renewing(_ behaviour: Behaviour) -> JSON {
        [
            "autoRenewEnabled": autoRenews || !behaviour.omitsAutoRenewFalse
                ? .bool(autoRenews) : nil,
            "recurringPrice": price.wire,
            "priceChangeDetails": priceChange.map { change in
                [
                    "newPrice": change.price.wire,
                    "priceChangeMode": .string(change.mode.rawValue),
                    "priceChangeState": .string(change.state.rawValue),
                    "expectedNewPriceChargeTime": change.state == .applied
                        ? nil : .time(expectedCharge(change)),
                ]
            },
            "priceStepUpConsentDetails": stepUp.map { step in
                [
                    "state": .string(step.state.rawValue), "newPrice": step.price.wire,
                    "consentDeadlineTime": .time(step.deadline),
                ]
            },
            "installmentDetails": installments.map { committed in
                [
                    "initialCommittedPaymentsCount": .whole(committed.initial),
                    "subsequentCommittedPaymentsCount": committed.subsequent == 0
                        ? nil : .whole(committed.subsequent),
                    "remainingCommittedPaymentsCount": committed.remaining == 0
                        ? nil : .whole(committed.remaining),
                    "pendingCancellation": .mark(committed.isCancellationPending),
                ]
            },
        ]
    }

    /// The first renewal at which the new price is due.
    private func expectedCharge(_ change: PriceChange) -> Int64? {
        guard var renewal = expiry else { return nil }
        for _ in 0..<500 where renewal < change.effective {
            renewal = plan.period.end(from: renewal)
        }
        return renewal
    }

    private static func phase(_ period: PricedPeriod) -> JSON {
        switch period.kind {
        case .base: ["basePrice": [:]]
        case .introductory: ["introductoryPrice": [:]]
        case .freeTrial: ["freeTrial": [:]]
        case .proration: ["prorationPeriod": ["originalOfferPhaseType": "BASE"]]
        }
    }

    private static func wire(_ replacement: ItemReplacement, at now: Int64) -> JSON? {
        guard now < replacement.at + 60 * Timestamp.day else { return nil }
        return [
            "productId": .string(replacement.productID),
            "basePlanId": .string(replacement.planID),
            "offerId": .text(replacement.offerID),
            "replacementMode": .string(replacement.mode.rawValue),
        ]
    }

    private static func wire(_ promotion: Promotion) -> JSON {
        switch promotion {
        case .oneTimeCode: ["oneTimeCode": [:]]
        case .vanityCode(let code): ["vanityCode": ["promotionCode": .string(code)]]
        }
    }
}
