import Testing
import TollgateCore

@Suite("What is kept of renewals that failed")
struct BillingFailuresTests {
    static let facts: [Fact] = {
        func said(_ statement: Statement, _ day: Double, _ key: Purchase.Key) -> Fact {
            .said(statement, on: day, about: key)
        }
        let grace = RenewalTerms(willRenew: true, graceEnd: .day(47))
        let status = { SubscriptionStatus(value: $0) }
        func subscription(_ status: String, _ day: Double) -> Fact {
            said(
                .subscription(StripeSubscription(status: status, customer: "cus", items: [])),
                day,
                .stripe("sub")
            )
        }
        return [
            said(.renewal(grace), 31, .appStore()), said(.renewal(grace), 33, .appStore()),
            said(.renewal(RenewalTerms(willRenew: false)), 48, .appStore()),
            said(.status(status(4)), 31, .appStore()), said(.status(status(3)), 47, .appStore()),
            said(.status(status(2)), 47.5, .appStore()),
            said(.status(status(2)), 60, .appStore()), said(.status(status(1)), 70, .appStore()),
            subscription("past_due", 31), subscription("unpaid", 40), subscription("active", 41),
            subscription("paused", 60),
        ]
    }()

    @Test("a grace period outlives the terms that stated it, and each day's first failure stays")
    func kept() throws {
        let records = World(Self.facts).records
        let apple = try #require(records.first { $0.key.store == .appStore }?.failures)
        #expect(apple.graces.map(\.end) == [.day(47)])
        #expect(apple.graces.map(\.stated) == [.day(31)])
        #expect(apple.lapses == [.day(47), .day(60)])
        #expect(apple.lapse(from: .day(40)) == .day(47), "the first of several")
        #expect(apple.lapse(from: .day(47)) == .day(47), "that of the same instant too")
        #expect(apple.lapse(from: .day(48)) == .day(60))
        let stripe = try #require(records.first { $0.key.store == .stripe }?.failures)
        #expect(stripe.lapses == [.day(40), .day(60)])
    }

    @Test("order and repetition do not matter", arguments: UInt64(1)...50)
    func order(seed: UInt64) throws {
        var random = Seeded(seed)
        let arrived = (Self.facts + Self.facts).shuffled(using: &random)
        #expect(try World(arrived).bytes() == World(Self.facts).bytes())
    }

    @Test(
        "whatever comes in the same second, a payment keeps its country and its earliest time",
        arguments: UInt64(1)...20
    )
    func payment(seed: UInt64) throws {
        var random = Seeded(seed)
        let session = StripePayment(
            session: "cs_1",
            status: "complete",
            isPaid: true,
            customer: "cus_1",
            reference: nil,
            lines: nil,
            amount: 1000,
            currency: "usd",
            created: .day(0),
            country: "DE"
        )
        var intent = session
        intent.session = "pi_1"
        intent.created = .day(0.9)
        intent.country = nil
        var read = session
        read.paidBy = .day(0.99)
        let facts: [Fact] = [
            .said(.payment(session), on: 1, about: .stripe("pi_1")),
            .said(.payment(intent), on: 1, about: .stripe("pi_1")),
            .said(.payment(read), on: 2, read: true, about: .stripe("pi_1")),
        ]
        let record = try #require(World(facts.shuffled(using: &random)).records.first?.payment)
        #expect(record.country == "DE")
        #expect(record.paid == .day(0.99))
    }
}
