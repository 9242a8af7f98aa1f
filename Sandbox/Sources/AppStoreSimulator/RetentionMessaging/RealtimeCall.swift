import Foundation

/// One request to the app's `Get Retention Message` endpoint, signed and ready to go.
struct RealtimeCall: Sendable {
    var url: String
    var requestIdentifier: String
    var signedPayload: String
    /// Milliseconds of real time that the app has to answer.
    var limit: Int64

    /// The app's answer.
    struct Answer: Sendable {
        var result: SimulatedAppStore.SendAttemptResult
        /// The body as it came.
        var body: Data
        /// The choice, where the body is one.
        var reply: RealtimeReply?
        /// Milliseconds of real time.
        var duration: Int64
    }

    /// Signs a request about a subscription; `nil` where the app has set up no URL.
    init?(
        about subscription: Subscription,
        locale: String,
        in world: inout World,
        by signer: StoreSigner,
        at now: Int64,
        limit: Int64
    ) throws {
        guard let url = world.retention?.realtimeURL else { return nil }
        self.url = url
        self.limit = limit
        requestIdentifier = world.random.uuid()
        signedPayload = try signer.sign(
            RealtimeRequestPayload(
                originalTransactionId: subscription.originalTransactionID,
                appAppleId: world.appAppleID,
                productId: subscription.productID,
                userLocale: locale,
                requestIdentifier: requestIdentifier,
                environment: signer.environment.rawValue,
                signedDate: signer.date(at: now)
            )
        )
    }

    private struct Body: Encodable {
        var signedPayload: String
    }

    /// Posts it.
    ///
    /// Only 200 with a `RealtimeResponseBody`, within the limit, is a success
    /// (<https://developer.apple.com/documentation/retentionmessaging/responding-to-realtime-retention-messaging-requests>).
    func send() async -> Answer {
        let clock = ContinuousClock()
        let start = clock.now
        let json = (try? JSONEncoder().encode(Body(signedPayload: signedPayload))) ?? Data()
        var (result, body) = await HTTPDelivery(timeout: limit)
            .exchange(json, with: url, successes: 200...200)
        let reply = try? JSONDecoder().decode(RealtimeReply.self, from: body)
        let isReply = reply?.isOne ?? false
        if result == .success, !isReply { result = .invalidResponse }
        let duration = (clock.now - start) / .milliseconds(1)
        return Answer(
            result: result,
            body: body,
            reply: result == .success ? reply : nil,
            duration: Int64(duration)
        )
    }
}
