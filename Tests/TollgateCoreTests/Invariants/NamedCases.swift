import TollgateCore

/// The stores' cases by their names (docs/cases.md), as far as facts alone tell them.
enum NamedCases {
    static let all =
        AppStoreStoryTests.stories + AppStoreDisagreementTests.stories
        + StripeStoryTests.stories + StripeMoneyTests.stories + GooglePlayStoryTests.stories + more

    /// The cases that facts alone do not tell, each with the reason.
    static let elsewhere = [
        "S12": "the environment is chosen before there is a fact",
        "S14": "it becomes a question",
        "S25": "it is decided by a read",
        "G4": "it is about questions", "G6": "it is about owners", "G12": "it is about acts",
        "G13": "it is about acts", "G24": "it is about owners",
        "G30": "it is about messages", "G31": "it is about messages",
        "G32": "it is about what devices post",
    ]

    /// The ids at the beginning of titles.
    static let told = Set(all.compactMap { id($0.testDescription.prefix { $0 != ":" }) })

    /// The id of a case of the App Store, Stripe or Google Play, such as `A1`; `nil` for another word.
    static func id(_ word: Substring) -> String? {
        let number = word.dropFirst()
        guard let store = word.first, "ASG".contains(store), !number.isEmpty,
            number.allSatisfy(\.isNumber)
        else { return nil }
        return String(word)
    }

    private static let sandbox = Purchase.Key(
        store: .appStore,
        environment: .sandbox,
        application: "com.example.app",
        id: "1"
    )

    private static func inSandbox(_ fact: Fact) -> Fact {
        var fact = fact
        fact.purchase = sandbox
        return fact
    }

    static let more = [
        Story(
            testDescription: "A11: the same ids in sandbox and production are two purchases",
            facts: [
                .paid("p1", 0, 30), inSandbox(.paid("p1", 0, 30)),
                inSandbox(.paid("p1", 0, 30, said: 10, revoked: 10)), inSandbox(.status(5, 10)),
            ],
            expected: [.on(20, .payment)],
            coins: 10
        ),
        Story(
            testDescription: "A12: a token that comes later opens an epoch of its own",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60, token: "b"), .paid("p3", 60, 90),
                .claimed("ann", .purchased, 1), .claimed("bob", .restored, 70),
            ],
            expected: [.on(45, .payment)],
            coins: 30
        ),
        Story(
            testDescription: "A13: a question about an older transaction changes nothing",
            facts: [
                .paid("p1", 0, 30), .paid("p2", 30, 60), .terms(30), .status(1, 30),
                .paid("p1", 0, 30, said: 40), .status(1, 40), .terms(40),
            ],
            expected: [.on(45, .payment), .on(60, plus: Instant.hour, .renewal)],
            coins: 20
        ),
        Story(
            testDescription: "A18: a history that overlaps live messages credits once",
            facts: [
                .paid("p1", 0, 30), .paid("p1", 0, 30, said: 31), .paid("p2", 30, 60),
                .paid("p2", 30, 60, said: 31), .status(1, 31), .terms(31),
            ],
            expected: [.on(15, .payment), .on(45, .payment)],
            coins: 20
        ),
        Story(
            testDescription: "S11: a customer who was deleted keeps what was paid once",
            facts: [
                .subscription("active", 0, from: 0, to: 30), .invoice("in_1", 0),
                .subscription("canceled", 10, from: 0, to: 30, ended: 10),
                .checkout("complete", paid: true, 5), .subscription("active", 9, from: 0, to: 30),
            ],
            expected: [.on(9, .payment), .off(10)],
            coins: 110
        ),
        Story(
            testDescription: "S13: one event over two endpoints is one fact",
            facts: [
                .checkout("complete", paid: true, 0, source: "evt_1"),
                .checkout("complete", paid: true, 0, source: "evt_1"),
                .refund("re_1", 500, "succeeded", 3), .refund("re_1", 500, "succeeded", 3),
            ],
            coins: 50
        ),
    ]
}
