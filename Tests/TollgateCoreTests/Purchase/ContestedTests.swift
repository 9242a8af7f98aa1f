import Testing
import TollgateCore

@Suite("What is asked of the stores")
struct ContestedTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let wanted: [Wanted]
        var unknown: [StoreProduct] = []
    }

    static let subscription = Wanted(kind: .subscription, object: "sub_1")
    static let payment = Wanted(kind: .payment, object: "pi_1")
    static let paid = Fact.checkout("complete", paid: true, 0)

    static func sub(
        _ status: String,
        _ day: Double,
        read: Bool = false,
        price: String = "price_monthly"
    ) -> Fact {
        .subscription(status, day, from: 0, to: 30, price: price, ended: 9, read: read)
    }

    static func refund(
        _ amount: Int64,
        _ day: Double,
        _ status: String = "pending",
        paying invoice: String? = nil
    ) -> Fact {
        let refund = StripeRefund(id: "re_1", amount: amount, status: status, invoice: invoice)
        return .said(.refund(refund), on: day, about: .stripe("pi_1"))
    }

    static func dispute(
        _ amount: Int64,
        _ status: String,
        _ day: Double,
        paying invoice: String? = nil
    ) -> Fact {
        let dispute = StripeDispute(id: "dp_1", amount: amount, status: status, invoice: invoice)
        return .said(.dispute(dispute), on: day, about: .stripe("pi_1"))
    }

    static let cases = [
        Case(
            testDescription: "two events of one second that disagree",
            facts: [sub("active", 5), sub("past_due", 5)],
            wanted: [subscription]
        ),
        Case(
            testDescription: "two events of one second that agree",
            facts: [sub("active", 5), sub("active", 5)],
            wanted: []
        ),
        Case(
            testDescription: "two events of two seconds",
            facts: [sub("active", 5), sub("past_due", 6)],
            wanted: []
        ),
        Case(
            testDescription: "what disagreed is forgotten when something newer is stated",
            facts: [sub("active", 5), sub("past_due", 5), sub("active", 6)],
            wanted: []
        ),
        Case(
            testDescription: "or read in the same second",
            facts: [sub("active", 5), sub("past_due", 5), sub("past_due", 5, read: true)],
            wanted: []
        ),
        Case(
            testDescription: "or when it is over",
            facts: [sub("active", 5), sub("past_due", 5), sub("canceled", 4)],
            wanted: []
        ),
        Case(
            testDescription: "two ends of one second that disagree",
            facts: [sub("canceled", 5), sub("canceled", 5, price: "price_yearly")],
            wanted: [subscription]
        ),
        Case(
            testDescription: "a refund of what is known to be a payment is asked about no more",
            facts: [paid, refund(400, 1)],
            wanted: []
        ),
        Case(
            testDescription: "a refund names the payment, and not what it paid for",
            facts: [refund(400, 1)],
            wanted: [payment]
        ),
        Case(
            testDescription: "a dispute too",
            facts: [dispute(400, "lost", 1)],
            wanted: [payment]
        ),
        Case(
            testDescription: "what was read names its invoice",
            facts: [refund(400, 1, paying: "in_1"), dispute(400, "lost", 1, paying: "in_1")],
            wanted: []
        ),
        Case(
            testDescription: "one that was read does not answer for the other one",
            facts: [refund(400, 1, paying: "in_1"), dispute(400, "lost", 1)],
            wanted: [payment]
        ),
        Case(
            testDescription: "two statements about a refund in one second that disagree",
            facts: [paid, refund(400, 1), refund(500, 1)],
            wanted: [payment]
        ),
        Case(
            testDescription: "and agree",
            facts: [paid, refund(400, 1), refund(400, 1)],
            wanted: []
        ),
        Case(
            testDescription: "a newer statement decides",
            facts: [paid, refund(400, 1), refund(500, 1), refund(500, 2)],
            wanted: []
        ),
        Case(
            testDescription: "and so does a refund that has gone on",
            facts: [paid, refund(400, 1), refund(500, 1), refund(500, 1, "succeeded")],
            wanted: []
        ),
        Case(
            testDescription: "two statements about a dispute in one second that disagree",
            facts: [paid, dispute(400, "needs_response", 1), dispute(400, "under_review", 1)],
            wanted: [payment]
        ),
        Case(
            testDescription: "of a dispute that is over it matters no more",
            facts: [
                paid, dispute(400, "needs_response", 1), dispute(400, "under_review", 1),
                dispute(400, "won", 1),
            ],
            wanted: []
        ),
        Case(
            testDescription: "of two who disagree one is settled",
            facts: [
                paid, refund(400, 1), refund(500, 1), refund(500, 2),
                dispute(400, "needs_response", 1), dispute(400, "under_review", 1),
            ],
            wanted: [payment]
        ),
        Case(
            testDescription: "what a paid session sold",
            facts: [.checkout("complete", paid: true, 0, price: nil)],
            wanted: [Wanted(kind: .checkoutLines, object: "cs_1")]
        ),
        Case(
            testDescription: "what a session would have sold that nobody paid for",
            facts: [.checkout("expired", paid: true, 0, price: nil)],
            wanted: []
        ),
        Case(
            testDescription: "what a session will have sold when it is paid for",
            facts: [.checkout("complete", paid: false, 0, price: nil)],
            wanted: []
        ),
        Case(
            testDescription: "what no catalog knows waits for one that does",
            facts: [
                sub("active", 5, price: "price_new"),
                .checkout("complete", paid: true, 0, price: "price_newer"),
                .bought("n1", .nonRenewing, "new", on: 0),
            ],
            wanted: [],
            unknown: [
                StoreProduct(.appStore, "com.example.app.new"),
                StoreProduct(.stripe, "price_newer"),
                StoreProduct(.stripe, "price_new"),
            ]
        ),
    ]

    @Test("what messages leave open has to be read", arguments: cases)
    func wanted(_ story: Case) throws {
        let evaluations = World(story.facts).evaluations()
        #expect(evaluations.flatMap(\.wanted) == story.wanted)
        #expect(evaluations.flatMap(\.unknownProducts) == story.unknown)
        try expectOrderDoesNotMatter(
            Story(testDescription: story.testDescription, facts: story.facts)
        )
    }

    // MARK: What only ever moves forward

    static let forward = [
        Story(
            testDescription: "a refund never goes back a step",
            facts: [
                paid, refund(1000, 3, "failed"), refund(1000, 5, "succeeded"), refund(1000, 9),
            ],
            coins: 100
        ),
        Story(
            testDescription: "of two statements about a refund the newer one counts",
            facts: [paid, refund(100, 3, "succeeded"), refund(500, 5, "succeeded")],
            coins: 50
        ),
        Story(
            testDescription: "a dispute that is over stays as it ended",
            facts: [paid, dispute(1000, "won", 3), dispute(1000, "under_review", 9)],
            coins: 100
        ),
        Story(
            testDescription: "of two ends of a dispute the newer one counts",
            facts: [paid, dispute(1000, "won", 3), dispute(1000, "lost", 5)],
            coins: 0
        ),
        Story(
            testDescription: "a paid invoice stays paid",
            facts: [
                sub("active", 0), .invoice("in_1", 0), CoinLotTests.unpaid(on: 5),
                .invoice("in_2", 30),
            ],
            coins: 20
        ),
        Story(
            testDescription: "an upgrade ends the period by its earliest word",
            facts: [
                .paid("p1", 0, 30, said: 20, upgraded: true),
                .paid("p1", 0, 30, said: 10, upgraded: true), .paid("p1", 0, 30, said: 25),
            ],
            expected: [.on(9, .payment), .off(10), .off(19)]
        ),
        Story(
            testDescription: "of two readings of a session's lines one stays",
            facts: [
                .checkout("complete", paid: true, 0, quantity: 1, source: "a"),
                .checkout("complete", paid: true, 0, quantity: 3, source: "b"),
                .checkout("complete", paid: true, 0, price: nil, source: "c"),
            ],
            coins: 300
        ),
    ]

    @Test("what absorbs stays absorbed", arguments: forward)
    func absorbs(_ story: Story) throws {
        expect(story)
        try expectOrderDoesNotMatter(story)
    }

    @Test("a session's customer and reference are those of any message that names them")
    func names() {
        func session(_ customer: String?, _ reference: String?, _ day: Double) -> Fact {
            .said(
                .payment(
                    StripePayment(
                        session: "cs_1",
                        status: "complete",
                        isPaid: true,
                        customer: customer,
                        reference: reference,
                        lines: nil,
                        amount: 0,
                        currency: "usd",
                        created: .day(0)
                    )
                ),
                on: day,
                about: .stripe("pi_1")
            )
        }
        let facts = [
            session(nil, "user_1", 0), session("cus_1", nil, 1), session(nil, nil, 2),
            session("cus_2", "user_2", 0.5),
        ]
        for order in permutations(facts) {
            #expect(
                Purchase(key: .stripe("pi_1"), joining: order).names
                    == [.stripeCustomer("cus_2"), .reference("user_2")]
            )
        }
        #expect(Purchase(key: .stripe("pi_1"), joining: [facts[2]]).names == [])
    }

    @Test("facts of other purchases are none of this one")
    func others() {
        let facts: [Fact] = [.paid("p1", 0, 30), .bought("p2", .nonConsumable, "lifetime", on: 0)]
        let purchase = Purchase(key: .appStore(), joining: facts)
        #expect(purchase.periods.map(\.period.id) == ["p1"])
    }
}
