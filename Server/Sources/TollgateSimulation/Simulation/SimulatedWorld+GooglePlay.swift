import GooglePlaySimulator
import TollgateCore

extension SimulatedWorld {
    /// The environment of a person's purchases in Google Play.
    ///
    /// What a licence tester buys is a test purchase (`testPurchase`, `testPurchaseContext`):
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#TestPurchase.
    func googlePlayEnvironment(of name: String) -> StoreEnvironment {
        plan.people.contains { $0.name == name && $0.isTester } ? .sandbox : .production
    }

    /// Google Play's books of all who pay, without licence testers; `nil`: nobody buys there.
    func googlePlayBooks() async throws -> GooglePlayTruth? {
        guard let stage = play.googlePlay else { return nil }
        var tests: Set<String> = []
        for person in plan.people where person.isTester {
            guard let account = stage.accounts[person.name] else { continue }
            tests.formUnion(
                try await GooglePlayTruth.purchases(of: account, in: stage.play)
                    .map(\.purchase_token)
            )
        }
        return try await GooglePlayTruth(of: stage.play, at: now, in: catalog)
            .without(purchases: tests)
    }

    /// The access and coins of a customer by Google Play's books.
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

    /// Lets Google Play refuse every call, while time passes and the server tries again: whoever had
    /// access, and has it by Google's books, keeps it (RULES §18.2).
    mutating func refuseGooglePlay(for span: Int64) async throws {
        guard fate.trouble.isCalm, play.googlePlay != nil else { throw NotNow() }
        await advance(to: now + 15_000)
        await server.settle()
        let had = try await haveInGooglePlay()
        let end = now + span
        server.incidents.refuseGooglePlay(until: end)
        while now < end, outcome.failures.isEmpty {
            await advance(to: min(end, now + 6 * 3_600_000))
            await server.settle()
            try await server.lookIntoGooglePlay()
            let have = try await haveInGooglePlay()
            for (name, before) in had {
                guard let present = have[name] else { continue }
                let lost = before.has.intersection(present.due).subtracting(present.has)
                guard !lost.isEmpty else { continue }
                let keys = lost.sorted().joined(separator: ", ")
                outcome.failures.append(
                    Simulation.Failure(
                        at: now,
                        customer: name,
                        message: "\(name) lost \(keys) while Google Play refused every call"
                    )
                )
            }
        }
        // What was bought meanwhile is acknowledged in time.
        await showGooglePurchases()
        await server.settle()
    }

    /// The access that the server gives, and that Google Play's books require, by customer; without
    /// licence testers.
    private func haveInGooglePlay() async throws -> [String: (has: Set<String>, due: Set<String>)] {
        var all: [String: (has: Set<String>, due: Set<String>)] = [:]
        for (name, customer) in play.people
        where play.googlePlay?.accounts[name] != nil
            && googlePlayEnvironment(of: name) == .production
        {
            let truth = try await googlePlayTruth(of: customer)
            let answer = try await server.answer(customer, in: .production)
            all[name] = (answer.has, truth.has.subtracting(truth.unsure))
        }
        return all
    }

    /// In a world without faults no purchase is taken back because nobody acknowledged it.
    ///
    /// A licence tester's is, after minutes in which a world's server may not have had its turn.
    mutating func compareAcknowledgements() async throws {
        guard fate.trouble.isCalm, let books = try await googlePlayBooks() else { return }
        let taken = books.unacknowledged
        guard taken > 0 else { return }
        outcome.failures.append(
            Simulation.Failure(
                at: now,
                message: "Google Play took back \(taken) purchases that nobody acknowledged"
            )
        )
    }
}
