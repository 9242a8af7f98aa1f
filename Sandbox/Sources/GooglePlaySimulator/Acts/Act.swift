/// Something that a buyer, a bank, Google or the developer does.
///
/// Its stored properties are the keys of the control API: `obfuscatedAccountID` is
/// `obfuscated_account_id`.
protocol Act: Decodable, Sendable {
    /// The path below `/sandbox/`; `*` stands for whom or what it concerns.
    static var path: String { get }
    /// - Returns: the answer of the control API.
    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON
}

/// All acts, by the names that the command line gives them.
enum Acts {
    static let all: [(name: String, act: any Act.Type)] = [
        ("account", CreateAccount.self), ("set-account", ChangeAccount.self),
        ("buy", Buy.self), ("pay", PayPending.self), ("let-pending-end", LetPendingEnd.self),
        ("change", ChangePlan.self), ("top-up", TopUp.self), ("cancel", CancelSubscription.self),
        ("restore", RestoreSubscription.self), ("pause", PauseSubscription.self),
        ("unpause", UnpauseSubscription.self), ("resume", ResumeSubscription.self),
        ("resubscribe", Resubscribe.self), ("consent", Consent.self), ("step-up", StepUpAct.self),
        ("acknowledge", AcknowledgePurchase.self), ("consume", ConsumePurchase.self),
        ("revoke", RevokePurchase.self), ("refund", RefundOrder.self),
        ("refund-pieces", RefundPieces.self), ("charge-back", ChargeBack.self),
        ("review-refund", ReviewRefund.self), ("price", ChangePrice.self),
        ("release", ReleasePreorder.self), ("move-release", MoveRelease.self),
        ("test-notification", TestNotification.self), ("tell", TellAnything.self),
        ("publish", PublishRaw.self),
    ]

    static func act(at path: String) -> (type: any Act.Type, subject: String)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        for (_, type) in all {
            let pattern = type.path.split(separator: "/")
            guard pattern.count == parts.count else { continue }
            var subject = ""
            let fits = zip(pattern, parts).allSatisfy { wanted, part in
                if wanted == "*" { subject = String(part) }
                return wanted == "*" || wanted == part
            }
            if fits { return (type, subject) }
        }
        return nil
    }
}

/// Names as a list, or in one text with commas, as a command line has them.
struct NameList: Hashable, Sendable, Decodable {
    var names: [String]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            names = text.split(separator: ",").map { $0.trimmingPrefix(" ").description }
        } else {
            names = try container.decode([String].self)
        }
    }
}

extension SimulatedGooglePlay {
    /// Paths below `/sandbox/` by the names of acts; `*` stands for whom or what they concern.
    public static var acts: [String: String] {
        Dictionary(uniqueKeysWithValues: Acts.all.map { ($0.name, $0.act.path) })
    }
}
