internal import Stores
internal import TollgateCore

/// All that one read leads to.
struct PlayRead {
    var meaning: Translation.Meaning
    /// The acts at Google that it requires.
    var acts: [Wanted]
    /// The acts that it raises.
    var raised: [Wanted]

    /// - Parameter retried: an act that is being tried again: it keeps the time at which it was raised.
    init(_ meaning: Translation.Meaning, acts: [Wanted] = [], retrying retried: PlayAct? = nil) {
        (self.meaning, self.acts) = (meaning, acts)
        raised = acts.filter { $0 != retried?.wanted }
    }
}

/// The claim of a customer who presents a token.
struct PlayClaim: Sendable {
    var claim: Claim
    var stated: Instant

    func fact(about key: Purchase.Key) -> Fact {
        Fact(
            purchase: key,
            source: "claim:\(claim.customer)",
            stated: Stated(stated),
            statement: .claim(claim)
        )
    }

    /// Keeps one claim apart from another about the same read; a claim that changes nothing is not kept.
    var turn: String { "\(claim.customer) \(claim.mode.rawValue) \(stated.milliseconds)" }
}
