import Foundation
public import GooglePlaySimulator
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
        /// A push of Google Play's; `moment` counts in `moments`.
        case hint([UInt8], at: Int64, moment: Int)
        /// Something that was read at Google Play.
        case reading(GooglePlayReading, at: Int64, moment: Int)
        case posting(GooglePlayPosting, ScenarioCustomer, at: Int64, moment: Int)
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
        /// Google Play as it was then.
        public var googlePlay: SimulatedGooglePlay?
        /// An earlier instant that is asked about; `nil`: `at`.
        public var past: Int64?
    }

    public var scenario: LoadedScenario
    public var variant: String
    public var customers: [ScenarioCustomer]
    /// The customers that were made at Stripe, as Stripe answered, by their owner; the oldest first.
    public var stripeCustomers: [ScenarioCustomer: [String]]
    public let messages: [Message]
    public var checks: [Check]
    /// Google Play as it was at each message of it, for a backend that reads.
    let moments: [SimulatedGooglePlay]
    /// The app's name in Google Play.
    let package: String
    /// The content of each message without signatures: a story is compared with many tellings.
    private let words: [String]

    init(
        scenario: LoadedScenario,
        variant: String,
        customers: [ScenarioCustomer],
        stripeCustomers: [ScenarioCustomer: [String]],
        messages: [Message],
        checks: [Check],
        moments: [SimulatedGooglePlay],
        package: String
    ) {
        self.scenario = scenario
        self.variant = variant
        self.customers = customers
        self.stripeCustomers = stripeCustomers
        self.messages = messages
        self.checks = checks
        self.moments = moments
        self.package = package
        // The name of the app is the telling's own.
        words = messages.map { message in
            moments.isEmpty ? message.unsigned : message.unsigned.replacing(package, with: "app")
        }
    }
}

extension Recording {
    /// Whether another telling of the story said the same, signatures aside.
    ///
    /// Then what holds in one holds in the other.
    public func saysTheSame(as other: Recording) -> Bool {
        words == other.words && checks.map(\.messages) == other.checks.map(\.messages)
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
        case .hint(let body, _, _): Self.data(ofPush: body)
        case .reading(let reading, let at, _): "\(reading.token) \(reading.answer) \(at)"
        case .posting(let posting, let customer, let at, _):
            "\(posting.token) \(posting.mode) \(customer.id) \(at)"
        }
    }

    /// What a push says.
    private static func data(ofPush body: [UInt8]) -> String {
        let push = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        let message = push?["message"] as? [String: Any]
        let data = (message?["data"] as? String).flatMap { Data(base64Encoded: $0) }
        return String(decoding: data ?? Data(body), as: UTF8.self)
    }

    /// What an answer of `verifyReceipt` says was bought.
    private static func purchases(_ answer: String) -> String {
        var object =
            (try? JSONSerialization.jsonObject(with: Data(answer.utf8))) as? [String: Any] ?? [:]
        object["latest_receipt"] = nil
        let words = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
        return String(decoding: words ?? Data(), as: UTF8.self)
    }

    /// The payload of a signed text, with those of the signed texts in it; what it says of the app's
    /// own transaction aside.
    private static func unsigned(_ signed: String) -> String {
        guard let payload = payload(of: signed),
            let bytes = Data(base64Encoded: padded(payload))
        else { return signed }
        // Every word of a JSON text stands between quotation marks. A variant's stories are compared
        // by the ten thousand, so the text is cut by Foundation and not parsed.
        var pieces = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\"")
        for index in pieces.indices where pieces[index].hasPrefix("eyJ") {
            let isOfApp = index >= 2 && pieces[index - 2] == "signedAppTransactionInfo"
            pieces[index] = isOfApp ? "" : Self.payload(of: pieces[index]) ?? pieces[index]
        }
        return pieces.joined(separator: "\"")
    }

    private static func payload(of signed: String) -> String? {
        let parts = signed.components(separatedBy: ".")
        return parts.count == 3 ? parts[1] : nil
    }

    private static func padded(_ base64URL: String) -> String {
        let text = base64URL.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
