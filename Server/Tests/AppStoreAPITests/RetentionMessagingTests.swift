import AppStoreAPI
import Crypto
import Foundation
import StrictJSON
import Testing

/// The Retention Messaging API as it is asked, and how its answers are read; the answers are those of
/// Apple's library (`tests/resources/models`).
@Suite struct RetentionMessagingTests {
    private static let id = "a1b2c3d4-e5f6-7890-a1b2-c3d4e5f67890"
    private static let messaging = "/inApps/v1/messaging"

    private static func uuid(_ text: String = id) throws -> UUID {
        try #require(UUID(uuidString: text))
    }

    static let endpoints: [ServerAPITests.Endpoint] = [
        .init(
            "GET \(messaging)/image/list",
            "{\"imageIdentifiers\":[{\"imageIdentifier\":\"\(id)\",\"imageState\":\"APPROVED\","
                + "\"imageSize\":\"FULL_SIZE\"}]}"
        ) {
            let images = try await $0.imageList()
            let known = try uuid()
            #expect(images.map(\.imageIdentifier) == [known])
            #expect(images.map(\.state?.rawValue) == ["APPROVED"])
            #expect(images.map(\.size) == [.fullSize])
        },
        .init("DELETE \(messaging)/image/\(id)") { try await $0.deleteImage(try uuid()) },
        .init(
            "PUT \(messaging)/message/\(id)",
            body: "{\"header\":\"Stay\",\"body\":\"Please.\","
                + "\"image\":{\"imageIdentifier\":\"\(id)\",\"altText\":\"A \\\"table\\\"\"},"
                + "\"headerPosition\":\"ABOVE_IMAGE\","
                + "\"bulletPoints\":[{\"text\":\"Fresh\",\"imageIdentifier\":\"\(id)\","
                + "\"altText\":\"A leaf\"}]}"
        ) {
            let image = AppStore.RetentionMessage.Image(
                imageIdentifier: try uuid(),
                altText: "A \"table\""
            )
            let leaf = AppStore.RetentionMessage.Image(
                imageIdentifier: try uuid(),
                altText: "A leaf"
            )
            try await $0.uploadMessage(
                try uuid(),
                .init(
                    header: "Stay",
                    body: "Please.",
                    image: image,
                    isHeaderAboveImage: true,
                    bulletPoints: [.init(text: "Fresh", image: leaf)]
                )
            )
        },
        .init(
            "PUT \(messaging)/message/\(id)",
            body: "{\"header\":\"Stay\",\"body\":\"Please.\"}"
        ) { try await $0.uploadMessage(try uuid(), .init(header: "Stay", body: "Please.")) },
        .init("DELETE \(messaging)/message/\(id)") { try await $0.deleteMessage(try uuid()) },
        .init(
            "GET \(messaging)/message/list",
            "{\"messageIdentifiers\":[{\"messageIdentifier\":\"\(id)\","
                + "\"messageState\":\"PENDING\"}]}"
        ) {
            let messages = try await $0.messageList()
            #expect(messages.map(\.state?.rawValue) == ["PENDING"])
        },
        .init(
            "PUT \(messaging)/default/com.example.monthly/en-US",
            body: "{\"messageIdentifier\":\"\(id)\"}"
        ) {
            try await $0.configureDefaultMessage(
                try uuid(),
                productID: "com.example.monthly",
                locale: "en-US"
            )
        },
        .init("GET \(messaging)/default/monthly/ja", "{\"messageIdentifier\":\"\(id)\"}") {
            let (found, known) = (
                try await $0.defaultMessage(productID: "monthly", locale: "ja"), try uuid()
            )
            #expect(found == known)
        },
        .init("DELETE \(messaging)/default/monthly/zh-Hans") {
            try await $0.deleteDefaultMessage(productID: "monthly", locale: "zh-Hans")
        },
        .init(
            "PUT \(messaging)/realtime/url",
            body: "{\"realtimeURL\":\"https://example.com/retention\"}"
        ) { try await $0.configureRealtimeURL("https://example.com/retention") },
        .init("GET \(messaging)/realtime/url", "{\"realtimeURL\":\"https://example.com/\"}") {
            let url = try await $0.realtimeURL()
            #expect(url == "https://example.com/")
        },
        .init("DELETE \(messaging)/realtime/url") { try await $0.deleteRealtimeURL() },
        .init(
            "POST \(messaging)/performanceTest",
            "{\"config\":{\"maxConcurrentRequests\":10,\"totalRequests\":100,"
                + "\"totalDuration\":60000,\"responseTimeThreshold\":500,"
                + "\"successRateThreshold\":95},\"requestId\":\"\(id)\"}",
            body: "{\"originalTransactionId\":\"1\"}"
        ) {
            let test = try await $0.initiatePerformanceTest(originalTransactionID: "1")
            #expect(test.requestID == id && test.configuration?.responseTimeThreshold == 500)
            #expect(test.configuration?.totalRequests == 100)
        },
        .init(
            "GET \(messaging)/performanceTest/result/\(id)",
            "{\"target\":\"https://example.com/retention\",\"result\":\"PASS\",\"successRate\":98,"
                + "\"numPending\":0,\"responseTimes\":{\"average\":120,\"p50\":100,\"p90\":200,"
                + "\"p95\":250,\"p99\":400},\"failures\":{\"TIMED_OUT\":1,\"NO_RESPONSE\":1}}"
        ) {
            let result = try await $0.performanceTestResult(id)
            #expect(result.result == "PASS" && result.successRate == 98)
            #expect(result.failures == ["TIMED_OUT": 1, "NO_RESPONSE": 1])
            #expect(result.responseTimes?.p99 == 400 && result.pendingCount == 0)
        },
    ]

    @Test(arguments: endpoints)
    func anEndpointIsAskedAsDocumented(_ endpoint: ServerAPITests.Endpoint) async throws {
        try await ServerAPITests().anEndpointIsAskedAsDocumented(endpoint)
    }

    @Test func anImageGoesOutAsItIs() async throws {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0, 255]
        let store = ServerAPITests.Store([.init(status: 200)])
        let client = AppStore.ServerAPIClient(
            key: .init(issuerID: "issuer", keyID: "ABCDEFGHIJ", privateKey: .init()),
            bundleID: Payloads.bundleID,
            hosts: ["https://one.test"],
            transport: { try await store.answer($0) },
            now: { ServerAPITests.now }
        )
        try await client.uploadImage(try Self.uuid(), png: png, size: .bulletPoint)
        let request = try #require(await store.requests.first)
        #expect(request.method == "PUT" && request.body == png)
        #expect(
            request.url
                == "https://one.test\(Self.messaging)/image/\(Self.id)?imageSize=BULLET_POINT"
        )
        #expect(request.headers["Content-Type"] == "image/png")
    }

    @Test("A reply is one of Apple's choices, in Apple's words")
    func replies() throws {
        let id = try Self.uuid()
        for (reply, text) in [
            (AppStore.RealtimeResponse.message(id), #"{"message":{"messageIdentifier":"ID"}}"#),
            (
                .alternateProduct(id, productID: "yearly"),
                #"{"alternateProduct":{"messageIdentifier":"ID","productId":"yearly"}}"#
            ),
            (
                .alternateProduct(
                    id,
                    productID: "yearly",
                    billingPlanType: .init(rawValue: "MONTHLY")
                ),
                #"{"alternateProduct":{"messageIdentifier":"ID","productId":"yearly","billingPlanType":"MONTHLY"}}"#
            ),
            (
                .promotionalOffer(id, compactJWS: "a.b.c"),
                #"{"promotionalOffer":{"messageIdentifier":"ID","promotionalOfferSignatureV2":"a.b.c"}}"#
            ),
        ] {
            #expect(
                String(decoding: reply.body, as: UTF8.self)
                    == text.replacing("ID", with: Self.id)
            )
        }
    }
}
