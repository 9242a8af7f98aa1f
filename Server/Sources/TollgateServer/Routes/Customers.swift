internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateCore
internal import TollgateService

/// Customers and what they have.
func addCustomers(to api: APIRoutes) {
    let tollgate = api.tollgate
    addAnswers(to: api)
    addCoinsAndGrants(to: api)
    addFreeSubscriptions(to: api)
    addSessions(to: api)
    api.write(.customers, by: .secretKey) { (_, wanted: API.CreateCustomerRequest) in
        let (customer, isNew) = try await tollgate.customers.create(wanted)
        return try WriteAnswer(customer, status: isNew ? .created : .ok, about: customer.id)
    }
    api.on(.get, .customer, by: .secretKey) { try await tollgate.directory.customer($0.id) }
    api.on(.delete, .customer, by: .secretKey) { try await tollgate.customers.erase($0.id) }
}

/// Entitlements, and why they are held.
private func addAnswers(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.answer(.get, .customerEntitlements) { call in
        let answer = try await tollgate.entitlements.answer(
            of: call.customer(.activeEntitlements),
            in: call.environment,
            at: call.request.instant(APIQuery.at),
            signed: call.credentials.session != nil,
            app: call.credentials.askingApp(call.request.headers, tollgate)
        )
        return try Response.entitlements(answer, to: call.request.headers)
    }
    api.on(.get, .customerExplain, by: .secretKey) { call in
        guard let lookupKey = call.request.uri.queryParameters["lookup_key"] else {
            throw Refusal.missingParameter("lookup_key")
        }
        return try await tollgate.explanations.explain(
            String(lookupKey),
            for: call.id,
            in: call.environment,
            at: call.request.instant(APIQuery.at),
            known: call.request.instant(APIQuery.known)?.milliseconds
        )
    }
}

/// Coins, and what is given by hand.
private func addCoinsAndGrants(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.get, .customerCoins) {
        try await tollgate.coins.balance(of: $0.customer(), in: $0.environment)
    }
    api.on(.post, .customerCoinsSpend, by: .secretKey) {
        let key = try $0.request.idempotencyKey
        return try await tollgate.coins.spend(
            $0.json(API.SpendRequest.self),
            of: $0.id,
            in: $0.environment,
            idempotencyKey: key
        )
    }
    api.on(.post, .customerGrants, by: .secretKey, status: .created) {
        let key = try $0.request.idempotencyKey
        return try await tollgate.grants.give(
            $0.json(API.GrantRequest.self),
            to: $0.id,
            in: $0.environment,
            idempotencyKey: key
        )
    }
}

/// Free subscriptions, and purchases that change hands.
private func addFreeSubscriptions(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.answer(.post, .customerFreeSubscriptions) {
        let customer = try $0.customer()
        let (subscription, isNew) = try await tollgate.freeSubscriptions.take(
            $0.json(API.FreeSubscriptionRequest.self),
            for: customer,
            in: $0.environment
        )
        return try Response.json(subscription, status: isNew ? .created : .ok)
    }
    api.on(.delete, .customerFreeSubscriptions) {
        let customer = try $0.customer()
        guard let product = $0.request.parameter(APIQuery.product) else {
            throw Refusal.missingParameter("product")
        }
        return try await tollgate.freeSubscriptions.remove(
            product,
            of: customer,
            in: $0.environment
        )
    }
    api.on(.get, .customerPurchases) {
        try await tollgate.customerPurchases.list(
            of: $0.customer(.activeEntitlements),
            in: $0.environment
        )
    }
    api.on(.post, .customerPurchases, by: .secretKey) {
        try await tollgate.purchases.assign($0.json(API.PurchaseAssignment.self), to: $0.id)
    }
}

/// Sessions of customers.
private func addSessions(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.answer(.post, .customerSessions, by: .secretKey) { call in
        try await call.once { body in
            let session = try await tollgate.sessions.create(
                StrictBody.customerSession(body, isForm: call.request.isForm),
                environment: call.environment
            )
            return try WriteAnswer(session, about: session.customer)
        }
    }
    api.on(.post, .customerSessionsRevoke) { call in
        switch call.credentials {
        case .secret:
            return try await tollgate.sessions.revoke(
                call.json(API.SessionRevocationRequest.self)
            )
        case .session:
            // What it says is not needed, but it must not be nonsense.
            _ = try await call.request.jsonIfAny(API.SessionRevocationRequest.self)
            return try await tollgate.sessions.revoke(Credentials.key(of: call.request) ?? "")
        case .publishable:
            throw Refusal.forbidden(
                "key_scope",
                "This address accepts the secret key, or the session that shall end."
            )
        }
    }
}

extension ServerRequestContext {
    /// The `{id}` of the path.
    var id: String {
        get throws {
            IDInPath.decoded(try parameters.require("id"))
        }
    }
}

/// An id as it stands in a path.
enum IDInPath {
    /// What is meant by it; what is badly escaped is taken as it stands.
    static func decoded(_ id: String) -> String {
        // Few have anything to decode, and Foundation takes a microsecond to find that out.
        id.utf8.contains(UInt8(ascii: "%")) ? id.removingPercentEncoding ?? id : id
    }
}
