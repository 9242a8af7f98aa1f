import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Posts notifications over HTTP as Apple's servers do: 200 to 206 is success, the body is
/// ignored, redirects are not followed.
struct HTTPDelivery: Sendable {
    private let timeout: TimeAmount

    /// - Parameter milliseconds: how long the whole exchange may take.
    init(timeout milliseconds: Int64) {
        timeout = .milliseconds(milliseconds)
    }

    // One client for the process, never shut down: its event loops are the process's own.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // A refused connection is an attempt that failed; the ladder decides about the next one.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private struct Body: Encodable {
        var signedPayload: String
    }

    @Sendable func post(
        _ message: SimulatedAppStore.Message,
        to url: String
    ) async -> SimulatedAppStore.SendAttemptResult {
        let body: Data
        switch message {
        case .versionOne(let text):
            body = Data(text.utf8)
        case .signedPayload(let payload):
            guard let json = try? JSONEncoder().encode(Body(signedPayload: payload)) else {
                return .other
            }
            body = json
        }
        return await exchange(body, with: url, successes: 200...206).result
    }

    /// Posts JSON; tells how that went, and the body that came back.
    func exchange(
        _ body: Data,
        with url: String,
        successes: ClosedRange<Int>
    ) async -> (result: SimulatedAppStore.SendAttemptResult, body: Data) {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json; charset=utf-8")
        request.headers.add(name: "User-Agent", value: "App Store Server Notifications")
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await Self.client.execute(request, timeout: timeout)
            let status = Int(response.status.code)
            let answer = try? await response.body.collect(upTo: 1 << 20)
            return (
                successes.contains(status) ? .success : .unsuccessfulHTTPResponseCode,
                answer.map { Data($0.readableBytesView) } ?? Data()
            )
        } catch {
            return (Self.result(of: error), Data())
        }
    }

    private static func result(
        of error: any Error
    ) -> SimulatedAppStore.SendAttemptResult {
        if let error = error as? HTTPClientError {
            switch error {
            case .deadlineExceeded, .readTimeout, .connectTimeout: return .timedOut
            case .remoteConnectionClosed: return .prematureClose
            default: return .other
            }
        }
        if error is IOError { return .socketIssue }
        let type = String(reflecting: Swift.type(of: error))
        if type.contains("NIOSSL") { return .tlsIssue }
        if type.contains("NIOConnectionError") { return .noResponse }
        return type.contains("HTTPParser") ? .invalidResponse : .other
    }
}
