/// The App Store Server API's calls that extend renewal dates.
enum ExtensionRequests {
    private static func check(
        days: Int?,
        reason: Int?,
        identifier: String?
    ) throws(APIError) -> (days: Int, identifier: String) {
        guard let days, (1...90).contains(days) else {
            throw APIError(4_000_009, "Invalid extend by days value.")
        }
        guard let reason, (0...3).contains(reason) else {
            throw APIError(4_000_010, "Invalid extend reason code.")
        }
        guard let identifier, (1...128).contains(identifier.count) else {
            throw APIError(4_000_011, "Invalid request identifier.")
        }
        return (days, identifier)
    }

    /// <https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date>.
    static func extend(
        _ world: inout World,
        _ request: ExtensionRequest,
        of id: String,
        at now: Int64
    ) throws(APIError) -> ExtensionResponse {
        let days = try check(
            days: request.extendByDays,
            reason: request.extendReasonCode,
            identifier: request.requestIdentifier
        ).days
        guard let transaction = world.transactions[id] else {
            guard !id.isEmpty, id.allSatisfy(\.isNumber) else {
                throw APIError.invalidOriginalTransactionID
            }
            throw APIError.originalTransactionIDNotFound
        }
        guard let subscription = world.subscriptions[id] else {
            throw APIError.invalidOriginalTransactionID
        }
        guard transaction.ownership != .assigned else {
            throw APIError(4_030_028, "Assigned subscriptions can't get a renewal date extension.")
        }
        guard transaction.ownership == .purchased else {
            throw APIError(
                4_030_007,
                "Forbidden - subscriptions via family sharing are ineligible for extension."
            )
        }
        guard RenewalExtensions.isExtensible(world, subscription) else {
            throw APIError(4_030_004, "Forbidden - subscription state ineligible for extension.")
        }
        let effectiveDate: Int64
        do {
            effectiveDate = try RenewalExtensions.extend(&world, id, days: days, at: now)
        } catch {
            throw APIError(
                4_030_005,
                "Forbidden - subscription has reached maximum extension count."
            )
        }
        let latest = world.subscriptions[id].flatMap {
            world.transactions[$0.latestTransactionID]
        }
        return ExtensionResponse(
            originalTransactionId: id,
            webOrderLineItemId: latest?.webOrderLineItemID,
            success: true,
            effectiveDate: effectiveDate
        )
    }

    /// Checks a request to extend all subscriptions to a product.
    static func check(
        _ request: MassExtensionRequest,
        _ world: World
    ) throws(APIError) -> (productID: String, days: Int, identifier: String) {
        let (days, identifier) = try check(
            days: request.extendByDays,
            reason: request.extendReasonCode,
            identifier: request.requestIdentifier
        )
        guard let productID = request.productId, world.products[productID] != nil else {
            throw APIError.parameter(4_000_023, "productId")
        }
        if let countries = request.storefrontCountryCodes {
            guard !countries.isEmpty else {
                throw APIError(
                    4_000_027,
                    "Invalid request. The storefront country code list parameter is empty."
                )
            }
            guard countries.allSatisfy(Storefronts.codes.contains) else {
                throw APIError.parameter(4_000_028, "storefront country code")
            }
        }
        return (productID, days, identifier)
    }

    static func status(
        _ world: World,
        product: String,
        request: String
    ) throws(APIError) -> MassExtensionStatusResponse {
        guard let found = world.massExtensions[request], found.productID == product else {
            throw APIError(
                4_040_009,
                "The server didn't find a subscription-renewal-date extension request for this requestIdentifier and productId combination."
            )
        }
        return MassExtensionStatusResponse(
            requestIdentifier: request,
            complete: true,
            completeDate: found.completeDate,
            succeededCount: found.succeededCount,
            failedCount: found.failedCount
        )
    }
}
