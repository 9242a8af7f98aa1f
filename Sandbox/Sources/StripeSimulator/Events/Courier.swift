import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Carries signed events to endpoints over HTTP.
struct Courier: Sendable {
    enum Outcome: Hashable, Sendable { case delivered, refused, silent }

    /// Redirects are no answer: only a 2xx of the address itself counts.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // An endpoint that is down is known to be so at once; its turn comes again later.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    let timeout: Duration

    func post(_ body: String, to url: String, signature: String) async -> Outcome {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json; charset=utf-8")
        request.headers.add(
            name: "User-Agent",
            value: "Stripe/1.0 (+https://stripe.com/docs/webhooks)"
        )
        request.headers.add(name: "Stripe-Signature", value: signature)
        request.body = .bytes(ByteBuffer(string: body))
        do {
            let response = try await Self.client.execute(request, timeout: TimeAmount(timeout))
            _ = try? await response.body.collect(upTo: 1 << 20)
            return (200..<300).contains(response.status.code) ? .delivered : .refused
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            return .silent
        } catch {
            return .refused
        }
    }
}
