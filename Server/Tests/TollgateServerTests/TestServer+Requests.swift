import SandboxClock
import TollgateService
import Storage
import AppStoreSimulator
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing
import TollgateAPI

/// What came back.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPFields
    var bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The body as JSON; null if it is none.
    var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))) ?? .null }
    var headerNames: Set<String> { Set(headers.map(\.name.canonicalName)) }
    /// The error's code.
    var code: String? { json["error"]["code"].string }
}

extension TestServer {
    /// Sends a request and compares the answer with `openapi.json`.
    ///
    /// - Parameters:
    ///   - key: the bearer; `nil` sends none.
    ///   - session: goes beside the key, as BillingSDK sends it.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        as key: String? = secretKey,
        session: String? = nil,
        json: String? = nil,
        body: [UInt8]? = nil,
        headers extra: [String: String] = [:],
        location: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        if let key { headers[.authorization] = "Bearer \(key)" }
        if json != nil { headers[.contentType] = "application/json" }
        var extra = extra
        extra[APIHeader.customerSession] = session
        for (name, value) in extra {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        let bytes = body ?? json.map { Array($0.utf8) }
        let response = try await client.executeRequest(
            uri: path,
            method: method,
            headers: headers,
            body: bytes.map { ByteBuffer(bytes: $0) }
        )
        let answer = Answer(
            status: response.status.code,
            headers: response.headers,
            bytes: Array(response.body.readableBytesView)
        )
        if method != .head {
            let problems = OpenAPIDocument.ofServer.problems(
                with: answer,
                to: method.rawValue,
                path
            )
            #expect(problems.isEmpty, "\(method) \(path)", sourceLocation: location)
        }
        if answer.status >= 400 {
            let dump = DumpedWords.found(in: answer.text)
            #expect(dump == nil, "\(method) \(path): \(answer.text)", sourceLocation: location)
        }
        return answer
    }

    func get(
        _ path: String,
        as key: String? = secretKey,
        session: String? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await send(.get, path, as: key, session: session, location: location)
    }

    func post(
        _ path: String,
        as key: String? = secretKey,
        session: String? = nil,
        _ json: String = "{}",
        idempotencyKey: String? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await send(
            .post,
            path,
            as: key,
            session: session,
            json: json,
            headers: idempotencyKey.map { [APIHeader.idempotencyKey: $0] } ?? [:],
            location: location
        )
    }

    // MARK: - What many tests begin with

    /// A new customer of the app's backend; returns their id.
    func customer(_ user: String = "user-1", token: UUID? = nil) async throws -> String {
        let token = token.map { ",\"app_account_token\":\"\($0.uuidString)\"" } ?? ""
        let answer = try await post("/v1/customers", "{\"app_user_id\":\"\(user)\"\(token)}")
        return try #require(answer.json["id"].string)
    }

    /// A session's secret.
    func session(
        of customer: String,
        components: [String] = ["buy_button", "active_entitlements", "customer_portal"]
    ) async throws -> String {
        let enabled = components.map { "\"\($0)\":{\"enabled\":true}" }.joined(separator: ",")
        let answer = try await post(
            "/v1/customer_sessions",
            "{\"customer\":\"\(customer)\",\"components\":{\(enabled)}}"
        )
        return try #require(answer.json["client_secret"].string)
    }

    /// A customer with a hundred coins or more, bought in the App Store.
    func customerWithCoins(_ user: String = "user-1", quantity: Int = 1) async throws -> String {
        let token = UUID()
        let id = try await customer(user, token: token)
        let buyer = try await appStore.createCustomer()
        _ = try await appStore.buy(
            "com.example.app.coins100",
            customer: buyer.id,
            appAccountToken: token.uuidString.lowercased(),
            quantity: quantity
        )
        #expect(try await deliverNewestNotification().status == 200)
        return id
    }

    /// Posts what the App Store has signed last.
    func deliverNewestNotification() async throws -> Answer {
        let newest = try #require(await appStore.notifications().last)
        return try await deliver(newest.signedPayload)
    }

    /// Posts everything that the App Store has signed so far, in order; what is known changes
    /// nothing.
    func deliverNotifications(
        location: SourceLocation = #_sourceLocation
    ) async throws {
        for notification in await appStore.notifications() {
            let answer = try await deliver(notification.signedPayload)
            #expect(answer.status == 200, sourceLocation: location)
        }
    }

    /// The store's time goes on; what happens meanwhile is delivered.
    func pass(days: Double) async throws {
        await clock.advance(to: clock.now + Int64(days * 86_400_000))
        try await deliverNotifications()
    }

    /// What the customer may use now, by lookup key, and on what ground.
    func access(of customer: String) async throws -> [String: String] {
        let list = try await get("/v1/customers/\(customer)/entitlements")
        var access: [String: String] = [:]
        for entitlement in list.json["data"].array ?? [] {
            if let key = entitlement["lookup_key"].string {
                access[key] = entitlement["ground"].string
            }
        }
        return access
    }

    /// A device shows what StoreKit gave it.
    func present(
        _ jws: String,
        mode: String = "purchased",
        session: String,
        location: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await post(
            "/v1/app_store/transactions",
            as: session,
            "{\"signed_transaction\":\"\(jws)\",\"mode\":\"\(mode)\"}",
            location: location
        )
    }

    func deliver(_ signedPayload: String) async throws -> Answer {
        try await send(
            .post,
            "/webhooks/app_store",
            as: nil,
            json: "{\"signedPayload\":\"\(signedPayload)\"}"
        )
    }

    /// How many rows each table of evidence and of what is derived from it has.
    func rowCounts() async throws -> [String: Int64] {
        try await tollgate.store.driver.read { connection in
            var counts: [String: Int64] = [:]
            for (table, count) in [
                ("journal", "SELECT count(*) FROM journal"),
                ("purchase", "SELECT count(*) FROM purchase"),
                ("customer", "SELECT count(*) FROM customer"),
                ("holding", "SELECT count(*) FROM holding"),
                ("transfer", "SELECT count(*) FROM transfer"),
                ("wanted", "SELECT count(*) FROM wanted"),
            ] {
                counts[table] = try connection.query(count).first?.int64(0)
            }
            return counts
        }
    }
}
