internal import ArgumentParser
internal import AsyncHTTPClient
internal import CommandOutput
internal import Foundation
internal import GooglePlaySimulator
internal import NIOCore
internal import NIOHTTP1

/// `tollgate sandbox google-play act`: does what a buyer, a bank, Google or the developer would do.
struct SandboxGooglePlayActCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "act",
        abstract: "Act as a buyer, as Google or as the developer in a running sandbox.",
        discussion: """
            tollgate sandbox google-play act buy product_id=premium account=account_1
            tollgate sandbox google-play act set-account account_1 payment=declines
            tollgate sandbox google-play act advance by=2678400000
            tollgate sandbox google-play act faults lost=0.2 doubled=0.1

            Actions: \(actions.keys.sorted().joined(separator: ", ")).
            """
    )

    @Option(help: "Where the control API listens.")
    var control = "http://127.0.0.1:8083"

    @Argument(help: "What to do.")
    var action: String

    @Argument(help: "Whom or what it concerns, if anybody, then name=value for each detail.")
    var details: [String] = []

    private struct Target {
        var method: HTTPMethod
        var path: String
    }

    private static let actions: [String: Target] = {
        var all = SimulatedGooglePlay.acts.mapValues { Target(method: .POST, path: $0) }
        let others: [(String, HTTPMethod, String)] = [
            ("advance", .POST, "clock/advance"), ("rotate-keys", .POST, "keys/rotate"),
            ("forget-access-tokens", .POST, "access_tokens/forget"),
            ("identity-token", .POST, "identity_tokens"), ("faults", .PUT, "faults"),
            ("behaviour", .PUT, "behaviour"), ("subscription", .PUT, "subscriptions"),
            ("clock", .GET, "clock"), ("app", .GET, "app"), ("show", .GET, "accounts/*"),
            ("show-purchase", .GET, "purchases/*"),
            ("signed", .GET, "purchases/*/signed"), ("notifications", .GET, "notifications"),
            ("subscriptions", .GET, "subscriptions"), ("orders", .GET, "orders"),
            ("voided", .GET, "voided"), ("reviews", .GET, "reviews"),
        ]
        for (name, method, path) in others { all[name] = Target(method: method, path: path) }
        return all
    }()

    func run() async throws {
        guard let target = Self.actions[action] else {
            throw ValidationError("'\(action)' is no action; see --help.")
        }
        var path = target.path
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
        request.method = target.method
        if target.method != .GET {
            request.body = .bytes(ByteBuffer(bytes: try Self.body(rest)))
        }
        try await Self.requireSandbox(at: control)
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
        let answer = try await response.body.collect(upTo: 1 << 24)
        try Terminal.put(Data(answer.readableBytesView))
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
                "No sandbox answers at \(control). Start `tollgate sandbox google-play`, or name "
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
