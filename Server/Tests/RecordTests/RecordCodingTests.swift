import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Record bytes")
struct RecordCodingTests {
    static let records: [Purchase] = [
        Purchase(key: .appStore("1")), Purchase(key: .appStore("1"), joining: facts),
        Purchase(key: .payment("pi"), joining: facts),
        Purchase(key: .appStore("1"), joining: facts.suffix(9).prefix(4)),
        Purchase(key: .grant("1"), joining: facts + own(.grant("1"))),
        Purchase(key: .appStore("1"), joining: own(.appStore("1"))),
        Purchase(key: play, joining: googlePlay), Purchase(key: play),
    ]

    /// What is said without any store, and an app's reports.
    private static func own(_ key: Purchase.Key) -> [Fact] {
        let ann = Customer.ID("ann")
        return [
            .said(.coins(StaffCoins(customer: ann, amount: -5)), on: 1, about: key),
            .said(
                .freeSubscription(FreeSubscription(customer: ann, product: "reader", isOn: true)),
                on: 2,
                about: key
            ),
            .said(
                .freeSubscription(FreeSubscription(customer: ann, product: "reader", isOn: false)),
                on: 3,
                about: key
            ),
        ]
    }

    private static let play = Purchase.Key(
        store: .googlePlay,
        environment: .production,
        application: "com.example.app",
        id: "token"
    )

    /// Every kind of statement of Google Play's, with all that it may say.
    private static let googlePlay: [Fact] = {
        let price = GooglePlayMoney(micros: 9_990_000, currency: "USD")
        let item = GooglePlaySubscription.Item(
            product: "premium",
            basePlan: "monthly",
            offer: "intro",
            expiry: .day(30),
            order: "GPA.1",
            renews: true,
            isPrepaid: true,
            phase: "prorationPeriod",
            price: price,
            replacement: "basic",
            isRemoved: true,
            awaitsConsent: true,
            committedPayments: 3
        )
        func read(_ state: String, resumes: Double?) -> GooglePlaySubscription {
            GooglePlaySubscription(
                state: state,
                start: .day(0),
                items: [item],
                linkedToken: "before",
                account: "a",
                resubscription: .init(token: "expired", account: "b"),
                isAcknowledged: false,
                canceledBy: "user",
                canceledAt: .day(2),
                resumes: resumes.map { .day($0) },
                region: "US"
            )
        }
        let line = GooglePlayPurchase.Line(
            product: "coins",
            option: "buy",
            offer: "o",
            quantity: 3,
            refundable: 2,
            isConsumed: true,
            isRental: true,
            release: .day(1)
        )
        let order = GooglePlayOrder(
            id: "GPA.1",
            state: "PARTIALLY_REFUNDED",
            created: .day(0),
            processed: .day(0),
            total: price,
            tax: price,
            revenue: price,
            isTaxInclusive: true,
            lines: [
                .init(
                    product: "premium",
                    plan: "monthly",
                    offer: "intro",
                    phase: "basePrice",
                    total: price,
                    tax: price,
                    start: .day(0),
                    end: .day(30)
                )
            ],
            refunds: [
                .init(at: .day(3), isPartial: true, isChargeback: true, total: price, tax: price)
            ],
            country: "US"
        )
        let statements: [Statement] = [
            .googlePlaySubscription(read("ACTIVE", resumes: nil)),
            .googlePlaySubscription(read("PAUSED", resumes: 9)),
            .googlePlayPurchase(
                GooglePlayPurchase(
                    state: "PURCHASED",
                    completed: .day(0),
                    lines: [line],
                    order: "GPA.2",
                    account: "a",
                    region: "US"
                )
            ),
            .googlePlayOrder(order),
            .googlePlayVoid(
                GooglePlayVoid(order: "GPA.1", at: .day(3), quantity: 1, source: 0, reason: 7)
            ),
            .googlePlayUnreadable(GooglePlayUnreadable(reason: "purchaseTokenNoLongerValid")),
            .googlePlayUnreadable(
                GooglePlayUnreadable(reason: "permissionDenied", isOutage: true)
            ),
        ]
        return statements.enumerated().map { .said($1, on: Double($0), about: play) }
    }()

    static let facts: [Fact] = {
        let numbers: [Int64] = [.min, -25, -24, -1, 0, 23, 24, 255, 256, 65_535, 65_536, .max]
        let texts = ["", "a", "ü😀", String(repeating: "x", count: 300), "\u{0}\"\\"]
        let facts = numbers.flatMap { number in
            texts.map { text in
                Fact(
                    purchase: .appStore("1"),
                    source: text,
                    stated: Stated(Instant(milliseconds: number), isRead: number > 0),
                    statement: .period(
                        Period(
                            id: "\(number)\(text)",
                            transactionID: text,
                            product: text,
                            kind: .consumable,
                            start: Instant(milliseconds: number),
                            end: number > 5 ? Instant(milliseconds: number) : nil,
                            quantity: number,
                            token: number < 0 ? nil : text,
                            discount: number > 23 ? "FREE_TRIAL" : nil,
                            offer: number > 24 ? text : nil,
                            storefront: number == 0 ? nil : "JPN"
                        )
                    )
                )
            }
        }
        let others: [Fact] = [
            .checkout("pi", customer: "cus"), .refund(5, of: "pi", "succeeded", on: 3),
            .said(.refundReversed(period: nil), on: 5, about: .appStore("1")),
            .claimed("ann", .restored, 4, .payment("pi")),
            .said(
                .subscription(StripeSubscription(status: "active", customer: "cus", items: [])),
                on: 1,
                about: .payment("pi")
            ),
            .said(
                .subscription(
                    StripeSubscription(
                        status: "past_due",
                        customer: "cus",
                        items: [],
                        daysUntilDue: 14
                    )
                ),
                on: 2,
                about: .payment("pi")
            ),
            .said(
                .grant(
                    StaffGrant(
                        customer: Customer.ID("ann"),
                        lookupKey: "pro",
                        since: .day(0),
                        until: nil
                    )
                ),
                on: 1,
                about: .grant("1")
            ),
        ]
        return facts + others
    }()

    @Test("a subscription that is past due is there with its last active statement")
    func lastActive() {
        let statuses = Self.records.compactMap { $0.stripe?.lastActive?.value.status }
        #expect(statuses == ["active"])
    }

    @Test("a record is read back as it was, from the same bytes", arguments: records.indices)
    func roundTrip(_ index: Int) throws {
        let record = Self.records[index]
        let bytes = try RecordEncoder.encode(record)
        let read = try RecordDecoder.decode(Purchase.self, from: bytes)
        #expect(read == record)
        #expect(try RecordEncoder.encode(read) == bytes)
    }

    @Test(
        "what writes itself writes the bytes of its Codable form",
        arguments: RecordCodingTests.records.indices
    )
    func direct(_ index: Int) throws {
        let record = Self.records[index]
        let bytes = try RecordEncoder.encode(record)
        #expect(try bytes == RecordEncoder.encodeCodable(record))
        #expect(try RecordDecoder.decodeCodable(Purchase.self, from: bytes) == record)
    }

    @Test("a fact of every kind writes the bytes of its Codable form")
    func directFacts() throws {
        let facts =
            Self.facts + [
                .said(
                    .renewal(
                        RenewalTerms(
                            willRenew: true,
                            nextProduct: "p",
                            graceEnd: .day(3),
                            awaitsConsent: true,
                            isInBillingRetry: true,
                            expirationIntent: 2,
                            renewalDate: .day(4),
                            price: 9990,
                            currency: "USD"
                        )
                    ),
                    on: 2,
                    about: .appStore("1")
                ),
                .said(.renewal(RenewalTerms(willRenew: false)), on: 2, about: .appStore("1")),
                .said(
                    .status(SubscriptionStatus(value: 4, reachesTo: .day(9))),
                    on: 2,
                    about: .appStore("1")
                ),
                .said(.status(SubscriptionStatus(value: 1)), on: 3, about: .appStore("1")),
                .said(
                    .period(
                        Period(
                            id: "1",
                            transactionID: "2",
                            product: "p",
                            kind: .autoRenewable,
                            start: .day(1),
                            end: .day(2),
                            revoked: .day(2),
                            revokedShare: 70_000,
                            isUpgraded: true,
                            quantity: 3,
                            token: "t",
                            isFamilyShared: true,
                            price: 990,
                            currency: "EUR",
                            offerType: 2,
                            previous: "0",
                            additionalReason: "SEAT_ADDITION",
                            revokedSeats: 1,
                            isSwitched: true,
                            installment: Installment(3, of: 12)
                        )
                    ),
                    on: 3,
                    about: .appStore("1")
                ),
            ]
        let receipt = facts.suffix(1).map { fact in
            var fact = fact
            fact.source = "receipt:2"
            return fact
        }
        let all =
            facts + receipt + [
                .said(.refundReversed(period: "1"), on: 4, about: .appStore("1")),
                Fact(
                    purchase: .appStore("1"),
                    source: "receipt:1",
                    stated: Stated(.day(4)),
                    statement: .status(SubscriptionStatus(value: 2))
                ),
            ]
        for fact in all + Self.googlePlay {
            #expect(try RecordEncoder.encode(fact) == RecordEncoder.encodeCodable(fact))
        }
        var record = Purchase(key: .appStore("1"), joining: all)
        for day in [9.0, 12] { record.isContinued(by: .init(id: "3", since: .day(day))) }
        #expect(record.periods.contains { $0.upgradedBy != nil && $0.receipt != nil })
        #expect(record.periods.contains { $0.revocation != nil && $0.seatStatements != nil })
        #expect(record.predecessors != nil && record.appStore?.reversals != nil)
        let bytes = try RecordEncoder.encode(record)
        #expect(try bytes == RecordEncoder.encodeCodable(record))
        #expect(try RecordDecoder.decode(Purchase.self, from: bytes) == record)
        #expect(try RecordDecoder.decodeCodable(Purchase.self, from: bytes) == record)
    }

    @Test("the catalog is read back, too")
    func catalog() throws {
        let version = CatalogHistory.Version(
            id: "v",
            adopted: .day(0),
            catalog: Shop.nextCatalog
        )
        let bytes = try RecordEncoder.encode(version)
        #expect(try RecordDecoder.decode(CatalogHistory.Version.self, from: bytes) == version)
    }

    @Test("bytes that are no record are refused, never fatal", arguments: UInt64(1)...10)
    func mutations(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let bytes = try RecordEncoder.encode(Self.records[[2, 3, 4, 6][Int(seed % 4)]])
        for _ in 0..<300 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<mutated.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: mutated[place] = UInt8.random(in: 0...255, using: &random)
                case 1: mutated[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: mutated.remove(at: place)
                default:
                    mutated.insert([0xFF, 0xBF, 0x9F, 0x7B, 0x1B][place % 5], at: place)
                }
            }
            let codable = try? RecordDecoder.decodeCodable(Purchase.self, from: mutated)
            let read = try? RecordDecoder.decode(Purchase.self, from: mutated)
            #expect(read == codable)
            if let read {
                // What can still be read is a record: it can be evaluated and written.
                _ = read.evaluate(in: CatalogHistory())
                _ = try RecordEncoder.encode(read)
            }
        }
    }

    @Test("a record cut short or with something behind it is refused")
    func truncation() throws {
        let bytes = try RecordEncoder.encode(Self.records[2])
        for length in 0..<bytes.count {
            #expect(throws: DecodingError.self) {
                try RecordDecoder.decode(Purchase.self, from: Array(bytes[..<length]))
            }
        }
        #expect(throws: DecodingError.self) {
            try RecordDecoder.decode(Purchase.self, from: bytes + [0])
        }
    }

    @Test(
        "a length beyond all memory, and nesting without end, are refused",
        arguments: [
            [0x7B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xBF, 0x7B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00],
            [0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [UInt8](repeating: 0x9F, count: 100_000),
            [0xBF, 0x61, 0x61] + [UInt8](repeating: 0x9F, count: 100_000),
            [],
        ] as [[UInt8]]
    )
    func hostile(_ bytes: [UInt8]) {
        #expect(throws: (any Error).self) {
            try RecordDecoder.decode(Purchase.self, from: bytes)
        }
        #expect(throws: (any Error).self) { try RecordDecoder.decode([Int64].self, from: bytes) }
    }
}
