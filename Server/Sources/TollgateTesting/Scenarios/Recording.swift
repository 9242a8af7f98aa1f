import Foundation
public import StripeSimulator

/// What the stores of a story said, in the order in which they said it.
public struct Recording: Sendable {
    /// Something that reached the backend.
    public enum Message: Hashable, Sendable {
        /// A notification of the App Store's.
        case notification(String)
        case event(body: String, signature: String)
        case post(String, ScenarioCustomer, mode: String, at: Int64)
        case receipt(String, answer: String, ScenarioCustomer, mode: String, at: Int64)
    }

    /// A check, and what had been said by then.
    public struct Check: Sendable {
        public var line: Int
        public var at: Int64
        public var isExact: Bool
        public var customer: ScenarioCustomer
        public var expectation: Scenario.Expectation
        /// So many coins had been spent; what the stores say does not spend them.
        public var spent: Int64
        /// So many messages had come.
        public var messages: Int
        /// Stripe as it was then, for a backend that reads.
        public var stripe: StripeSimulator?
    }

    public var scenario: LoadedScenario
    public var variant: String
    public var customers: [ScenarioCustomer] = []
    /// The customers that were made at Stripe, as Stripe answered, by their owner; the oldest first.
    public var stripeCustomers: [ScenarioCustomer: [String]] = [:]
    public var messages: [Message] = []
    public var checks: [Check] = []
}

extension Recording {
    /// Whether another telling of the story said the same, signatures aside.
    ///
    /// Then what holds in one holds in the other.
    public func saysTheSame(as other: Recording) -> Bool {
        messages.count == other.messages.count
            && checks.map(\.messages) == other.checks.map(\.messages)
            && zip(messages, other.messages).allSatisfy { $0.unsigned == $1.unsigned }
    }
}

extension Recording.Message {
    /// What it says.
    fileprivate var unsigned: String {
        switch self {
        case .event(let body, _): body
        case .notification(let signed): Self.unsigned(signed)
        case .post(let signed, let customer, let mode, let at):
            "\(Self.unsigned(signed)) \(customer.id) \(mode) \(at)"
        case .receipt(_, let answer, let customer, let mode, let at):
            "\(Self.purchases(answer)) \(customer.id) \(mode) \(at)"
        }
    }

    /// What an answer of `verifyReceipt` says was bought.
    private static func purchases(_ answer: String) -> String {
        var object =
            (try? JSONSerialization.jsonObject(with: Data(answer.utf8))) as? [String: Any] ?? [:]
        object["latest_receipt"] = nil
        let words = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
        return String(decoding: words ?? Data(), as: UTF8.self)
    }

    /// The payload of a signed text, and of the signed texts in it.
    private static func unsigned(_ signed: String) -> String {
        let parts = signed.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = object(String(parts[1])) else { return signed }
        let data = payload["data"] as? [String: Any] ?? [:]
        let inner = ["signedTransactionInfo", "signedRenewalInfo"].map { name in
            (data[name] as? String)?.split(separator: ".").dropFirst().first.map(String.init) ?? ""
        }
        var outer = payload
        var rest = data
        for name in ["signedTransactionInfo", "signedRenewalInfo"] { rest[name] = nil }
        outer["data"] = rest
        outer["appData"] = nil
        let words = try? JSONSerialization.data(withJSONObject: outer, options: .sortedKeys)
        return String(decoding: words ?? Data(), as: UTF8.self) + inner.joined(separator: " ")
    }

    private static func object(_ base64URL: String) -> [String: Any]? {
        var text = base64URL.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        return Data(base64Encoded: text)
            .flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
    }
}
