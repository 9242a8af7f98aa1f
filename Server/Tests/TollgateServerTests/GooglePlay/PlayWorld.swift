import AsyncHTTPClient
import Foundation
import GooglePlayAPI
import GooglePlaySimulator
import HTTPTypes
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// A server and a simulated Google Play, each over HTTP on loopback, on one clock.
struct PlayWorld: Sendable {
    static let package = "com.example.app"
    static let audience = "https://billing.example.com/webhooks/google_play"
    static let topic = "projects/sandbox/subscriptions/play"
    static let day: Int64 = 86_400_000

    /// What is sold: as in the sample catalog, under Play's own names.
    private static let products = """
        {"subscriptions": [
          {"product_id": "pro", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 9990000,
             "grace_period": "P7D",
             "regions": {"DE": {"price_micros": 10990000, "currency": "EUR"}}},
            {"base_plan_id": "short", "kind": "prepaid", "period": "P3D", "price_micros": 1990000}]},
          {"product_id": "pro_year", "base_plans": [
            {"base_plan_id": "yearly", "period": "P1Y", "price_micros": 79990000,
             "grace_period": "P0D"}]}],
         "one_time_products": [
          {"product_id": "coins100", "price_micros": 10000000},
          {"product_id": "lifetime", "price_micros": 199000000}]}
        """

    let server: TestServer
    let play: SimulatedGooglePlay
    let port: Int

    /// How hints come.
    enum Hints { case pushed, pulled }

    /// Answers a call of the Developer API in Google's place; `nil` lets it through.
    typealias Interception =
        @Sendable (GooglePlay.HTTPRequest) async throws -> GooglePlay.HTTPResponse?

    /// Serves while `test` runs.
    ///
    /// - Parameters:
    ///   - licensed: the app's licence key is known.
    ///   - foreign: packages of apps before it, which Google does not let this account read.
    ///   - reported: the bucket with the reports is read.
    ///   - intercept: answers calls in Google's place.
    ///   - set: changes how Google Play is spoken to.
    static func run(
        on backend: Backend = .sqlite,
        hints: Hints = .pushed,
        licensed: Bool = false,
        foreign: [String] = [],
        reported: Bool = false,
        intercept: @escaping Interception = { _ in nil },
        set: @escaping @Sendable (inout GooglePlaySetUp) -> Void = { _ in },
        _ test: @escaping @Sendable (PlayWorld) async throws -> Void
    ) async throws {
        let clock = VirtualClock(now: TestServer.start)
        let play = try SimulatedGooglePlay(configuration: Self.configuration, clock: clock)
        await clock.join(play)
        try await play.application(host: "127.0.0.1", port: 0).test(.ahc(.http)) { client in
            let port = client.port ?? 0
            let app = try await Self.app(at: port)
            var setUp = try await Self.setUp(
                of: play,
                port: port,
                hints,
                foreign,
                bucket: reported ? app["bucket"].string : nil,
                intercept
            )
            if licensed {
                setUp.apps[setUp.apps.count - 1].licenseKey = app["license_key"].string.flatMap(
                    LicenseKey.init(base64:)
                )
            }
            set(&setUp)
            let ready = setUp
            try await TestServer.run(
                on: backend,
                catalog: { catalog in sell(&catalog) },
                clock: clock,
                googlePlay: ready
            ) { server in
                let world = PlayWorld(server: server, play: play, port: port)
                if case .pushed = hints { try await world.push() }
                try await test(world)
            }
        }
    }

    /// Plays Google Play while `test` runs, without a server beside it.
    static func alone(
        intercept: @escaping Interception = { _ in nil },
        _ test: @escaping @Sendable (GooglePlaySetUp) async throws -> Void
    ) async throws {
        let play = try SimulatedGooglePlay(
            configuration: Self.configuration,
            clock: VirtualClock(now: TestServer.start)
        )
        try await play.application(host: "127.0.0.1", port: 0).test(.ahc(.http)) { client in
            let setUp = try await Self.setUp(
                of: play,
                port: client.port ?? 0,
                .pushed,
                [],
                bucket: nil,
                intercept
            )
            try await test(setUp)
        }
    }

    /// Making keys takes longer than most of these tests.
    private static let keys = Result { try SimulatedGooglePlay.makeKeys() }

    private static var configuration: SimulatedGooglePlay.Configuration {
        get throws {
            var configuration = SimulatedGooglePlay.Configuration(
                packageName: package,
                catalog: Data(products.utf8)
            )
            configuration.keys = try keys.get()
            return configuration
        }
    }

    /// The app as the sandbox knows it.
    private static func app(at port: Int) async throws -> JSONValue {
        let answer = try await transport(
            GooglePlay.HTTPRequest(method: "GET", url: "http://127.0.0.1:\(port)/sandbox/app")
        )
        return try JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
    }

    /// Gives products of the sample catalog their names in Google Play.
    private static func sell(_ catalog: inout TollgateCore.Catalog) {
        let names = [
            "pro_monthly": "pro", "pro_yearly": "pro_year", "coins_100": "coins100",
            "lifetime": "lifetime",
        ]
        for index in catalog.products.indices {
            catalog.products[index].googlePlayProductID = names[catalog.products[index].id]
            catalog.products[index].googlePlayBasePlans = nil
        }
    }

    private static func setUp(
        of play: SimulatedGooglePlay,
        port: Int,
        _ hints: Hints,
        _ foreign: [String],
        bucket: String?,
        _ intercept: @escaping Interception
    ) async throws -> GooglePlaySetUp {
        let base = "http://127.0.0.1:\(port)"
        let transport: GooglePlay.Transport = { request in
            if let answer = try await intercept(request) { return answer }
            return try await Self.transport(request)
        }
        let file = await play.serviceAccountFile(tokenURL: base + "/token")
        let account = try await GooglePlay.ServiceAccount(json: Array(file))
        // Tokens are made and checked by real time.
        let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
        func tokens(_ scope: String) -> GooglePlay.AccessTokens {
            GooglePlay.AccessTokens(
                account: account,
                scopes: [scope],
                transport: transport,
                now: now
            )
        }
        var setUp = GooglePlaySetUp(
            apps: (foreign + [package]).map { name in
                GooglePlaySetUp.App(
                    client: GooglePlay.Client(
                        packageName: name,
                        apiBase: base,
                        tokens: tokens(GooglePlay.publisherScope),
                        transport: transport
                    )
                )
            }
        )
        setUp.bucket = bucket.map { bucket in
            GooglePlay.StorageClient(
                bucket: bucket,
                apiBase: base,
                tokens: tokens(GooglePlay.storageScope),
                transport: transport
            )
        }
        switch hints {
        case .pushed:
            setUp.pushTokens = GooglePlay.PushTokens(
                GooglePlay.PushTokenVerifier(
                    audience: audience,
                    serviceAccountEmail: account.email
                ),
                keysURL: base + "/oauth2/v3/certs",
                transport: transport,
                now: now
            )
        case .pulled:
            setUp.pulls = GooglePlay.PubSubClient(
                subscription: topic,
                apiBase: base,
                tokens: tokens(GooglePlay.pubSubScope),
                transport: transport
            )
        }
        return setUp
    }

    /// An error of the Developer API, in its form.
    static func refusal(_ status: Int, _ reason: String) -> GooglePlay.HTTPResponse {
        let error =
            #"{"code":\#(status),"message":"\#(reason)","errors":[{"reason":"\#(reason)"}]}"#
        return GooglePlay.HTTPResponse(status: status, body: Array(#"{"error":\#(error)}"#.utf8))
    }

    @Sendable private static func transport(
        _ request: GooglePlay.HTTPRequest
    ) async throws -> GooglePlay.HTTPResponse {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = .init(rawValue: request.method)
        for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
        if let body = request.body { outgoing.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await HTTPClient.shared.execute(outgoing, timeout: .seconds(300))
        let body = try await response.body.collect(upTo: 16 << 20)
        return GooglePlay.HTTPResponse(
            status: Int(response.status.code),
            headers: Dictionary(
                response.headers.map { ($0.name, $0.value) },
                uniquingKeysWith: { first, _ in first }
            ),
            body: Array(body.readableBytesView)
        )
    }

    // MARK: - What happens at Google's

    /// The room under test.
    var room: GooglePlayConnector { server.tollgate.googlePlay }

    /// Does something at the sandbox: `act("purchases", #"{"product_id":"pro"}"#)`.
    @discardableResult
    func act(
        _ path: String,
        _ body: String = "{}",
        _ method: String = "POST"
    ) async throws -> JSONValue {
        let answer = try await Self.transport(
            GooglePlay.HTTPRequest(
                method: method,
                url: "http://127.0.0.1:\(port)/sandbox/\(path)",
                headers: ["Content-Type": "application/json"],
                body: method == "GET" ? nil : Array(body.utf8)
            )
        )
        #expect(
            (200...299).contains(answer.status),
            "\(path): \(String(decoding: answer.body, as: UTF8.self))"
        )
        return try JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
    }

    /// Has hints pushed to the server.
    private func push() async throws {
        let email = try await act("app", "", "GET")["service_account_email"].string ?? ""
        try await act(
            "subscriptions",
            """
            {"name":"play","push_endpoint":"http://127.0.0.1:\(server.client.port ?? 0)\
            /webhooks/google_play","audience":"\(Self.audience)","service_account_email":"\(email)"}
            """,
            "PUT"
        )
    }

    /// A customer of ours with an account at Google's: id, and the account's id.
    func person(
        _ name: String = "anna",
        tester: Bool = false,
        payment: String = "approves",
        region: String = "US",
        named: Bool = true
    ) async throws -> (id: String, account: String) {
        let id = try await server.customer(name)
        let customer = try await server.get("/v1/customers/\(id)")
        let token = try #require(customer.json["app_account_token"].string)
        let names = named ? #","obfuscated_account_id":"\#(token)""# : ""
        let account = try await act(
            "accounts",
            #"{"tester":\#(tester),"payment":"\#(payment)","region":"\#(region)"\#(names)}"#
        )
        return (id, try #require(account["id"].string))
    }

    /// Buys; returns the purchase token.
    func buy(_ product: String, for account: String, _ more: String = "") async throws -> String {
        let bought = try await act(
            "purchases",
            #"{"product_id":"\#(product)","account":"\#(account)"\#(more)}"#
        )
        return try #require(bought["purchase_token"].string)
    }

    /// Reads what hints have raised, looks a second time, and does what has a deadline.
    func settle() async throws {
        for _ in 0..<3 {
            _ = await room.listen()
            _ = await room.askWhatIsWanted()
        }
        await server.clock.advance(to: await server.clock.now + 11_000)
        server.wall.advance(seconds: 11)
        _ = await room.askWhatIsWanted()
    }

    func wait(days: Double) async {
        await server.clock.advance(
            to: await server.clock.now + Int64(days * Double(Self.day))
        )
        server.wall.advance(seconds: 3_600)
    }

    /// The lookup keys that a customer may use now.
    func entitlements(of customer: String) async throws -> [String] {
        let list = try await server.get(
            "/v1/customers/\(customer)/entitlements?environment=production"
        )
        return (list.json["data"].array ?? []).compactMap { $0["lookup_key"].string }.sorted()
    }

    func coins(of customer: String) async throws -> Int64? {
        try await server.get("/v1/customers/\(customer)/coins?environment=production")
            .json["balance"].integer
    }

    /// The purchase as the sandbox shows it.
    func look(_ token: String) async throws -> JSONValue {
        try await act("purchases/\(token)", "", "GET")
    }

    /// Questions and acts that wait.
    func waiting() async throws -> [String: Int64] {
        let lengths = try await server.tollgate.store.queueLengths()
        return Dictionary(
            lengths.wanted.map { ($0.kind, $0.count) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The number of the journal's rows about a purchase.
    func rows(of token: String) async throws -> Int64 {
        let key = try #require(try await record(token)?.key)
        let rows = try await server.tollgate.store.driver.readNow(
            "SELECT count(*) FROM journal WHERE subject = $1",
            [RowKey(key).value]
        )
        return try rows.first?.int64(0) ?? 0
    }

    /// The record of a token in the sandbox environment or in production.
    func record(
        _ token: String,
        in environment: StoreEnvironment = .production
    ) async throws -> Purchase? {
        try await server.tollgate.store.record(
            of: Purchase.Key(
                store: .googlePlay,
                environment: environment,
                application: Self.package,
                id: token
            )
        )
    }
}
