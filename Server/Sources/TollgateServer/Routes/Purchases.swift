internal import AppStoreConnector
internal import GooglePlayConnector
internal import Hummingbird
internal import Stores
internal import StripeConnector
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateCore
internal import TollgateService

/// Buying, presenting what was bought, and managing it.
func addPurchases(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    addInAppPurchases(to: router, tollgate)
    addGooglePlay(to: router, tollgate)
    addCheckouts(to: router, tollgate)
    addBuyButtons(to: router, tollgate)
    router.post(APIPath.appStoreTransactions.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        try credentials.refuseSecret()
        let presented = try await request.json(API.AppStoreTransactionRequest.self)
        let reply = try await tollgate.appStore.devices.receive(
            presented,
            from: credentials.session?.customer
        )
        return try Response.json(reply)
    }
    router.post(APIPath.appStoreReceipts.route) { request, context in
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
                throw Refusal.missingParameter("customer")
            }
            customer = try await tollgate.directory.customer(named).id
        } else {
            let session = try credentials.requireSessionUnlessSecret()
            customer = try credentials.customer(
                posted.customer ?? session.customer.rawValue,
                nil
            )
        }
        try credentials.admitStoreCall(request, context, tollgate)
        let reply = try await tollgate.appStore.receipts.receive(
            posted.receiptData,
            from: Customer.ID(customer),
            mode: Claim.Mode(rawValue: posted.mode?.rawValue ?? "") ?? .observed,
            isTrusted: isBackend
        )
        return try Response.json(reply)
    }
}

/// What a session says and asks of the App Store.
private func addInAppPurchases(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.appStoreObservations.route) { request, _ in
        let session = try await Credentials(request, tollgate).requireSession()
        let observation = try await request.json(API.AppStoreObservation.self)
        return try Response.json(
            try await tollgate.deviceObservations.settle(observation, for: session)
        )
    }
    router.post(APIPath.appStorePurchases.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        let wanted = try await request.json(API.AppStorePurchaseRequest.self)
        let session = try credentials.requireSession()
        return try Response.json(
            try await tollgate.appStore.devices.prepare(
                wanted,
                for: session.customer,
                in: session.environment,
                of: try credentials.askingApp(request.headers, tollgate)?.app
            )
        )
    }
    router.post(APIPath.appStoreOfferSignatures.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        let session = try credentials.requireSession()
        return try Response.json(
            try await tollgate.appStore.offers.sign(
                try await request.json(API.OfferSignatureRequest.self),
                for: session.customer,
                of: try credentials.askingApp(request.headers, tollgate)?.app,
                in: session.environment
            )
        )
    }
}

/// Purchases of Android devices, and what is sold to them outside Google Play.
private func addGooglePlay(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.googlePlayPreparations.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        let wanted = try await request.json(API.GooglePlayPreparationRequest.self)
        let session = try credentials.requireSession()
        return try Response.json(
            try await tollgate.googlePlay.devices.prepare(
                wanted,
                for: session.customer,
                in: session.environment,
                of: try credentials.askingApp(request.headers, tollgate)?.app
            )
        )
    }
    router.post(APIPath.googlePlayPurchases.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.refuseSecret()
        let presented = try await request.json(API.GooglePlayPurchaseRequest.self)
        try credentials.admitStoreCall(request, context, tollgate)
        let reply = try await tollgate.googlePlay.devices.receive(
            presented,
            from: credentials.session?.customer,
            in: try credentials.askingApp(request.headers, tollgate)?.app.packageName
        )
        return try Response.json(reply)
    }
    router.post(APIPath.googlePlayExternalTransactions.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let wanted = try await request.json(API.GooglePlayExternalTransactionsRequest.self)
        try credentials.admitStoreCall(request, context, tollgate)
        return try Response.json(try await tollgate.externalTransactions.report(wanted))
    }
}

/// Checkouts, and what became of them.
private func addCheckouts(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.checkoutSessions.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        let body = try await request.bytes(upTo: 256 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted = try StrictBody.decode(API.CheckoutSessionRequest.self, from: body)
            // An `app_user_id` names them too.
            let named = try buyer(wanted, credentials)
            let customer = try await tollgate.directory.customer(named, param: "customer").id
            try credentials.admitStoreCall(request, context, tollgate)
            let checkout = try await tollgate.stripe.checkouts.create(
                wanted,
                customer: customer,
                app: try credentials.askingApp(request.headers, tollgate)?.app,
                idempotencyKey: try request.idempotencyKey
            )
            return try WriteAnswer(checkout, about: customer)
        }
    }
    router.get(APIPath.checkoutSession.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        if let caller = credentials.caller(request, context, tollgate) {
            try tollgate.callLimits.questions.admit(caller, at: tollgate.clocks.wall())
        } else {
            try credentials.admitStoreCall(request, context, tollgate)
        }
        return try Response.json(
            try await tollgate.stripe.checkouts.outcome(
                try context.id,
                for: credentials.session?.customer
            )
        )
    }
}

/// Buy buttons, and checkouts without a session.
private func addBuyButtons(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.buyButton.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        let storefront = request.uri.queryParameters["storefront"].map(String.init)
        return try Response.json(
            try tollgate.buyButtons.button(
                try context.id,
                storefront: storefront,
                for: try credentials.askingApp(request.headers, tollgate)?.app
            )
        )
    }
    router.post(APIPath.buyButtonCheckout.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.session?.require(.buyButton)
        let body = try await request.bytes(upTo: 256 << 10)
        let id = try context.id
        return try await request.once(tollgate, credentials, body) {
            let wanted =
                body.isEmpty
                ? API.BuyButtonCheckoutRequest()
                : try StrictBody.decode(API.BuyButtonCheckoutRequest.self, from: body)
            try credentials.admitStoreCall(request, context, tollgate)
            let checkout = try await tollgate.stripe.checkouts.create(
                API.CheckoutSessionRequest(
                    buyButton: id,
                    successURL: wanted.successURL,
                    cancelURL: wanted.cancelURL,
                    storefront: wanted.storefront,
                    originContext: "mobile_app"
                ),
                customer: credentials.session?.customer.rawValue,
                reference: wanted.clientReferenceID,
                app: try credentials.askingApp(request.headers, tollgate)?.app,
                idempotencyKey: try request.idempotencyKey
            )
            return try WriteAnswer(API.BuyButtonCheckout(id: checkout.id, url: checkout.url))
        }
    }
    router.post(APIPath.checkoutClaims.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        let session = try credentials.requireSession()
        let body = try await request.bytes(upTo: 256 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted = try StrictBody.decode(API.CheckoutClaimRequest.self, from: body)
            return try WriteAnswer(
                try await tollgate.stripe.checkouts.claim(
                    wanted,
                    for: session.customer,
                    in: session.environment
                )
            )
        }
    }
    router.post(APIPath.portalSessions.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        let session = try credentials.requireSession()
        let body = try await request.bytes(upTo: 256 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted =
                body.isEmpty
                ? nil : try StrictBody.decode(API.PortalSessionRequest.self, from: body)
            let link = try await tollgate.portal.createSession(
                session,
                returnURL: wanted?.returnURL
            )
            return try WriteAnswer(link)
        }
    }
}

/// For whom a checkout is: whom the secret key names, or the session's own customer.
private func buyer(
    _ wanted: API.CheckoutSessionRequest,
    _ credentials: Credentials
) throws -> String {
    guard case .secret = credentials else {
        let session = try credentials.requireSessionUnlessSecret()
        try session.require(.buyButton)
        return try credentials.customer(wanted.customer ?? session.customer.rawValue, .buyButton)
    }
    guard let customer = wanted.customer else {
        throw Refusal.missingParameter("customer")
    }
    return customer
}
