import Storage
import Stores
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService

/// The belief of an app's backend that follows the feed: of each customer the event with the highest
/// sequence, and of two with the same the later one (RULES §13).
struct FeedFollower {
    private struct Subject: Hashable {
        var customer: String
        var environment: String
    }

    private var last: String?
    private var told: [Subject: API.Event] = [:]

    mutating func hear(_ event: API.Event) {
        let subject = Subject(
            customer: event.customer,
            environment: event.environment.rawValue
        )
        last = event.id
        guard event.sequence >= told[subject]?.sequence ?? 0 else { return }
        told[subject] = event
    }

    mutating func follow(_ events: Events) async throws {
        var hasMore = true
        while hasMore {
            let page = try await events.list(startingAfter: last, limit: 100)
            for event in page.data { hear(event) }
            hasMore = page.hasMore
        }
    }

    /// The access and coins of a customer, by Tollgate's id of them.
    func belief(of customer: String, in environment: StoreEnvironment) -> ScenarioAnswer {
        let event = told[Subject(customer: customer, environment: environment.rawValue)]
        return ScenarioAnswer(
            has: Set(event?.entitlements.map(\.lookupKey) ?? []),
            coins: event?.coins?.balance ?? 0
        )
    }
}

extension SimulatedServer {
    /// Announces what lapsed, and gives the feed's messages their places, as a server does four times a
    /// second.
    ///
    /// Without the lease by which several servers take turns: its name would be drawn from the chance
    /// that draws the customers' ids.
    func publish() async throws {
        let tollgate = try tollgate
        let (feed, now) = (tollgate.store.feed, await tollgate.clocks.now())
        // News of the past may have to be looked at again; it never takes many rounds.
        for _ in 0..<10 {
            guard try await feed.hasNews(at: now) else { return }
            while try await !feed.sweep(until: now).isDone {}
            while try await feed.publish(at: now, limit: 500) == 500 {}
        }
    }
}

extension SimulatedWorld {
    /// Begins the feed; what lapsed before its first sweep is no news.
    mutating func beginFeed() async throws {
        fate.isHealed = true
        defer { fate.isHealed = false }
        try await server.publish()
    }

    /// Compares what a backend believes that follows the feed with what the server answers.
    mutating func compareFeed() async throws {
        try await server.publish()
        let tollgate = try server.tollgate
        try await feed.follow(tollgate.events)
        for customer in plan.people.compactMap({ play.people[$0.name] }) {
            let id = try await tollgate.directory.customer(customer.id).id
            for environment in StoreEnvironment.allCases {
                let list = try await tollgate.entitlements.active(of: id, in: environment)
                let coins = try await tollgate.coins.balance(of: id, in: environment).balance
                let belief = feed.belief(of: id, in: environment)
                let has = Set(list.data.map(\.lookupKey))
                guard belief.has != has || belief.coins != coins else { continue }
                outcome.failures.append(
                    Simulation.Failure(
                        at: now,
                        customer: customer.name,
                        message: "\(customer.name) in \(environment.rawValue) has "
                            + "\(has.sorted()) and \(coins) coins, by the feed "
                            + "\(belief.has.sorted()) and \(belief.coins ?? 0)"
                    )
                )
            }
        }
    }
}
