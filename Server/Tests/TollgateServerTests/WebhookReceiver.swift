import Crypto
import Foundation
import Synchronization
import TollgateService

/// The app's backend as a test wants it: keeps what arrives, and answers by a script.
final class WebhookReceiver: Sendable {
    struct Arrival: Sendable {
        var url: String
        var id: String
        var timestamp: String
        var signatures: [String]
        var body: [UInt8]
        var json: JSONValue
        var status: Int

        /// By the specification of Standard Webhooks, written down a second time.
        func isSigned(with secret: String) -> Bool {
            guard let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count))) else {
                return false
            }
            let code = HMAC<SHA256>.authenticationCode(
                for: Data("\(id).\(timestamp).".utf8) + body,
                using: SymmetricKey(data: key)
            )
            return signatures.contains("v1," + Data(code).base64EncodedString())
        }
    }

    typealias Script = @Sendable (Arrival) async throws -> WebhookResponse

    private struct State {
        var arrivals: [Arrival] = []
        var script: Script = { _ in WebhookResponse(status: 200) }
    }

    private let state = Mutex(State())

    var arrivals: [Arrival] { state.withLock { $0.arrivals } }
    /// Those that were taken.
    var taken: [Arrival] { arrivals.filter { (200..<300).contains($0.status) } }

    func answer(_ script: @escaping Script) {
        state.withLock { $0.script = script }
    }

    func forget() {
        state.withLock { $0.arrivals = [] }
    }

    func take(_ request: WebhookRequest) async throws -> WebhookResponse {
        let headers = Dictionary(
            request.headers.map { ($0.name, $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
        var arrival = Arrival(
            url: request.address.url,
            id: headers["webhook-id"] ?? "",
            timestamp: headers["webhook-timestamp"] ?? "",
            signatures: (headers["webhook-signature"] ?? "").split(separator: " ").map(String.init),
            body: request.body,
            json: (try? JSONDecoder().decode(JSONValue.self, from: Data(request.body))) ?? .null,
            status: 0
        )
        do {
            let answer = try await state.withLock { $0.script }(arrival)
            arrival.status = answer.status
            state.withLock { [arrival] in $0.arrivals.append(arrival) }
            return answer
        } catch {
            state.withLock { [arrival] in $0.arrivals.append(arrival) }
            throw error
        }
    }
}
