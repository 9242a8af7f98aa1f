internal import Foundation
internal import Hummingbird
internal import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Purchases: the newest ones, and all that is known of one.
struct PurchasePages: DashboardPages {
    let request: DashboardRequest

    func purchases() async throws -> Response {
        let filter = Filter(ask)
        let (found, next) = try await newest(filter)
        let table = Table(
            caption: words["nav_purchases"],
            columns: [
                words["purchase"], words["store"], words["environment"], words["state"],
                words["price"],
            ],
            numbers: [4],
            rows: found.map { row, record, shown in
                [
                    Cell.link(
                        shown.name.isEmpty ? words["unknown_product"] : shown.name,
                        "/dashboard/purchases/\(row.hex)"
                    ).with(id: record.key.id), Cell(storeName(record.key.store)),
                    Cell(words["environment_\(record.key.environment.rawValue)"]),
                    stateCell(shown),
                    shown.price.map { Cell.money($0.amount, $0.currency, formats) } ?? Cell("–"),
                ]
            },
            empty: words[filter.isEmpty ? "no_purchases" : "no_such_rows"],
            next: older(next)
        )
        return list(
            words["nav_purchases"],
            section: "purchases",
            table,
            file: "purchases",
            filters: [
                storeFilter(filter.store), productFilter(filter.product),
                chooser(
                    "state",
                    words["state"],
                    [choice("", words["all"], filter.state == nil)]
                        + StateGroup.allCases.map {
                            choice($0.rawValue, words["states_\($0.rawValue)"], $0 == filter.state)
                        }
                ),
            ],
            ["lead": words["purchases_lead"]]
        )
    }

    /// States of purchases that one looks for together.
    enum StateGroup: String, CaseIterable {
        case active, failing, refunded, ended, unpaid

        func holds(_ shown: PortalView.Purchase) -> Bool {
            switch shown.standing.state {
            case .paymentFailed, .paused: self == .failing
            case .refunded: self == .refunded
            case .ended, .inactive: self == .ended
            case .processing, .notPaid: self == .unpaid
            case .renews, .endsAt, .trial, .forever, .startsLater, .bought: self == .active
            }
        }
    }

    /// What the address asks for.
    private struct Filter {
        var store: Store?
        var product: String?
        var state: StateGroup?

        init(_ ask: Ask) {
            store = ask.query("store").flatMap { Store(rawValue: $0) }
            product = ask.query("product")
            state = ask.query("state").flatMap { StateGroup(rawValue: $0) }
        }

        var isEmpty: Bool { store == nil && product == nil && state == nil }
    }

    /// The newest purchases that pass, and the key from which the next page goes on.
    ///
    /// They are found by when something was last stated of them, so of a filter that few pass a
    /// page may be short.
    private func newest(
        _ filter: Filter
    ) async throws -> (
        found: [(row: RowKey, record: Purchase, shown: PortalView.Purchase)], next: Int64?
    ) {
        let history = tollgate.store.history
        let catalog = history.current
        let now = await tollgate.clocks.now()
        let standings = tollgate.standings
        var found: [(row: RowKey, record: Purchase, shown: PortalView.Purchase)] = []
        var from = before
        for _ in 0..<20 {
            let page = try await tollgate.store.recentRecords(before: from, limit: 25)
            for (row, record) in page.records {
                let shown = standings.shown(record, in: history, at: now)
                if let store = filter.store, record.key.store != store { continue }
                if let state = filter.state, !state.holds(shown) { continue }
                if let id = filter.product, let product = catalog.product(id: id),
                    shown.name != product.name
                {
                    continue
                }
                found.append((row, record, shown))
            }
            from = page.next
            if from == nil || found.count >= 25 || filter.isEmpty { break }
        }
        return (found, from)
    }

    func purchase(_ hex: String) async throws -> Response {
        guard let row = RowKey(hex: hex), let record = try await tollgate.store.record(row: row)
        else { throw Refusal.nothingHere }
        let now = await tollgate.clocks.now()
        let shown = tollgate.standings.shown(record, in: tollgate.store.history, at: now)
        let rows = try await tollgate.store.journal.rows(before: before, about: row, limit: 101)
        let holders = try await tollgate.store.holders(of: record.key)
        let audit = try await tollgate.store.audit.entries(
            subject: "purchase:\(record.key.canonical)",
            limit: 10
        )
        let here = "/dashboard/purchases/\(hex)"
        return page(
            "dash_purchase",
            shown.name.isEmpty ? words["unknown_product"] : shown.name,
            section: "purchases",
            [
                "canonical": record.key.canonical, "here": here,
                "facts": facts(about: record, shown),
                "holders": holders.map { holder -> Model in
                    [
                        "name": holder.body.isEmpty
                            ? words["erased"]
                            : (try? tollgate.customerFiles.shownName(of: holder))
                                ?? holder.customer.rawValue,
                        "id": holder.customer.rawValue,
                        "url": "/dashboard/customers/\(Ask.escaped(holder.customer.rawValue))"
                            + "?environment=\(record.key.environment.rawValue)",
                    ]
                }, "hasHolders": !holders.isEmpty, "coins": lots(of: record).model,
                "hasCoins": !record.evaluate(in: tollgate.store.history).lots.isEmpty,
                "timeline": timeline(
                    Array(rows.prefix(100)),
                    next: rows.count > 100 ? "\(here)?before=\(rows[99].id)#timeline" : nil
                ).model, "audit": auditTable(audit, next: nil).model, "hasAudit": !audit.isEmpty,
            ].merging(AppStorePages(request: request).appStoreModel(of: record, shown)) { $1 }
        )
    }

    private func facts(about record: Purchase, _ shown: PortalView.Purchase) -> [Model] {
        func line(_ key: String, _ value: String, copies: Bool = false, _ link: String? = nil)
            -> Model
        {
            ["term": words[key], "value": value, "copies": copies, "link": link ?? false]
        }
        var lines = [
            line("state", stateText(shown.standing.state)),
            line("store", storeName(record.key.store)),
            line("environment", words["environment_\(record.key.environment.rawValue)"]),
        ]
        let catalog = tollgate.store.history.current
        if let app = catalog.app(application: record.key.application, in: record.key.store) {
            lines.insert(line("app", app.name), at: 2)
        }
        lines.append(
            line(
                "store_id",
                record.key.id,
                copies: true,
                consoleURL(.purchase(record), at: record.key.store, record.key.environment)
            )
        )
        if !record.storeProducts.isEmpty {
            lines.append(
                line(
                    "store_products",
                    record.storeProducts.map(\.id).joined(separator: ", "),
                    consoleURL(.products(record), at: record.key.store, record.key.environment)
                )
            )
        }
        return lines
            + tollgate.standings.details(of: record).map { detail in
                switch detail {
                case .transaction(let id): line("latest_transaction", id, copies: true)
                case .periodStart(let start): line("period_start", formats.moment(start))
                case .periodEnd(let end): line("period_end", formats.moment(end))
                case .price(let milliunits, let currency):
                    line(
                        "price",
                        formats.money(
                            formats.minor(Reports.Fraction(milliunits), currency),
                            currency
                        )
                    )
                case .amount(let amount):
                    line("amount", formats.money(amount.amount, amount.currency))
                case .checkoutSession(let id): line("checkout_session", id, copies: true)
                }
            }
    }

    private func lots(of record: Purchase) -> Table {
        Table(
            caption: words["coins"],
            columns: [words["when"], words["credited"], words["clawed"], words["note"]],
            numbers: [1, 2],
            rows: record.evaluate(in: tollgate.store.history).lots.map { lot in
                [
                    Cell.time(lot.credited, formats), Cell.number(formats.change(lot.credit)),
                    Cell.number(formats.number(lot.clawed)), Cell(lot.id),
                ]
            },
            empty: words["no_movements"]
        )
    }

    func assign(_ hex: String, _ form: [String: String]) async throws -> Response {
        try visit.require(.support)
        guard let row = RowKey(hex: hex), let record = try await tollgate.store.record(row: row)
        else { throw Refusal.nothingHere }
        let wanted = (form["customer"] ?? "").trimmingCharacters(in: .whitespaces)
        let customer = try await tollgate.directory.customer(wanted, param: "customer")
        _ = try await audited(
            Deed("purchase.assign", "purchase:\(record.key.canonical)", "to \(customer.id)"),
            state: {
                try await tollgate.store.holders(of: record.key).map(\.customer.rawValue)
                    .joined(separator: ", ")
            }
        ) {
            try await tollgate.purchases.assign(
                API.PurchaseAssignment(purchase: record.key.canonical, customer: customer.id),
                to: customer.id
            )
        }
        return done("assign", "/dashboard/purchases/\(hex)")
    }
}
