import GooglePlaySimulator
import TollgateCore

extension SimulatedWorld {
    /// The access and coins of a customer by Google Play's books: in production, since nobody is a tester.
    func googlePlayTruth(of customer: ScenarioCustomer) async throws -> Truth {
        guard let stage = play.googlePlay, let account = stage.accounts[customer.name] else {
            return Truth()
        }
        return try await GooglePlayTruth(of: stage.play, at: now, in: catalog).read(
            try await GooglePlayTruth.purchases(of: account, in: stage.play),
            shown: server.shown(by: customer)
        )
    }

    /// Everybody opens the app, which shows the server what Play Billing tells it.
    func showGooglePurchases() async {
        guard let stage = play.googlePlay else { return }
        for person in plan.people {
            guard let account = stage.accounts[person.name],
                let customer = play.people[person.name],
                let all = try? await GooglePlayTruth.purchases(of: account, in: stage.play)
            else { continue }
            for purchase in all where purchase.isShownToApp {
                let posting = GooglePlayPosting(
                    token: purchase.purchase_token,
                    isSubscription: purchase.isSubscription,
                    mode: "observed"
                )
                try? await server.post(posting, by: customer)
            }
        }
    }

    /// In a world without faults no purchase is taken back because nobody acknowledged it.
    mutating func compareAcknowledgements() async throws {
        guard let stage = play.googlePlay, fate.trouble.isCalm else { return }
        let truth = try await GooglePlayTruth(of: stage.play, at: now, in: catalog)
        let taken = truth.unacknowledged
        guard taken > 0 else { return }
        outcome.failures.append(
            Simulation.Failure(
                at: now,
                message: "Google Play took back \(taken) purchases that nobody acknowledged"
            )
        )
    }
}
