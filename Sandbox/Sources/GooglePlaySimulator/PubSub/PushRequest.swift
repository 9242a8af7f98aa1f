import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The request that is posted to a push endpoint.
struct PushRequest: Hashable, Sendable {
    var url: String
    var authorization: String?
    var body: Data
}

/// Posts messages as Pub/Sub does.
struct HTTPPush: Sendable {
    /// The answers that acknowledge a message.
    ///
    /// https://cloud.google.com/pubsub/docs/push#receive_push
    static let successes: Set<UInt> = [102, 200, 201, 202, 204]

    let timeout: TimeAmount

    // One client for the process, never shut down: its event loops are the process's own.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    @Sendable func post(_ push: PushRequest) async -> Bool {
        var request = HTTPClientRequest(url: push.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "CloudPubSub-Google")
        request.headers.add(name: "From", value: "noreply@google.com")
        if let authorization = push.authorization {
            request.headers.add(name: "Authorization", value: authorization)
        }
        request.body = .bytes(ByteBuffer(bytes: push.body))
        guard let response = try? await Self.client.execute(request, timeout: timeout) else {
            return false
        }
        _ = try? await response.body.collect(upTo: 1 << 20)
        return Self.successes.contains(response.status.code)
    }
}
