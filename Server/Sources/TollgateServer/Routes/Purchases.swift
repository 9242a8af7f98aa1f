internal import AppStoreConnector
internal import GooglePlayConnector
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import StripeConnector
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateCore
internal import TollgateService

/// Buying, presenting what was bought, and managing it.
func addPurchases(to api: APIRoutes) {
    let tollgate = api.tollgate
    addInAppPurchases(to: api)
    addGooglePlay(to: api)
    addCheckouts(to: api)
    addBuyButtons(to: api)
    api.on(.post, .appStoreTransactions, by: .device) {
        try await tollgate.appStore.devices.receive(
            $0.json(API.AppStoreTransactionRequest.self),
            from: $0.credentials.session?.customer
        )
    }
    api.on(.post, .appStoreReceipts) { call in
        let credentials = call.credentials
        var isBackend = false
        if case .secret = credentials {
            isBackend = true
        } else {
            _ = try credentials.requireSessionUnlessSecret()
        }
        let bytes = try await call.request.bytes(upTo: 4 << 20)
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
        try call.admitStoreCall()
        return try await tollgate.appStore.receipts.receive(
            posted.receiptData,
            from: Customer.ID(customer),
            mode: Claim.Mode(rawValue: posted.mode?.rawValue ?? "") ?? .observed,
            isTrusted: isBackend
        )
    }
}

/// What a session says and asks of the App Store.
private func addInAppPurchases(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.post, .appStoreObservations, by: .session) {
        try await tollgate.deviceObservations.settle(
            $0.json(API.AppStoreObservation.self),
            for: $0.session
        )
    }
    api.on(.post, .appStorePurchases) {
        let wanted = try await $0.json(API.AppStorePurchaseRequest.self)
        let session = try $0.session
        return try await tollgate.appStore.devices.prepare(
            wanted,
            for: session.customer,
            in: session.environment,
            of: $0.app
        )
    }
    api.on(.post, .appStoreOfferSignatures, by: .session) {
        let session = try $0.session
        return try await tollgate.appStore.offers.sign(
            $0.json(API.OfferSignatureRequest.self),
            for: session.customer,
            of: $0.app,
            in: session.environment
        )
    }
}

/// Purchases of Android devices, and what is sold to them outside Google Play.
private func addGooglePlay(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.post, .googlePlayPreparations) {
        let wanted = try await $0.json(API.GooglePlayPreparationRequest.self)
        let session = try $0.session
        return try await tollgate.googlePlay.devices.prepare(
            wanted,
            for: session.customer,
            in: session.environment,
            of: $0.app
        )
    }
    api.on(.post, .googlePlayPurchases, by: .device) {
        let presented = try await $0.json(API.GooglePlayPurchaseRequest.self)
        try $0.admitStoreCall()
        return try await tollgate.googlePlay.devices.receive(
            presented,
            from: $0.credentials.session?.customer,
            in: $0.app?.packageName
        )
    }
    api.on(.post, .googlePlayExternalTransactions, by: .secretKey) {
        let wanted = try await $0.json(API.GooglePlayExternalTransactionsRequest.self)
        try $0.admitStoreCall()
        return try await tollgate.externalTransactions.report(wanted)
    }
}

/// Checkouts, and what became of them.
private func addCheckouts(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.write(.checkoutSessions) { (call, wanted: API.CheckoutSessionRequest) in
        // An `app_user_id` names them too.
        let named = try buyer(wanted, call.credentials)
        let customer = try await tollgate.directory.customer(named, param: "customer").id
        try call.admitStoreCall()
        let checkout = try await tollgate.stripe.checkouts.create(
            wanted,
            customer: customer,
            app: call.app,
            idempotencyKey: call.request.idempotencyKey
        )
        return try WriteAnswer(checkout, about: customer)
    }
    api.on(.get, .checkoutSession) {
        if let caller = $0.credentials.caller($0.request, $0.context, tollgate) {
            try tollgate.callLimits.questions.admit(caller, at: tollgate.clocks.wall())
        } else {
            try $0.admitStoreCall()
        }
        return try await tollgate.stripe.checkouts.outcome(
            $0.id,
            for: $0.credentials.session?.customer
        )
    }
}

/// Buy buttons, and checkouts without a session.
private func addBuyButtons(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.get, .buyButton) {
        try tollgate.buyButtons.button(
            $0.id,
            storefront: $0.request.parameter("storefront"),
            for: $0.app
        )
    }
    api.answer(.post, .buyButtonCheckout) { call in
        try call.credentials.session?.require(.buyButton)
        return try await call.once { body in
            let wanted =
                body.isEmpty
                ? API.BuyButtonCheckoutRequest()
                : try StrictBody.decode(API.BuyButtonCheckoutRequest.self, from: body)
            try call.admitStoreCall()
            let checkout = try await tollgate.stripe.checkouts.create(
                API.CheckoutSessionRequest(
                    buyButton: call.id,
                    successURL: wanted.successURL,
                    cancelURL: wanted.cancelURL,
                    storefront: wanted.storefront,
                    originContext: "mobile_app"
                ),
                customer: call.credentials.session?.customer.rawValue,
                reference: wanted.clientReferenceID,
                app: call.app,
                idempotencyKey: call.request.idempotencyKey
            )
            return try WriteAnswer(API.BuyButtonCheckout(id: checkout.id, url: checkout.url))
        }
    }
    api.write(.checkoutClaims, by: .session) { (call, wanted: API.CheckoutClaimRequest) in
        let session = try call.session
        return try WriteAnswer(
            try await tollgate.stripe.checkouts.claim(
                wanted,
                for: session.customer,
                in: session.environment
            )
        )
    }
    api.write(.portalSessions, by: .session, ifEmpty: API.PortalSessionRequest()) {
        try WriteAnswer(
            try await tollgate.portal.createSession($0.session, returnURL: $1.returnURL)
        )
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
