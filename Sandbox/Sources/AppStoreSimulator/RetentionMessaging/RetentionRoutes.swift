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
        messaging.get("image/list") { [store] _, _ in
            try Response.json(await store.retention.imageList)
        }
        messaging.put("image/:id") { [store] request, context in
            let bytes = try await request.body.collect(upTo: Self.largestImage)
            let id = try context.parameters.require("id")
            let size = request.uri.queryParameters.get("imageSize")
            try await store.changeRetention { retention, _ in
                try retention.uploadImage(
                    id,
                    Data(bytes.readableBytesView),
                    size: size,
                    in: store.environment
                )
            }
            return Response.empty()
        }
        messaging.delete("image/:id") { [store] _, context in
            let id = try context.parameters.require("id")
            try await store.changeRetention { retention, _ in try retention.deleteImage(id) }
            return Response.empty()
        }
    }

    private func addMessages(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.get("message/list") { [store] _, _ in
            try Response.json(await store.retention.messageList)
        }
        messaging.put("message/:id") { [store] request, context in
            let id = try context.parameters.require("id")
            let content: RetentionMessageContent = try await request.body(orThrow: .badRequest)
            try await store.changeRetention { retention, _ in
                try retention.uploadMessage(id, content, in: store.environment)
            }
            return Response.empty()
        }
        messaging.delete("message/:id") { [store] _, context in
            let id = try context.parameters.require("id")
            try await store.changeRetention { retention, _ in try retention.deleteMessage(id) }
            return Response.empty()
        }
    }

    private func addDefaults(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.put("default/:product/:locale") { [store] request, context in
            let body: DefaultMessage = try await request.body(orThrow: .badRequest)
            let (product, locale) = try context.place()
            try await store.changeRetention { retention, world in
                try retention.setDefaultMessage(body, product: product, locale: locale, in: world)
            }
            return Response.empty()
        }
        messaging.get("default/:product/:locale") { [store] _, context in
            let (product, locale) = try context.place()
            return try Response.json(
                await store.answer {
                    try $0.retention.defaultMessage(product: product, locale: locale, in: $0.world)
                }
            )
        }
        messaging.delete("default/:product/:locale") { [store] _, context in
            let (product, locale) = try context.place()
            try await store.changeRetention { retention, world in
                try retention.deleteDefaultMessage(product: product, locale: locale, in: world)
            }
            return Response.empty()
        }
    }

    private func addRealtime(to messaging: RouterGroup<BasicRequestContext>) {
        messaging.put("realtime/url") { [store] request, _ in
            let body: RealtimeURL = try await request.body(orThrow: .badRequestRealtimeURL)
            try await store.changeRetention { retention, _ in
                try retention.setRealtimeURL(body.realtimeURL, in: store.environment)
            }
            return Response.empty()
        }
        messaging.get("realtime/url") { [store] _, _ in
            try Response.json(await store.retention.configuredURL())
        }
        messaging.delete("realtime/url") { [store] _, _ in
            try await store.changeRetention { retention, _ in try retention.deleteRealtimeURL() }
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
            let id = try context.parameters.require("id")
            return try Response.json(await store.performanceTests.result(id))
        }
    }
}

extension RequestContext {
    /// The product and the language that a default message is for.
    fileprivate func place() throws -> (product: String, locale: String) {
        (try parameters.require("product"), try parameters.require("locale"))
    }
}

extension RetentionRoutes {
    private struct Review: Decodable, Sendable {
        var state: Retention.State
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
            let id = try context.parameters.require("id")
            try await store.changeRetention { retention, _ in
                try retention.reviewImage(id, body.state)
            }
            return try Response.json(await store.retention.imageList)
        }
        control.post("retention/messages/:id/review") { [store] request, context in
            let body: Review = try await request.control()
            let id = try context.parameters.require("id")
            try await store.changeRetention { retention, _ in
                try retention.reviewMessage(id, body.state)
            }
            return try Response.json(await store.retention.messageList)
        }
        control.post("retention/pass_performance_test") { [store] request, _ in
            try await request.requireNoKeys()
            // A performance test runs in the sandbox, which is another process here.
            await store.changeRetention { retention, _ in retention.hasPassedTest = true }
            return Response.empty()
        }
    }
}
