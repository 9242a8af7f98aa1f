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

/// The answer of a push endpoint.
enum PushAnswer: Hashable, Sendable {
    case accepted
    /// Not accepted, for this reason: the message is pushed again.
    case failed(String)
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

    @Sendable func post(_ push: PushRequest) async -> PushAnswer {
        var request = HTTPClientRequest(url: push.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "CloudPubSub-Google")
        request.headers.add(name: "From", value: "noreply@google.com")
        if let authorization = push.authorization {
            request.headers.add(name: "Authorization", value: authorization)
        }
        request.body = .bytes(ByteBuffer(bytes: push.body))
        do {
            let response = try await Self.client.execute(request, timeout: timeout)
            _ = try? await response.body.collect(upTo: 1 << 20)
            return Self.successes.contains(response.status.code)
                ? .accepted : .failed("The endpoint answered \(response.status.code).")
        } catch {
            return .failed("The endpoint did not answer: \(error)")
        }
    }
}
