extension SubscriptionProduct {
    /// `Subscription`, of `monetization`.
    func wire(_ package: String) -> JSON {
        [
            "packageName": .string(package),
            "productId": .string(productID),
            "listings": [["languageCode": "en-US", "title": .string(title ?? productID)]],
            "basePlans": .items(basePlans.map(\.wire)),
        ]
    }
}

extension BasePlan {
    fileprivate var wire: JSON {
        [
            "basePlanId": .string(basePlanID),
            "state": "ACTIVE",
            "regionalConfigs": .array(
                prices.map { region, price in
                    [
                        "regionCode": .string(region), "price": price.wire,
                        "newSubscriberAvailability": true,
                    ]
                }
            ),
            "offerTags": .items((offerTags ?? []).map { ["tag": .string($0)] }),
            "autoRenewingBasePlanType": kind == nil || kind == .autoRenewing ? renewing : nil,
            "prepaidBasePlanType": isPrepaid
                ? [
                    "billingPeriodDuration": .string(period.description),
                    "timeExtension": "TIME_EXTENSION_ACTIVE",
                ] : nil,
            "installmentsBasePlanType": kind == .installments ? installments : nil,
        ]
    }

    /// By region; the price without one is the USA's.
    fileprivate var prices: [(String, Money)] {
        let regions = Set((regions ?? [:]).keys).union(["US"])
        return regions.sorted().map { ($0, price(in: $0)) }
    }

    private var renewing: JSON {
        [
            "billingPeriodDuration": .string(period.description),
            "gracePeriodDuration": .string(grace.description),
            "accountHoldDuration": .string(hold.description),
            "resubscribeState": "RESUBSCRIBE_STATE_ACTIVE",
            "prorationMode": "SUBSCRIPTION_PRORATION_MODE_CHARGE_ON_NEXT_BILLING_DATE",
        ]
    }

    private var installments: JSON {
        let renewal =
            renewsWithCommitment == true ? "RENEWS_WITH_COMMITMENT" : "RENEWS_WITHOUT_COMMITMENT"
        return [
            "billingPeriodDuration": .string(period.description),
            "committedPaymentsCount": .whole(committedPayments ?? 12),
            "renewalType": .string("RENEWAL_TYPE_\(renewal)"),
            "gracePeriodDuration": .string(grace.description),
            "accountHoldDuration": .string(hold.description),
        ]
    }
}

extension SubscriptionOffer {
    /// `SubscriptionOffer`.
    func wire(_ package: String, product: String, _ plan: BasePlan) -> JSON {
        [
            "packageName": .string(package),
            "productId": .string(product),
            "basePlanId": .string(plan.basePlanID),
            "offerId": .string(offerID),
            "state": "ACTIVE",
            "offerTags": .items((tags ?? []).map { ["tag": .string($0)] }),
            "phases": .array(phases.map { $0.wire(plan) }),
            "regionalConfigs": .array(
                plan.prices.map { region, _ in
                    ["regionCode": .string(region), "newSubscriberAvailability": true]
                }
            ),
        ]
    }
}

extension OfferPhase {
    fileprivate func wire(_ plan: BasePlan) -> JSON {
        let regions = plan.prices.map { region, price -> JSON in
            guard let priceMicros, priceMicros > 0 else {
                return ["regionCode": .string(region), "free": [:]]
            }
            let cost = Money(currency: price.currency, micros: priceMicros)
            return ["regionCode": .string(region), "price": cost.wire]
        }
        return [
            "duration": .string(duration.description),
            "recurrenceCount": .whole(max(1, count ?? 1)),
            "regionalConfigs": .array(regions),
        ]
    }
}

extension OneTimeProduct {
    /// `OneTimeProduct`.
    func wire(_ package: String) -> JSON {
        [
            "packageName": .string(package),
            "productId": .string(productID),
            "listings": [
                [
                    "languageCode": "en-US", "title": .string(title ?? productID),
                    "description": .string(title ?? productID),
                ]
            ],
            "purchaseOptions": .array(options.map(\.wire)),
        ]
    }
}

extension PurchaseOption {
    fileprivate var wire: JSON {
        [
            "purchaseOptionId": .string(purchaseOptionID),
            "state": "ACTIVE",
            "buyOption": rentalPeriod == nil
                ? [
                    "legacyCompatible": true,
                    "multiQuantityEnabled": .bool(isMultiQuantity ?? false),
                ]
                : nil,
            "rentOption": rentalPeriod.map { ["rentalPeriod": .string($0.description)] },
            "regionalPricingAndAvailabilityConfigs": [
                ["regionCode": "US", "availability": "AVAILABLE", "price": price.wire]
            ],
        ]
    }
}

extension OneTimeOffer {
    /// `OneTimeProductOffer`.
    func wire(_ package: String, product: String, _ option: PurchaseOption) -> JSON {
        let discount = option.price.micros - (priceMicros ?? option.price.micros)
        let absolute = Money(currency: option.price.currency, micros: discount)
        return [
            "packageName": .string(package),
            "productId": .string(product),
            "purchaseOptionId": .string(option.purchaseOptionID),
            "offerId": .string(offerID),
            "state": "ACTIVE",
            "offerTags": .items((tags ?? []).map { ["tag": .string($0)] }),
            "discountedOffer": releaseTime == nil ? [:] : nil,
            "preOrderOffer": releaseTime.map { release in
                [
                    "startTime": .time(0), "endTime": .time(release),
                    "releaseTime": .time(release),
                    "priceChangeBehavior":
                        "PRE_ORDER_PRICE_CHANGE_BEHAVIOR_TWO_POINT_LOWEST",
                ]
            },
            "regionalPricingAndAvailabilityConfigs": [
                [
                    "regionCode": "US", "availability": "AVAILABLE",
                    "absoluteDiscount": discount > 0 ? absolute.wire : nil,
                    "noOverride": discount > 0 ? nil : [:],
                ]
            ],
        ]
    }
}
