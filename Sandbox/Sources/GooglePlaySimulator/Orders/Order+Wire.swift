extension Order {
    /// `Order`, of the Developer API.
    func wire(_ catalog: Catalog) -> JSON {
        let tax = Tax.on(total, in: region)
        let charged = Tax.charged(total, in: region)
        // "Including deductions of partial refunds, taxes and fees."
        let net = partialRefunds.reduce(charged - tax) { net, refund in
            net - Tax.charged(refund.amount, in: region) + Tax.on(refund.amount, in: region)
        }
        return [
            "orderId": .string(id),
            "purchaseToken": .string(token),
            "state": .string(state.rawValue),
            "createTime": .time(createdAt),
            "lastEventTime": .time(lastEventAt),
            "buyerAddress": ["buyerCountry": .string(region)],
            "orderDetails": ["taxInclusive": .bool(Tax.isWithinPrices(in: region))],
            "orderHistory": history,
            "salesChannel": "IN_APP",
            "total": charged.wire,
            "tax": tax.wire,
            "developerRevenueInBuyerCurrency": net.times(85, over: 100).wire,
            "lineItems": .array(
                lines.map { $0.wire(in: region, title: catalog.title(of: $0.productID)) }
            ),
        ]
    }

    private var history: JSON {
        [
            "processedEvent": processedAt.map { ["eventTime": .time($0)] },
            "cancellationEvent": canceledAt.map { ["eventTime": .time($0)] },
            "refundEvent": refund.map { refund in
                [
                    "eventTime": .time(refund.at),
                    "refundReason": refund.isChargeback ? "CHARGEBACK" : "OTHER",
                    "refundDetails": details(refund),
                ]
            },
            "partialRefundEvents": .items(
                partialRefunds.map { refund in
                    [
                        "createTime": .time(refund.at), "processTime": .time(refund.at),
                        "state": "PROCESSED_SUCCESSFULLY", "refundDetails": details(refund),
                    ]
                }
            ),
        ]
    }

    private func details(_ refund: Refund) -> JSON {
        [
            "total": Tax.charged(refund.amount, in: region).wire,
            "tax": Tax.on(refund.amount, in: region).wire,
        ]
    }
}

extension Order.Line {
    fileprivate func wire(in region: String, title: String) -> JSON {
        var members: JSON = [
            "productId": .string(productID),
            "productTitle": .string(title),
            "listingPrice": listing.wire,
            "total": Tax.charged(total, in: region).wire,
            "tax": Tax.on(total, in: region).wire,
        ]
        guard case .object(var fields) = members else { return members }
        switch kind {
        case .subscription(let service): fields["subscriptionDetails"] = Self.wire(service)
        case .oneTime(let item): fields["oneTimePurchaseDetails"] = Self.wire(item)
        }
        members = .object(fields)
        return members
    }

    private static func wire(_ service: Service) -> JSON {
        let phase: JSON =
            switch service.phase {
            case .base: ["baseDetails": [:]]
            case .introductory: ["introductoryPriceDetails": [:]]
            case .freeTrial: ["freeTrialDetails": [:]]
            case .proration: ["prorationPeriodDetails": ["originalOfferPhase": "BASE"]]
            }
        return [
            "basePlanId": .string(service.planID),
            "offerId": .text(service.offerID),
            "offerPhaseDetails": phase,
            "servicePeriodStartTime": .time(service.start),
            "servicePeriodEndTime": .time(service.end),
        ]
    }

    private static func wire(_ item: Item) -> JSON {
        [
            "quantity": .whole(item.quantity),
            "purchaseOptionId": .string(item.optionID),
            "offerId": .text(item.offerID),
            "preorderDetails": .mark(item.isPreorder),
            "rentalDetails": .mark(item.isRental),
        ]
    }
}
