import Foundation
import SandboxClock

/// Retention messaging, as far as it takes the store's time or calls the app's endpoint.
extension SimulatedAppStore {
    var retention: Retention { world.retention ?? Retention() }

    /// Changes the app's retention messaging, and keeps it.
    func changeRetention(_ body: @Sendable (inout Retention, World) throws -> Void) rethrows {
        var retention = retention
        try body(&retention, world)
        world.retention = retention
        save()
    }

    /// The customer taps Cancel Subscription: asks the app's endpoint, and falls back to the default
    /// message where that fails for any reason.
    ///
    /// - Parameter locale: of the device, as in `en-US`.
    public func showRetentionMessage(
        for originalTransactionID: String,
        locale: String = "en-US"
    ) async throws -> ShownRetentionMessage {
        let now = await clock.now
        let subscription = try world.subscription(originalTransactionID)
        guard subscription.sharedFrom == nil, subscription.autoRenews else {
            throw Refusal.notPossible("Only who pays for a subscription that renews can cancel it.")
        }
        let call = try RealtimeCall(
            about: subscription,
            locale: locale,
            in: &world,
            by: signer,
            at: now,
            limit: realtimeLimit
        )
        let answer = await call?.send()
        let shown = try ShownRetentionMessage(
            after: call,
            answer,
            for: subscription,
            locale: locale,
            in: &world,
            signatures: OfferSignatures(keys: apiKeys)
        )
        if shown.source == .realtime { save() }
        return shown
    }

    // MARK: - Performance tests

    /// Starts a performance test, which goes on after the answer.
    func startPerformanceTest(
        _ request: PerformanceTestRequest
    ) async throws -> PerformanceTestResponse {
        let subscription = try PerformanceTest.subscription(
            request.originalTransactionId,
            in: world
        )
        guard let url = retention.realtimeURL else { throw APIError.invalidPerformanceTestRequest }
        try performanceTests.requireNoneRuns()
        let test = PerformanceTest(of: url, within: realtimeLimit)
        let id = world.random.uuid()
        performanceTests.tests[id] = test
        let now = await clock.now
        Task { await runPerformanceTest(id, about: subscription, at: now) }
        return PerformanceTestResponse(config: test.config, requestId: id)
    }

    private func runPerformanceTest(
        _ id: String,
        about subscription: Subscription,
        at now: Int64
    ) async {
        guard let config = performanceTests.tests[id]?.config else { return }
        await withTaskGroup(of: RealtimeCall.Answer?.self) { group in
            func ask() {
                let call = try? RealtimeCall(
                    about: subscription,
                    locale: "en-US",
                    in: &world,
                    by: signer,
                    at: now,
                    limit: realtimeLimit
                )
                group.addTask { await call?.send() }
            }
            for _ in 0..<config.maxConcurrentRequests { ask() }
            var asked = config.maxConcurrentRequests
            for await answer in group {
                performanceTests.tests[id]?.add(
                    answer ?? .init(result: .other, body: Data(), reply: nil, duration: 0)
                )
                if asked < config.totalRequests {
                    ask()
                    asked += 1
                }
            }
        }
        if performanceTests.tests[id]?.hasPassed ?? false {
            changeRetention { retention, _ in retention.hasPassedTest = true }
        }
    }
}
