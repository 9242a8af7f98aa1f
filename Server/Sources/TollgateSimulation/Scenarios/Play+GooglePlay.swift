import Foundation
import GooglePlaySimulator

extension Play {
    mutating func perform(_ act: GooglePlayAct, _ step: Scenario.Step) async throws {
        do {
            switch act.name {
            case "post": try await post(act, step)
            case "post_unknown": try await postUnknown(act, step)
            case "push":
                guard let isTaken = try await push(act), isTaken == act.isRefused else { return }
                throw failure(step, isTaken ? "the push is taken" : "the push is refused")
            default: try await googlePlay?.perform(act, by: step.customer)
            }
        } catch let refusal as GooglePlayRefused {
            if act.isRefused { return }
            throw refusal
        }
        if act.isRefused { throw failure(step, "Google Play does it, and should have refused") }
    }

    /// The app on a device posts a token.
    private func post(_ act: GooglePlayAct, _ step: Scenario.Step) async throws {
        guard let customer = people[step.customer], let googlePlay else { return }
        let meant = try googlePlay.purchase(act, by: step.customer)
        var mode = "purchased"
        if case .text(let stated) = act.values["mode"] { mode = stated }
        let posting = GooglePlayPosting(
            token: meant.token,
            isSubscription: meant.isSubscription,
            mode: mode
        )
        await messages.append { .posting(posting, customer, at: $0, moment: $1) }
        try await backend.post(posting, by: customer)
    }

    /// The app on a device posts tokens that Google Play does not know.
    private func postUnknown(_ act: GooglePlayAct, _ step: Scenario.Step) async throws {
        guard let customer = people[step.customer] else { return }
        var (count, most): (Int64, Int64) = (1, .max)
        if case .number(let stated) = act.values["count"] { count = stated }
        if case .number(let stated) = act.values["at_most"] { most = stated }
        for number in 0..<count {
            let posting = GooglePlayPosting(
                token: "\(MessageLog.unknownToken)\(number)-aaaaaaaaaaaaaaaa",
                isSubscription: number.isMultiple(of: 2),
                mode: "purchased"
            )
            try await backend.post(posting, by: customer)
        }
        let read = messages.unknownReads
        if read > most { throw failure(step, "\(read) tokens are read, and not at most \(most)") }
    }

    /// A push that is in no topic.
    ///
    /// - Returns: `true` where the backend takes it; `nil`: nobody knows.
    private func push(_ act: GooglePlayAct) async throws -> Bool? {
        guard let googlePlay else { return nil }
        var claims = act.values
        var hint = #"{"version":"1.0","packageName":"\#(googlePlay.package)","#
        hint += #""eventTimeMillis":"1","testNotification":{"version":"1.0"}}"#
        if case .text(let data) = claims.removeValue(forKey: "data") { hint = data }
        if claims["audience"] == nil { claims["audience"] = .text(GooglePlayAccess.audience) }
        let answer = try await googlePlay.play.control("POST", "identity_tokens", claims)
        let token = answer["id_token"] as? String ?? ""
        let data = Data(hint.utf8).base64EncodedString()
        let body = #"{"message":{"data":"\#(data)","messageId":"1"},"subscription":"s"}"#
        return await backend.take(push: Array(body.utf8), authorization: "Bearer \(token)")
    }
}
