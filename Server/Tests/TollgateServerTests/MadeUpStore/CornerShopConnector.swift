import AsyncHTTPClient
import Foundation
import NIOCore
import Reports
import Storage
import Stores
import TollgateAPI
import TollgateCore

/// The made-up store's room.
///
/// Its purchases borrow the App Store's kind of record, since no further one is to be built in for a
/// test; so it takes the place of the App Store's room. All else is its own: its address, signature,
/// messages, questions, reconciliation, rows, standings, fee, reports and names.
struct CornerShopConnector: StoreConnector {
    let store = Store.appStore
    let name = "Corner Shop"
    let shopName = "the shop at the corner"
    let context: StoreContext
    let isSetUp = true
    let applications = ["corner-shop"]
    let webhook = StoreWebhook(
        APIPath(template: "/webhooks/corner_shop"),
        limit: 4096,
        signature: "Corner-Signature"
    )
    let reconciling = WorkRhythm(every: .seconds(60), afterFailure: .seconds(60))
    private static let pass = "reconcile/corner_shop"
    let passes = [Self.pass]
    let rows: any StoreRows = CornerShopRows()
    let standings: any StoreStandings = CornerShopStandings()
    let books: any StoreBooks
    let managementURL: String? = "https://corner.example/orders"
    private let shop: CornerShopClient
    private let questions: Questions

    init(_ context: StoreContext, port: Int) {
        self.context = context
        shop = CornerShopClient(port: port)
        books = CornerShopBooks(records: context.records, shop: shop)
        questions = Questions(context)
    }

    // MARK: - What it tells

    struct Unsigned: StoreFault {
        let refusal = Refusal(400, .parameterInvalid, "The signature is not the shop's.")
    }

    func translate(_ message: ReceivedMessage, at now: Instant) throws -> Translation {
        if case .delivered(let signature) = message.way,
            signature != CornerShop.signature(of: message.body)
        {
            throw Unsigned()
        }
        let told = try JSONDecoder().decode(CornerShop.Message.self, from: Data(message.body))
        let evidence = Evidence(
            source: "message-\(told.number)",
            key: RowKey("corner shop", "\(told.number)"),
            stated: Instant(milliseconds: told.at),
            kind: message.way == .fetched ? .fetched : .delivered,
            body: message.body
        )
        guard let order = told.order else {
            return Translation(
                .hint(
                    [Wanted(kind: .subscriptionStatus, object: told.id)],
                    about: Self.key(told.id),
                    reason: "it says only that something changed"
                ),
                evidence: evidence
            )
        }
        return Self.translation(of: order, Stated(evidence.stated), evidence)
    }

    func receive(_ message: ReceivedMessage) async throws -> MessageOutcome {
        try await verifyAndJournal(message)
    }

    private static func translation(
        of order: CornerShop.Order,
        _ stated: Stated,
        _ evidence: Evidence
    ) -> Translation {
        guard order.item != "bread" else {
            return Translation(.parked(reason: "bread gives nothing"), evidence: evidence)
        }
        let key = key(order.id)
        let period = Period(
            id: order.id,
            transactionID: order.id,
            product: order.item,
            kind: .autoRenewable,
            start: Instant(milliseconds: order.from),
            end: Instant(milliseconds: order.until),
            revoked: order.refunded.map { Instant(milliseconds: $0) },
            token: order.buyer,
            price: order.cents * 10,
            currency: "USD"
        )
        let statements: [Statement] = [.period(period), .renewal(RenewalTerms(willRenew: false))]
        return Translation(
            .facts(
                statements.map {
                    Fact(purchase: key, source: evidence.source, stated: stated, statement: $0)
                },
                about: key
            ),
            evidence: evidence
        )
    }

    static func key(_ order: String) -> Purchase.Key {
        Purchase.Key(
            store: .appStore,
            environment: .sandbox,
            application: "corner-shop",
            id: order
        )
    }

    // MARK: - What it is asked

    func askWhatIsWanted() async -> Bool {
        await questions.ask { again, round in
            round.beginKind()
            for wanted in try await questions.due(.subscriptionStatus, again: again)
            where round.goesOn {
                let now = await context.clocks.now()
                let order: CornerShop.Order = try await shop.get("orders/\(wanted.object)")
                let body = try CornerShop.encode(order)
                let evidence = Evidence(
                    source: "read-\(order.id)",
                    key: RowKey("corner shop read", order.id, "\(now.milliseconds)"),
                    stated: now,
                    kind: .fetched,
                    body: body
                )
                _ = try await context.journal(
                    Self.translation(of: order, Stated(now, isRead: true), evidence),
                    of: store
                )
                try await questions.settle(wanted)
                round.answered()
            }
        }
    }

    func reconcileIfDue() async throws -> Bool {
        let name = Self.pass
        _ = try await context.leases.holding(name) { _ in
            let kept = try await context.records.cursors.read(name)
            let after = kept.flatMap { Int(String(decoding: $0.body, as: UTF8.self)) } ?? 0
            let told: [CornerShop.Message] = try await shop.get("messages/\(after)")
            for message in told {
                _ = try await receive(
                    ReceivedMessage(try CornerShop.encode(message), .fetched)
                )
            }
            try await context.records.cursors.keep(
                name,
                Array("\(after + told.count)".utf8),
                now: context.clocks.wall()
            )
        }
        return true
    }

    func consoleURL(of object: StoreObject, in environment: StoreEnvironment) -> String? {
        guard case .purchase(let purchase) = object else { return nil }
        return "https://corner.example/orders/\(purchase.key.id)"
    }
}

/// Asks the shop, over HTTP.
struct CornerShopClient: Sendable {
    let port: Int

    func get<Answer: Decodable>(_ path: String) async throws -> Answer {
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)/\(path)"),
            timeout: .seconds(60)
        )
        let body = try await response.body.collect(upTo: 1 << 20)
        return try JSONDecoder().decode(Answer.self, from: Data(body.readableBytesView))
    }
}

/// The sales and periods of its orders.
struct CornerShopRows: StoreRows {
    let store = Store.appStore

    func add(
        _ purchase: Purchase,
        in history: CatalogHistory,
        _ customer: (HolderNames) throws -> String,
        to rows: inout Reports.PurchaseRows
    ) rethrows {
        for effective in purchase.effectivePeriods {
            let (period, product) = (
                effective.period,
                history.product(
                    StoreProduct(store, effective.period.product),
                    at: effective.period.start
                )
            )
            let end = period.end ?? period.start
            let sale = Reports.Sale(
                kind: .charge,
                store: store,
                environment: purchase.key.environment,
                purchase: purchase.key,
                transaction: period.id,
                lot: period.id,
                product: product?.id ?? period.product,
                storeProduct: period.product,
                productKind: product?.kind,
                country: "",
                currency: period.currency ?? "",
                amount: period.price ?? 0,
                quantity: 1,
                offer: .none,
                purchased: period.start,
                at: period.start,
                isRenewal: false,
                isAfterOneYear: false,
                isFamilyShared: false,
                customer: try customer(effective.buyer)
            )
            rows.sales.append(sale)
            if let refunded = effective.revoked {
                rows.sales.append(sale.takenBack(.refund, sale.amount, at: refunded))
            }
            let paidUntil = min(effective.end ?? end, end)
            rows.periods.append(
                Reports.PaidPeriod(
                    sale,
                    id: period.id,
                    end: end,
                    paidUntil: paidUntil,
                    effectiveEnd: paidUntil,
                    refunded: effective.revoked,
                    retriedSince: nil,
                    duration: "P30D"
                )
            )
        }
    }
}

/// How its orders stand: paid for until they end, or given back.
struct CornerShopStandings: StoreStandings {
    let store = Store.appStore

    func standing(of held: HeldPurchase) -> PurchaseStanding {
        let refunded = held.purchase.effectivePeriods.last?.revoked
        var standing = PurchaseStanding(
            refunded.map { .refunded($0, renews: nil) } ?? held.state()
        )
        standing.isPlan = true
        return standing
    }

    func details(of purchase: Purchase) -> [PurchaseDetail] { [.transaction(purchase.key.id)] }
}

/// Its ledger, and how our sales match it.
struct CornerShopBooks: StoreBooks {
    let store = Store.appStore
    let records: RecordStore
    let shop: CornerShopClient

    static let ledger = "CORNER_LEDGER"
    let fee = Finance.Terms.StoreFee(left: 9_000, isReturned: true)
    let canFetch = true
    let layouts = [
        StoreLayout("ledger", of: "Corner Shop", .sales { sales, _ in "\(sales.map(\.amount))" })
    ]

    func fetch(
        today: Instant,
        prolong: @Sendable () async throws -> Void
    ) async throws -> Int {
        var new = 0
        let kept = try await records.reports.periods(Self.ledger)
        for back in stride(from: Int64(40), through: 1, by: -1) {
            let day = Finance.Day(utc: today).advanced(by: -back)
            guard !kept.contains("DAILY \(day)") else { continue }
            let lines: [CornerShop.Line] = try await shop.get("ledger/\(day)")
            let rows = try lines.enumerated().map { index, line in
                StoredReport.Row(
                    line: Int64(index + 1),
                    day: "\(day)",
                    body: try CornerShop.encode(line)
                )
            }
            let report = StoredReport(
                kind: Self.ledger,
                period: "DAILY \(day)",
                fetched: today,
                body: try CornerShop.encode(lines),
                rows: rows
            )
            if try await records.reports.keep(report) { new += 1 }
            try await prolong()
        }
        return new
    }

    private func lines(_ span: BookSpan) async throws -> [CornerShop.Line] {
        try await records.reports.lines(Self.ledger, from: "\(span.first)", to: "\(span.last)").map
        {
            try JSONDecoder().decode(CornerShop.Line.self, from: Data($0.body))
        }
    }

    func compare(
        _ movements: [Finance.Movement],
        over span: BookSpan
    ) async throws -> ComparedBooks {
        var lines = span.isReported ? try await lines(span) : []
        var settlements: [Finance.Movement: Finance.Settlement] = [:]
        var missing = 0
        for movement in movements where span.contains(movement) {
            let isBack = movement.kind != .charge
            guard
                let index = lines.firstIndex(where: {
                    $0.order == movement.id && ($0.cents < 0) == isBack
                })
            else {
                missing += 1
                continue
            }
            let line = lines.remove(at: index)
            let fee = Self.money(line.fee)
            settlements[movement] = Finance.Settlement(
                net: Self.money(line.cents) - fee,
                tax: .zero("USD"),
                commission: fee,
                line: line.id
            )
        }
        return ComparedBooks(
            settlements: settlements,
            differences: lines.map { line in
                Finance.Difference(
                    .missingHere,
                    store: store,
                    source: Self.ledger,
                    product: "",
                    line: line.id,
                    reportedDay: Finance.Day(line.day),
                    units: 1,
                    reported: Self.money(line.cents),
                    detail: "the shop booked \(line.order)"
                )
            },
            coverage: [
                .init(
                    store: store,
                    source: Self.ledger,
                    covered: [],
                    matched: settlements.count,
                    pending: missing
                )
            ]
        )
    }

    func usual(_ movement: Finance.Movement) -> Finance.Settlement? { nil }

    func payouts(
        of span: BookSpan,
        sold: (_ first: Finance.Day, _ last: Finance.Day) async throws -> [Finance.Payment]
    ) async throws -> [Finance.Payout] {
        let lines = try await lines(span)
        return Dictionary(grouping: lines, by: \.day).compactMap { day, lines in
            Finance.Day(day).map { day in
                Finance.Payout(
                    store: store,
                    id: "till \(day)",
                    arrival: day,
                    status: "paid",
                    amount: Self.money(lines.reduce(0) { $0 + $1.cents - $1.fee })
                )
            }
        }
    }

    private static func money(_ cents: Int64) -> Finance.Money {
        Finance.Money(minorUnits: cents, currency: "usd")
    }
}
