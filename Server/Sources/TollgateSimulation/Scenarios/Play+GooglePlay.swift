import GooglePlaySimulator

extension Play {
    mutating func perform(_ act: GooglePlayAct, _ step: Scenario.Step) async throws {
        do {
            if act.name == "post" {
                try await post(act, step)
            } else {
                try await googlePlay?.perform(act, by: step.customer)
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
}
