import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import HTTPTypes
import HummingbirdTesting
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService

/// What customers see who are about to cancel: the simulated App Store asks the server over HTTP, and
/// judges what it answers.
@Suite("Retention messages")
struct RetentionMessageTests {
    static let monthly = ProductTypeTests.monthly
    static let yearly = "com.example.app.pro.yearly"
    private static let message = UUID()
    private static let other = UUID()

    /// A server by these rules, its address known to the store, and both messages uploaded.
    private static func run(
        _ rules: [RetentionRule],
        _ test: @Sendable (TestServer, String) async throws -> Void
    ) async throws {
        try await TestServer.run(retentionRules: rules) { server in
            // The store checks the signatures of offers by real time.
            let real = Int64(Date().timeIntervalSince1970)
            server.wall.advance(seconds: real - TestServer.start / 1000)
            let port = try #require(server.client.port)
            let client = try #require(server.tollgate.appStore.clients).apps[0].sandbox
            try await client.configureRealtimeURL(
                "http://localhost:\(port)/webhooks/app_store/retention_message"
            )
            for id in [message, other] {
                try await client.uploadMessage(id, .init(header: "Stay", body: "Please."))
            }
            let customer = try await server.appStore.createCustomer().id
            let bought = try await server.appStore.buy(monthly, customer: customer)
            try await test(server, bought.originalTransactionID)
        }
    }

    @Test("The first rule that fits chooses what the customer sees")
    func rules() async throws {
        let rules: [RetentionRule] = [
            .init(environment: .production, message: Self.other),
            .init(product: Self.yearly, message: Self.other),
            .init(locale: "ja", message: Self.other),
            .init(product: Self.monthly, locale: "en-US", message: Self.message),
            .init(message: Self.other),
        ]
        try await Self.run(rules) { server, bought in
            for (locale, expected) in [
                ("ja", Self.other), ("en-US", Self.message), ("de-DE", Self.other),
            ] {
                let shown = try await server.appStore.showRetentionMessage(
                    for: bought,
                    locale: locale
                )
                #expect(shown.source == .realtime, "\(shown)")
                #expect(shown.messageIdentifier == expected.uuidString.lowercased())
                #expect(shown.header == "Stay")
            }
            let metrics = server.tollgate.counters.text
            #expect(metrics.contains("tollgate_retention_messages_total{reply=\"message\"} 3"))
        }
    }

    @Test("Another plan is suggested to those who do not have it")
    func alternateProduct() async throws {
        let rules: [RetentionRule] = [
            .init(message: Self.message, choice: .alternateProduct(Self.yearly)),
            .init(message: Self.other),
        ]
        try await Self.run(rules) { server, bought in
            let shown = try await server.appStore.showRetentionMessage(for: bought)
            #expect(shown.source == .realtime && shown.productID == Self.yearly, "\(shown)")
            let changed = try await server.appStore.changePlan(bought, to: Self.yearly)
            let now = try await server.appStore.showRetentionMessage(
                for: changed.originalTransactionID
            )
            #expect(now.productID == nil)
            #expect(now.messageIdentifier == Self.other.uuidString.lowercased())
        }
    }

    @Test("An offer is signed for the transaction that may be cancelled")
    func promotionalOffer() async throws {
        let rules: [RetentionRule] = [
            .init(message: Self.other, choice: .promotionalOffer("unknown", product: nil)),
            .init(message: Self.message, choice: .promotionalOffer("come_back", product: nil)),
        ]
        try await Self.run(rules) { server, bought in
            let shown = try await server.appStore.showRetentionMessage(for: bought)
            #expect(shown.source == .realtime && shown.offerIdentifier == "come_back", "\(shown)")
            #expect(shown.productID == Self.monthly)
            #expect(shown.messageIdentifier == Self.message.uuidString.lowercased())
        }
    }

    @Test("Where no rule fits, the customer sees the default message")
    func fallback() async throws {
        try await Self.run([.init(product: Self.yearly, message: Self.other)]) { server, bought in
            let client = try #require(server.tollgate.appStore.clients).apps[0].sandbox
            let none = try await server.appStore.showRetentionMessage(for: bought)
            #expect(none.source == .none)
            #expect(none.request?.result == .unsuccessfulHTTPResponseCode)
            try await client.configureDefaultMessage(
                Self.message,
                productID: Self.monthly,
                locale: "en-US"
            )
            let shown = try await server.appStore.showRetentionMessage(for: bought)
            #expect(shown.source == .defaultMessage)
            #expect(
                server.tollgate.counters.text
                    .contains("tollgate_retention_messages_total{reply=\"none\"} 2")
            )
        }
    }

    @Test("The performance test of the App Store passes")
    func performanceTest() async throws {
        try await Self.run([.init(message: Self.message)]) { server, bought in
            let client = try #require(server.tollgate.appStore.clients).apps[0].sandbox
            let test = try await client.initiatePerformanceTest(originalTransactionID: bought)
            var result = try await client.performanceTestResult(test.requestID)
            while result.result == "PENDING" {
                result = try await client.performanceTestResult(test.requestID)
            }
            #expect(result.result == "PASS" && result.successRate == 100, "\(result)")
        }
    }

    @Test(
        "J15: what the App Store did not sign for this app, or as such a request, gets no message"
    )
    func forgeries() async throws {
        try await Self.run([.init(message: Self.message)]) { server, _ in
            let path = "/webhooks/app_store/retention_message"
            let genuine = try await server.realtimeRequest()
            let parts = genuine.split(separator: ".").map(String.init)
            let stranger = try SimulatedAppStore(
                configuration: .init(bundleID: TestServer.bundleID),
                clock: server.clock
            )
            let notification = try #require(await server.appStore.notifications().last)
            let before = try await server.rowCounts()
            for (payload, status, code) in [
                (try await stranger.realtimeRequestPayload(), 400, "jws_untrusted"),
                ("\(parts[0]).\(parts[1]).\(parts[2].dropLast(4))AAAA", 400, "jws_signature"),
                ("e30.\(parts[1]).\(parts[2])", 400, "jws_alg"),
                (notification.signedPayload, 400, "jws_type"),
                (try await server.realtimeRequest(environment: "Production"), 400, "environment"),
                (try await server.realtimeRequest(environment: "Xcode"), 400, "environment"),
                (
                    try await server.realtimeRequest(signedDate: TestServer.start + 300_001), 503,
                    "jws_date"
                ), ("", 400, "jws_encoding"),
            ] {
                let answer = try await server.send(
                    .post,
                    path,
                    as: nil,
                    body: Array("{\"signedPayload\":\"\(payload)\"}".utf8)
                )
                #expect(answer.status == status && answer.code == code, "\(code): \(answer.text)")
            }
            let large = String(repeating: "a", count: 128 << 10)
            for (body, status) in [("no", 400), ("{}", 400), ("\"\(large)\"", 413)] {
                let answer = try await server.send(.post, path, as: nil, body: Array(body.utf8))
                #expect(answer.status == status)
            }
            #expect(try await server.send(.get, path, as: nil, body: []).status == 405)
            // Nobody's word is written down, and the same word again is answered again.
            for _ in 0..<2 {
                let answer = try await server.send(
                    .post,
                    path,
                    as: nil,
                    body: Array("{\"signedPayload\":\"\(genuine)\"}".utf8)
                )
                #expect(answer.status == 200)
                #expect(
                    answer.json["message"]["messageIdentifier"].string
                        == Self.message.uuidString.lowercased()
                )
            }
            #expect(try await server.rowCounts() == before)
        }
    }
}

extension TestServer {
    /// A realtime request that the simulated App Store has signed.
    func realtimeRequest(
        environment: String = "Sandbox",
        signedDate: Int64 = start
    ) async throws -> String {
        try await appStore.realtimeRequestPayload(environment, signedDate)
    }
}

extension SimulatedAppStore {
    fileprivate func realtimeRequestPayload(
        _ environment: String = "Sandbox",
        _ signedDate: Int64 = TestServer.start
    ) throws -> String {
        try sign(
            anyPayload: Data(
                """
                {"originalTransactionId":"1","appAppleId":1234567890,\
                "productId":"\(RetentionMessageTests.monthly)","userLocale":"en-US",\
                "requestIdentifier":"48ccfa42-7431-4f22-9908-7e88983e105a",\
                "environment":"\(environment)","signedDate":\(signedDate)}
                """.utf8
            )
        )
    }
}
