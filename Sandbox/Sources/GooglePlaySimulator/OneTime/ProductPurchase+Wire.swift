extension ProductPurchase {
    /// `ProductPurchaseV2`.
    var wire: JSON {
        [
            "kind": "androidpublisher#productPurchaseV2",
            "orderId": .text(orderID),
            "purchaseStateContext": ["purchaseState": .string(state.rawValue)],
            "purchaseCompletionTime": .time(completedAt),
            "acknowledgementState": isAcknowledged
                ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING",
            "obfuscatedExternalAccountId": .text(identifiers.accountID),
            "obfuscatedExternalProfileId": .text(identifiers.profileID),
            "regionCode": .string(region),
            "testPurchaseContext": isTest ? ["fopType": "TEST"] : nil,
            "productLineItem": .array(lines.map(\.wire)),
        ]
    }

    /// `ProductPurchase`, which knows one product.
    func wireV1(_ line: Line) -> JSON {
        let type: Int? =
            switch gift {
            case .promo: 1
            case .rewarded: 2
            case nil: isTest ? 0 : nil
            }
        let code =
            switch state {
            case .purchased: 0
            case .canceled: 1
            case .pending: 2
            }
        return [
            "kind": "androidpublisher#productPurchase",
            "orderId": .text(orderID),
            "productId": .string(line.productID),
            "purchaseToken": .string(token),
            "purchaseTimeMillis": .long(completedAt ?? boughtAt),
            "purchaseState": .whole(code),
            "purchaseType": .whole(type),
            "consumptionState": line.isConsumed ? 1 : 0,
            "acknowledgementState": isAcknowledged ? 1 : 0,
            "quantity": line.quantity == 1 ? nil : .whole(line.quantity),
            "refundableQuantity": .whole(line.refundable),
            "obfuscatedExternalAccountId": .text(identifiers.accountID),
            "obfuscatedExternalProfileId": .text(identifiers.profileID),
            "regionCode": .string(region),
        ]
    }
}

extension ProductPurchase.Line {
    fileprivate var wire: JSON {
        let consumption = isConsumed ? "CONSUMED" : "YET_TO_BE_CONSUMED"
        let details: JSON = [
            "purchaseOptionId": .string(optionID),
            "offerId": .text(offerID),
            "offerTags": .items(offerTags.map(JSON.string)),
            "quantity": .whole(quantity),
            "refundableQuantity": refundable == 0 ? nil : .whole(refundable),
            "consumptionState": .string("CONSUMPTION_STATE_\(consumption)"),
            "rentOfferDetails": .mark(isRental),
            "preorderOfferDetails": releaseTime.map { ["preorderReleaseTime": .time($0)] },
        ]
        return ["productId": .string(productID), "productOfferDetails": details]
    }
}
