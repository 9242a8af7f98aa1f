internal import ArgumentParser
internal import CommandOutput
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
        guard let path = Self.actions[action] else {
            throw ValidationError("'\(action)' is no action; see --help.")
        }
        let isQuestion = Self.questions.contains(action)
        let method: HTTPMethod = Self.settings.contains(action) ? .PUT : isQuestion ? .GET : .POST
        try await ControlCall(method: method, path: path)
            .run(action, details, at: control, of: "app-store", ending: "\n")
    }
}
