import Foundation
import Hummingbird

/// The Retention Messaging API, and what the sandbox adds to it.
struct RetentionRoutes: Sendable {
    var store: SimulatedAppStore

    /// A full-size image may have 25 MB before it is compressed.
    private static let largestImage = 32 << 20

    /// - Parameter api: the routes under `/inApps`.
    func add(to api: RouterGroup<BasicRequestContext>) {
        let messaging = api.group("v1/messaging")
        addImages(to: messaging)
        addMessages(to: messaging)
        addDefaults(to: messaging)
        addRealtime(to: messaging)
        // Performance tests exist in the sandbox environment only.
        if store.environment == .sandbox { addPerformanceTests(to: messaging) }
    }

    private func addImages(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.get("image/list") { [store] _, _ in try Response.json(await store.imageList()) }
        messaging.put("image/:id") { [store] request, context in
            let bytes = try await request.body.collect(upTo: Self.largestImage)
            try await store.uploadImage(
                try context.parameters.require("id"),
                Data(bytes.readableBytesView),
                size: request.uri.queryParameters.get("imageSize")
            )
            return Response.empty()
        }
        messaging.delete("image/:id") { [store] _, context in
            try await store.deleteImage(try context.parameters.require("id"))
            return Response.empty()
        }
    }

    private func addMessages(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.get("message/list") { [store] _, _ in
            try Response.json(await store.messageList())
        }
        messaging.put("message/:id") { [store] request, context in
            try await store.uploadMessage(
                try context.parameters.require("id"),
                try await request.body(orThrow: .badRequest)
            )
            return Response.empty()
        }
        messaging.delete("message/:id") { [store] _, context in
            try await store.deleteMessage(try context.parameters.require("id"))
            return Response.empty()
        }
    }

    private func addDefaults(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.put("default/:product/:locale") { [store] request, context in
            try await store.setDefaultMessage(
                try await request.body(orThrow: .badRequest),
                product: try context.parameters.require("product"),
                locale: try context.parameters.require("locale")
            )
            return Response.empty()
        }
        messaging.get("default/:product/:locale") { [store] _, context in
            try Response.json(
                await store.defaultMessage(
                    product: try context.parameters.require("product"),
                    locale: try context.parameters.require("locale")
                )
            )
        }
        messaging.delete("default/:product/:locale") { [store] _, context in
            try await store.deleteDefaultMessage(
                product: try context.parameters.require("product"),
                locale: try context.parameters.require("locale")
            )
            return Response.empty()
        }
    }

    private func addRealtime(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.put("realtime/url") { [store] request, _ in
            let body: RealtimeURL = try await request.body(orThrow: .badRequestRealtimeURL)
            try await store.setRealtimeURL(body.realtimeURL)
            return Response.empty()
        }
        messaging.get("realtime/url") { [store] _, _ in
            try Response.json(await store.realtimeURL())
        }
        messaging.delete("realtime/url") { [store] _, _ in
            try await store.deleteRealtimeURL()
            return Response.empty()
        }
    }

    private func addPerformanceTests(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.post("performanceTest") { [store] request, _ in
            let body: PerformanceTestRequest = try await request.body(
                orThrow: .invalidPerformanceTestRequest
            )
            return try Response.json(await store.startPerformanceTest(body))
        }
        messaging.get("performanceTest/result/:id") { [store] _, context in
            try Response.json(
                await store.performanceTestResult(try context.parameters.require("id"))
            )
        }
    }
}

extension RetentionRoutes {
    private struct Review: Decodable {
        var state: SimulatedAppStore.Retention.State
    }

    private struct Locale: Decodable {
        var locale: String?
    }

    /// - Parameter control: the routes under `/sandbox`.
    func addControl(to control: RouterGroup<BasicRequestContext>) {
        control.post("subscriptions/:id/retention_message") { [store] request, context in
            let body: Locale = try await request.control()
            return try Response.json(
                await store.showRetentionMessage(
                    for: try context.parameters.require("id"),
                    locale: body.locale ?? "en-US"
                )
            )
        }
        control.post("retention/images/:id/review") { [store] request, context in
            let body: Review = try await request.control()
            try await store.reviewImage(try context.parameters.require("id"), body.state)
            return try Response.json(await store.imageList())
        }
        control.post("retention/messages/:id/review") { [store] request, context in
            let body: Review = try await request.control()
            try await store.reviewMessage(try context.parameters.require("id"), body.state)
            return try Response.json(await store.messageList())
        }
        control.post("retention/pass_performance_test") { [store] request, _ in
            try await request.requireNoKeys()
            await store.passPerformanceTest()
            return Response.empty()
        }
    }
}
