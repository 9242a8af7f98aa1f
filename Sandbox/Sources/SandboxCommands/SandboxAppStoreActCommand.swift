internal import CommandOutput
internal import ArgumentParser
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// `tollgate sandbox app-store act`: does what a customer, a bank or Apple would do.
struct SandboxAppStoreActCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "act",
        abstract: "Act as the customer or as Apple in a running sandbox.",
        discussion: """
            tollgate sandbox app-store act buy product_id=monthly customer=customer_1
            tollgate sandbox app-store act refund 2000000123456789 reason=1
            tollgate sandbox app-store act advance by=2678400000
            tollgate sandbox app-store act faults drop=0.2 duplicate=0.1

            Actions: \(actions.keys.sorted().joined(separator: ", ")).
            """
    )

    @Option(help: "Where the control API listens.")
    var control = "http://127.0.0.1:8081"

    @Argument(help: "What to do.")
    var action: String

    @Argument(help: "Whom or what it concerns, if anybody, then name=value for each detail.")
    var details: [String] = []

    /// Paths below `/sandbox/`; `*` stands for whom or what it concerns.
    static let actions: [String: String] = [
        "customer": "customers", "buy": "purchases", "show": "customers/*/transactions",
        "restore": "customers/*/restore", "family": "customers/*/family",
        "fail-billing": "customers/*/billing/fail",
        "recover-billing": "customers/*/billing/recover",
        "cancel": "subscriptions/*/cancel", "resume": "subscriptions/*/resume",
        "change": "subscriptions/*/change", "redeem": "subscriptions/*/redeem",
        "consent": "subscriptions/*/consent", "extend": "subscriptions/*/extend",
        "revoke-family-share": "subscriptions/*/revoke_family_share",
        "add-seats": "subscriptions/*/add_seats", "assign-seat": "subscriptions/*/assign_seat",
        "switch-to-bundle": "subscriptions/*/switch_to_bundle",
        "migrate": "subscriptions/*/migrate",
        "refund": "transactions/*/refund", "reverse": "transactions/*/reverse",
        "request-refund": "transactions/*/request_refund",
        "decline-refund": "transactions/*/decline_refund", "finish": "transactions/*/finish",
        "raise-price": "products/*/price", "extend-all": "products/*/extend",
        "withdraw": "products/*/withdraw", "end": "subscriptions/*/end",
        "attach": "subscriptions/*/attach", "tell": "transactions/*/tell",
        "download": "customers/*/download", "advance": "clock/advance",
        "test-notification": "notifications/test", "show-subscription": "subscriptions/*",
        "notifications": "notifications", "clock": "clock", "app": "app", "set-app": "app",
        "faults": "faults", "behaviour": "behaviour",
        "show-retention-message": "subscriptions/*/retention_message",
        "review-image": "retention/images/*/review",
        "review-message": "retention/messages/*/review",
        "pass-performance-test": "retention/pass_performance_test",
    ]

    /// What only looks.
    static let questions: Set<String> = [
        "show", "show-subscription", "notifications", "clock", "app",
    ]

    /// What replaces a setting as a whole.
    static let settings: Set<String> = ["faults", "behaviour", "set-app"]

    func run() async throws {
        guard var path = Self.actions[action] else {
            throw ValidationError("'\(action)' is no action; see --help.")
        }
        var rest = details[...]
        if path.contains("*") {
            guard let subject = rest.popFirst(), !subject.contains("=") else {
                throw ValidationError("'\(action)' needs an id.")
            }
            let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
            let encoded = subject.addingPercentEncoding(withAllowedCharacters: plain)
            path = path.replacingOccurrences(of: "*", with: encoded ?? subject)
        }
        var request = HTTPClientRequest(url: "\(control)/sandbox/\(path)")
        if !Self.questions.contains(action) {
            request.method = Self.settings.contains(action) ? .PUT : .POST
            request.body = .bytes(ByteBuffer(bytes: try Self.body(rest)))
        }
        try await Self.requireSandbox(at: control)
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
        let answer = try await response.body.collect(upTo: 1 << 24)
        try Terminal.put(Data(answer.readableBytesView) + Data("\n".utf8))
        if response.status != .ok, response.status != .created { throw ExitCode(1) }
    }

    /// An act may take minutes, but whether anybody is there shows at once.
    private static func requireSandbox(at control: String) async throws {
        let question = HTTPClientRequest(url: "\(control)/sandbox/clock")
        guard (try? await HTTPClient.shared.execute(question, timeout: .seconds(5))) == nil else {
            return
        }
        throw CheckFailed(
            message:
                "No sandbox answers at \(control). Start `tollgate sandbox app-store`, or name "
                + "the address of its control API with --control."
        )
    }

    /// `name=value` pairs as a JSON object; numbers and booleans become what they look like.
    private static func body(_ pairs: ArraySlice<String>) throws -> Data {
        var object: [String: Any] = [:]
        for pair in pairs {
            guard let sign = pair.firstIndex(of: "=") else {
                throw ValidationError("'\(pair)' is not of the form name=value.")
            }
            let value = String(pair[pair.index(after: sign)...])
            let name = String(pair[..<sign])
            if let number = Int64(value), !name.hasSuffix("_id") {
                object[name] = number
            } else if let number = Double(value), number.isFinite, !name.hasSuffix("_id") {
                object[name] = number
            } else if let flag = Bool(value) {
                object[name] = flag
            } else {
                object[name] = value
            }
        }
        return try JSONSerialization.data(withJSONObject: object)
    }
}
