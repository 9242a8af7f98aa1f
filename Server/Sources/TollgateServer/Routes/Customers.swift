internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateCore
internal import TollgateService

/// Customers and what they have.
func addCustomers(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    addAnswers(to: router, tollgate)
    addCoinsAndGrants(to: router, tollgate)
    addFreeSubscriptions(to: router, tollgate)
    addSessions(to: router, tollgate)
    router.post(APIPath.customers.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let body = try await request.bytes(upTo: 256 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted = try StrictBody.decode(API.CreateCustomerRequest.self, from: body)
            let (customer, isNew) = try await tollgate.customers.create(wanted)
            return try WriteAnswer(customer, status: isNew ? .created : .ok, about: customer.id)
        }
    }
    router.get(APIPath.customer.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.directory.customer(try context.id))
    }
    router.delete(APIPath.customer.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.customers.erase(try context.id))
    }
}

/// Entitlements, and why they are held.
private func addAnswers(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.customerEntitlements.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        let customer = try credentials.customer(context.id, .activeEntitlements)
        let session = credentials.session
        let answer = try await tollgate.entitlements.answer(
            of: customer,
            in: try credentials.environment(request.environment()),
            at: try request.instant(APIQuery.at),
            signed: session != nil,
            app: try credentials.askingApp(request.headers, tollgate)
        )
        return try Response.entitlements(answer, to: request.headers)
    }
    router.get(APIPath.customerExplain.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        guard let lookupKey = request.uri.queryParameters["lookup_key"] else {
            throw Refusal.missingParameter("lookup_key")
        }
        let explanation = try await tollgate.explanations.explain(
            String(lookupKey),
            for: try context.id,
            in: try request.environment(),
            at: try request.instant(APIQuery.at),
            known: try request.instant(APIQuery.known)?.milliseconds
        )
        return try Response.json(explanation)
    }
}

/// Coins, and what is given by hand.
private func addCoinsAndGrants(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.customerCoins.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        let customer = try credentials.customer(context.id, nil)
        return try Response.json(
            try await tollgate.coins.balance(
                of: customer,
                in: try credentials.environment(request.environment())
            )
        )
    }
    router.post(APIPath.customerCoinsSpend.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        let key = try request.idempotencyKey
        let reply = try await tollgate.coins.spend(
            try await request.json(API.SpendRequest.self),
            of: try context.id,
            in: try request.environment(),
            idempotencyKey: key
        )
        return try Response.json(reply)
    }
    router.post(APIPath.customerGrants.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        let key = try request.idempotencyKey
        let grant = try await tollgate.grants.give(
            try await request.json(API.GrantRequest.self),
            to: try context.id,
            in: try request.environment(),
            idempotencyKey: key
        )
        return try Response.json(grant, status: .created)
    }
}

/// Free subscriptions, and purchases that change hands.
private func addFreeSubscriptions(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.customerFreeSubscriptions.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        let customer = try credentials.customer(context.id, nil)
        let (subscription, isNew) = try await tollgate.freeSubscriptions.take(
            try await request.json(API.FreeSubscriptionRequest.self),
            for: customer,
            in: try credentials.environment(request.environment())
        )
        return try Response.json(subscription, status: isNew ? .created : .ok)
    }
    router.delete(APIPath.customerFreeSubscriptions.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        let customer = try credentials.customer(context.id, nil)
        guard let product = request.uri.queryParameters[Substring(APIQuery.product)] else {
            throw Refusal.missingParameter("product")
        }
        return try Response.json(
            try await tollgate.freeSubscriptions.remove(
                String(product),
                of: customer,
                in: try credentials.environment(request.environment())
            )
        )
    }
    router.get(APIPath.customerPurchases.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        return try Response.json(
            try await tollgate.customerPurchases.list(
                of: try credentials.customer(context.id, .activeEntitlements),
                in: try credentials.environment(request.environment())
            )
        )
    }
    router.post(APIPath.customerPurchases.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(
            try await tollgate.purchases.assign(
                try await request.json(API.PurchaseAssignment.self),
                to: try context.id
            )
        )
    }
}

/// Sessions of customers.
private func addSessions(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.customerSessions.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let body = try await request.bytes(upTo: 256 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted = try StrictBody.customerSession(body, isForm: request.isForm)
            let session = try await tollgate.sessions.create(
                wanted,
                environment: try request.environment()
            )
            return try WriteAnswer(session, about: session.customer)
        }
    }
    router.post(APIPath.customerSessionsRevoke.route) { request, _ in
        switch try await Credentials(request, tollgate) {
        case .secret:
            let wanted = try await request.json(API.SessionRevocationRequest.self)
            return try Response.json(try await tollgate.sessions.revoke(wanted))
        case .session:
            // What it says is not needed, but it must not be nonsense.
            _ = try await request.jsonIfAny(API.SessionRevocationRequest.self)
            let secret = Credentials.key(of: request) ?? ""
            return try Response.json(try await tollgate.sessions.revoke(secret))
        case .publishable:
            throw Refusal.forbidden(
                "key_scope",
                "This address takes the secret key, or the session that is to end."
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
