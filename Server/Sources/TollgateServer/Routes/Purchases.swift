internal import Hummingbird
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Buying, presenting what was bought, and managing it.
func addPurchases(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.appStoreTransactions.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        try credentials.refuseSecret()
        let presented = try await request.json(API.AppStoreTransactionRequest.self)
        let reply = try await tollgate.receiveSignedTransaction(
            presented,
            from: credentials.session?.customer
        )
        return try Response.json(reply)
    }
    router.post(APIPath.appStoreReceipts.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        var isBackend = false
        if case .secret = credentials {
            isBackend = true
        } else {
            _ = try credentials.requireSessionUnlessSecret()
        }
        let bytes = try await request.bytes(upTo: 4 << 20)
        let posted = try StrictBody.decode(API.AppStoreReceiptRequest.self, from: bytes)
        let customer: String
        if isBackend {
            guard let named = posted.customer else {
                throw Refusal(
                    400,
                    .invalidRequestError,
                    .parameterMissing,
                    "Missing required param: customer.",
                    param: "customer"
                )
            }
            customer = try await tollgate.customer(named).id
        } else {
            let session = try credentials.requireSessionUnlessSecret()
            customer = try credentials.customer(
                posted.customer ?? session.customer.rawValue,
                nil
            )
        }
        let reply = try await tollgate.receiveReceipt(
            posted.receiptData,
            from: Customer.ID(customer),
            mode: Claim.Mode(rawValue: posted.mode?.rawValue ?? "") ?? .observed,
            isTrusted: isBackend
        )
        return try Response.json(reply)
    }
    router.post(APIPath.checkoutSessions.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        let wanted = try await request.json(API.CheckoutSessionRequest.self)
        var customer = wanted.customer
        if case .secret = credentials {
            guard customer != nil else {
                throw Refusal(
                    400,
                    .invalidRequestError,
                    .parameterMissing,
                    "Missing required param: customer.",
                    param: "customer"
                )
            }
        } else {
            let session = try credentials.requireSessionUnlessSecret()
            try session.require(.buyButton)
            customer = try credentials.customer(customer ?? session.customer.rawValue, .buyButton)
        }
        return try Response.json(
            try await tollgate.createCheckout(
                wanted,
                customer: customer,
                idempotencyKey: request.idempotencyKey
            )
        )
    }
    router.get(APIPath.buyButton.route) { request, context in
        _ = try await Credentials(request, tollgate)
        return try Response.json(try tollgate.buyButton(try context.id))
    }
    router.post(APIPath.buyButtonCheckout.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.session?.require(.buyButton)
        let wanted =
            try await request.jsonIfAny(API.BuyButtonCheckoutRequest.self)
            ?? API.BuyButtonCheckoutRequest()
        let checkout = try await tollgate.createCheckout(
            API.CheckoutSessionRequest(
                buyButton: try context.id,
                successURL: wanted.successURL,
                cancelURL: wanted.cancelURL
            ),
            customer: credentials.session?.customer.rawValue,
            reference: wanted.clientReferenceID,
            idempotencyKey: request.idempotencyKey
        )
        return try Response.json(API.BuyButtonCheckout(url: checkout.url))
    }
    router.post(APIPath.portalSessions.route) { request, _ in
        let session = try await Credentials(request, tollgate).requireSession()
        let wanted = try await request.jsonIfAny(API.PortalSessionRequest.self)
        return try Response.json(
            try await tollgate.createPortalSession(session, returnURL: wanted?.returnURL)
        )
    }
}
