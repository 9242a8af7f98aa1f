internal import ArgumentParser
internal import AsyncHTTPClient
internal import CommandOutput
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// A call of a running sandbox's control API, as the commands `act` make it.
struct ControlCall {
    var method: HTTPMethod
    /// Below `/sandbox/`; `*` stands for whom or what it concerns.
    var path: String

    /// Makes the call and prints the answer.
    ///
    /// - Parameters:
    ///   - details: whom or what it concerns, if anybody, then `name=value` for each detail.
    ///   - sandbox: the command that starts one: `app-store`.
    func run(
        _ action: String,
        _ details: [String],
        at control: String,
        of sandbox: String,
        ending: String = ""
    ) async throws {
        var path = path
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
        request.method = method
        if method != .GET { request.body = .bytes(ByteBuffer(bytes: try Self.body(rest))) }
        // An act may take minutes, but whether anybody is there shows at once.
        let question = HTTPClientRequest(url: "\(control)/sandbox/clock")
        guard (try? await HTTPClient.shared.execute(question, timeout: .seconds(5))) != nil else {
            throw CheckFailed(
                message:
                    "No sandbox answers at \(control). Start `tollgate sandbox \(sandbox)`, or name "
                    + "the address of its control API with --control."
            )
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
        let answer = try await response.body.collect(upTo: 1 << 24)
        try Terminal.put(Data(answer.readableBytesView) + Data(ending.utf8))
        if response.status != .ok, response.status != .created { throw ExitCode(1) }
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
