import CommandOutput
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import StripeSimulator
import TollgateSimulation

/// Any backend, by the address of its webhook and of one question.
struct HTTPBackend: ScenarioBackend {
    /// The backend did not answer the question as docs/scenarios.md says.
    struct NoAnswer: Error, CustomStringConvertible {
        var description: String
    }

    var webhook: String
    var entitled: String

    private struct Answer: Decodable {
        var entitled: Bool
    }

    func begin(_: ScenarioCustomer) async throws {}

    func stripeCustomer(of _: ScenarioCustomer, at _: StripeSimulator) async throws -> String? {
        nil  // The story makes it, with `app_user_id` in its metadata.
    }

    func take(signedPayload: String) async -> Bool {
        let body = "{\"signedPayload\":\"\(signedPayload)\"}"
        return (200...206).contains(await status(of: body, headers: [:]))
    }

    func take(event body: String, signature: String) async -> Bool {
        (200..<300).contains(await status(of: body, headers: ["Stripe-Signature": signature]))
    }

    func post(_: String, by _: ScenarioCustomer, mode _: String) async throws {}

    func settle() async {}

    func answer(_ customer: ScenarioCustomer, lookupKeys: [String]) async throws -> ScenarioAnswer {
        var has: Set<String> = []
        for key in lookupKeys where try await isEntitled(customer.id, key) { has.insert(key) }
        return ScenarioAnswer(has: has, coins: nil)
    }

    private func isEntitled(_ customer: String, _ key: String) async throws -> Bool {
        let escaped = key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? key
        let separator = entitled.contains("?") ? "&" : "?"
        let url = "\(entitled)\(separator)customer=\(customer)&entitlement=\(escaped)"
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: url),
            timeout: .seconds(10)
        )
        let body = try await response.body.collect(upTo: 1 << 20)
        guard response.status == .ok,
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(body.readableBytesView))
        else {
            throw NoAnswer(
                description: "GET \(url) answered \(response.status.code) "
                    + "\(String(buffer: body).prefix(200)), not {\"entitled\": true or false}"
            )
        }
        return answer.entitled
    }

    /// The status of the answer, 0 for none; what is no 2xx is said on standard error.
    private func status(of body: String, headers: [String: String]) async -> Int {
        var request = HTTPClientRequest(url: webhook)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json; charset=utf-8")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(string: body))
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
            let said = try? await response.body.collect(upTo: 1 << 20)
            if !(200..<300).contains(response.status.code) {
                let words = said.map { String(buffer: $0).prefix(200) } ?? ""
                Terminal.complain("POST \(webhook) answered \(response.status.code) \(words)")
            }
            return Int(response.status.code)
        } catch {
            Terminal.complain("POST \(webhook) was not answered: \(PlainWords.of(error))")
            return 0
        }
    }
}
