import AsyncHTTPClient
import BillingSDK
import Foundation
import NIOCore
import NIOHTTP1
import TollgateAPI

/// The demo app's own backend: knows who is signed in, holds the secret key, and speaks to Tollgate
/// over HTTP as anybody's would.
struct DemoBackend: Sendable {
    let serverURL: String
    let client: HTTPClient

    /// Makes the user known and returns their customer.
    func customer(_ user: String) async throws -> API.Customer {
        try await post(
            APIPath.customers.path,
            API.CreateCustomerRequest(appUserID: user),
            API.Customer.self
        )
    }

    /// The id of a Stripe Checkout session for one of the catalog's products.
    func checkout(_ product: String, for customer: String) async throws -> String {
        try await post(
            APIPath.checkoutSessions.path,
            API.CheckoutSessionRequest(customer: customer, product: product),
            API.CheckoutSession.self
        ).id
    }

    /// What the SDK's session provider asks for.
    func session(of customer: String) async throws -> UBCustomerSessionDetails {
        let session = try await post(
            APIPath.customerSessions.path,
            API.CreateCustomerSessionRequest(customer: customer, components: .all),
            API.CustomerSession.self
        )
        return UBCustomerSessionDetails(
            clientSecret: session.clientSecret,
            expiresAt: Date(timeIntervalSince1970: TimeInterval(session.expiresAt)),
            customer: session.customer
        )
    }

    /// Spends coins on something in the app.
    func spend(_ amount: Int64, of customer: String, key: String) async throws -> API.SpendReply {
        try await post(
            APIPath.customerCoinsSpend.path(id: customer),
            API.SpendRequest(amount: amount, reason: "demo"),
            API.SpendReply.self,
            key: key
        )
    }

    /// Hands a purchase token to Tollgate, as an Android app does with its customer's session.
    func present(
        _ purchase: API.GooglePlayPurchaseRequest,
        as session: UBCustomerSessionDetails
    ) async throws {
        _ = try await send(
            "POST",
            APIPath.googlePlayPurchases.path,
            try APIJSON.encode(purchase),
            API.GooglePlayPurchaseReply.self,
            key: nil,
            bearer: session.clientSecret
        )
    }

    /// What the customer may use, since when, until when and why.
    func entitlements(of customer: String) async throws -> [API.Entitlement] {
        try await send(
            "GET",
            APIPath.customerEntitlements.path(id: customer),
            nil,
            API.EntitlementList.self,
            key: nil
        ).data
    }

    func explain(_ lookupKey: String, for customer: String) async throws -> API.Explanation {
        let path = APIPath.customerExplain.path(id: customer) + "?lookup_key=\(lookupKey)"
        return try await send("GET", path, nil, API.Explanation.self, key: nil)
    }

    /// The status of a page, opened as a browser does that comes by a link: it follows where the link
    /// leads, with the cookie that it was given.
    func status(of url: String) async throws -> Int {
        try await HTTPClient.withHTTPClient(
            configuration: .init(redirectConfiguration: .disallow)
        ) { try await Self.visit(url, with: $0) }
    }

    private static func visit(_ url: String, with browser: HTTPClient) async throws -> Int {
        var request = HTTPClientRequest(url: url)
        var response = try await browser.execute(request, timeout: .seconds(30))
        if response.status == .seeOther, let location = response.headers.first(name: "Location"),
            let next = URL(string: location, relativeTo: URL(string: url))
        {
            request = HTTPClientRequest(url: next.absoluteString)
            for cookie in response.headers["Set-Cookie"] {
                let pair = cookie.prefix { $0 != ";" }
                request.headers.add(name: "Cookie", value: String(pair))
            }
            response = try await browser.execute(request, timeout: .seconds(30))
        }
        _ = try await response.body.collect(upTo: 1 << 20)
        return Int(response.status.code)
    }

    private func post<Answer: Decodable>(
        _ path: String,
        _ body: some Encodable,
        _ type: Answer.Type,
        key: String? = nil
    ) async throws -> Answer {
        try await send("POST", path, try APIJSON.encode(body), type, key: key)
    }

    private func send<Answer: Decodable>(
        _ method: String,
        _ path: String,
        _ body: Data?,
        _ type: Answer.Type,
        key: String?,
        bearer: String = DemoWorld.secretKey
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: serverURL + path)
        request.method = .init(rawValue: method)
        request.headers.add(name: APIHeader.authorization, value: APIHeader.bearer(bearer))
        if let key { request.headers.add(name: APIHeader.idempotencyKey, value: key) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await client.execute(request, timeout: .seconds(30))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        let data = Data(bytes.readableBytesView)
        guard (200...299).contains(Int(response.status.code)) else {
            throw try APIJSON.decode(APIError.self, from: data)
        }
        return try APIJSON.decode(type, from: data)
    }
}
