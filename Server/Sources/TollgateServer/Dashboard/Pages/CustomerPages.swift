internal import Foundation
internal import Hummingbird
internal import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateCore
internal import TollgateService

/// Customers: the search, and all that is known of one.
struct CustomerPages: DashboardPages {
    let request: DashboardRequest

    /// The search, and below it who changed last.
    func customers() async throws -> Response {
        if let text = ask.query("q") { return try await search(text) }
        let page = try await tollgate.customerFiles.recent(before: before)
        let table = Table(
            caption: words["recent_customers"],
            columns: [
                words["customer"], words["email"], words["active_now"], words["coins"],
                words["environment"], words["changed"],
            ],
            numbers: [3],
            rows: page.customers.map { message, customer in
                [
                    customerCell(message.customer, customer),
                    Cell(customer?.email.map(personal) ?? "–"),
                    Cell(
                        message.entitlements.isEmpty
                            ? "–" : names(of: message.entitlements.map(\.lookupKey))
                    ),
                    Cell.count(message.balance, formats),
                    Cell(words["environment_\(message.environment.rawValue)"]),
                    Cell.time(message.created, formats),
                ]
            },
            empty: words["no_customers"],
            next: older(page.next)
        )
        return list(
            words["nav_customers"],
            section: "customers",
            template: "dash_customers",
            table,
            file: "customers",
            ["searched": false]
        )
    }

    private func search(_ text: String) async throws -> Response {
        let found = try await tollgate.customerFiles.find(text)
        let hits = found.customers.count + found.purchases.count + (found.message == nil ? 0 : 1)
        if hits == 1 || (found.customers.count == 1 && found.message == nil) {
            if let customer = found.customers.first {
                return dashboard.redirect(
                    "/dashboard/customers/\(Ask.escaped(customer.id.rawValue))"
                )
            }
            if let purchase = found.purchases.first {
                return dashboard.redirect("/dashboard/purchases/\(purchase.row.hex)")
            }
            if let message = found.message {
                return dashboard.redirect("/dashboard/deliveries/\(message)")
            }
        }
        var rows = found.customers.map { id, customer in
            [
                Cell(words["customer"]), customerCell(id, customer),
                Cell(customer?.email.map(personal) ?? "–"),
            ]
        }
        rows += found.purchases.map { row, record in
            [
                Cell(words["purchase"]),
                Cell.link(record.key.id, "/dashboard/purchases/\(row.hex)"),
                Cell(storeName(record.key.store)),
            ]
        }
        if let message = found.message {
            rows.append([
                Cell(words["message"]),
                Cell.link("#\(message)", "/dashboard/deliveries/\(message)"),
                Cell("–"),
            ])
        }
        // Ids are matched whole; names that are like it may still be what is meant.
        let known = Set(found.customers.map { $0.id })
        let similar = try await tollgate.customerFiles.similar(
            to: text,
            emails: visit.member.role >= .support
        ).filter { !known.contains($0.id) }
        rows += similar.map { id, customer in
            [
                Cell(words["similar_name"]), customerCell(id, customer),
                Cell(customer.email.map(personal) ?? "–"),
            ]
        }
        let table = Table(
            caption: words["found"],
            columns: [words["kind"], words["what"], words["note"]],
            rows: rows,
            empty: words("found_nothing", ["text": text])
        )
        return page(
            "dash_customers",
            words["nav_customers"],
            section: "customers",
            ["table": table.model, "searched": true]
        )
    }

    // MARK: - One customer

    func customer(_ id: String) async throws -> Response {
        let file = try await tollgate.customerFiles.file(id, in: environment)
        let here = file.address
        let rows = try await tollgate.store.journal.rows(
            of: file.id,
            in: file.environment,
            before: before,
            limit: 101
        )
        let audit = try await tollgate.store.audit.entries(
            subject: "customer:\(file.id)",
            limit: 10
        )
        let catalog = tollgate.store.history.current
        let paid = try await tollgate.reporting.money(of: file.id, in: file.environment)
        let names = Dictionary(
            file.holdings.map { ($0.key, $0.shown.name) },
            uniquingKeysWith: { $1 }
        )
        let story = timeline(
            Array(rows.prefix(100)),
            purchases: names,
            next: rows.count > 100 ? "\(here)&before=\(rows[99].id)#timeline" : nil
        )
        var content: Model = [
            "id": file.id.rawValue, "here": here,
            "appUserID": file.customer?.appUserID ?? words["erased"],
            "isErased": file.customer == nil, "identity": identity(file),
            "environmentName": words["environment_\(file.environment.rawValue)"],
            "environmentValue": file.environment.rawValue,
            "otherEnvironmentURL": file.hasOtherEnvironment
                ? "/dashboard/customers/\(Ask.escaped(id))?environment="
                    + (file.environment == .production ? "sandbox" : "production") : false,
            "otherEnvironmentName": words[
                "environment_\(file.environment == .production ? "sandbox" : "production")"
            ],
            "entitlements": entitlements(file, catalog, here),
            "hasEntitlements": !catalog.entitlements.isEmpty,
            "holdings": holdings(file).model,
            "balance": formats.number(file.coins.balance),
            "debt": file.coins.debt > 0 ? formats.number(file.coins.debt) : false,
            "movements": movements(file).model, "hasMovements": !file.movements.isEmpty,
            "sessionCount": file.sessions.count, "hasSessions": !file.sessions.isEmpty,
            "sessionsText": words("sessions_running", ["count": "\(file.sessions.count)"]),
            "lots": lots(file).model, "hasLots": !file.lots.isEmpty,
            "money": money(paid), "timeline": story.model,
            "audit": auditTable(audit, next: nil).model, "hasAudit": !audit.isEmpty,
            "nonce": tollgate.random.id("form_"),
        ]
        content["grants"] = file.holdings.filter(\.isRunningGrant).map { holding -> Model in
            ["grantID": holding.key.id, "grantName": holding.shown.name]
        }
        content["lookupKeys"] = catalog.entitlements.map { entitlement -> Model in
            ["value": entitlement.lookupKey, "name": entitlement.name]
        }
        return page(
            "dash_customer",
            file.customer?.appUserID ?? words["erased"],
            section: "customers",
            content
        )
    }

    private func identity(_ file: CustomerFile) -> [Model] {
        func line(_ key: String, _ value: String, copies: Bool, href: String? = nil) -> Model {
            ["term": words[key], "value": value, "copies": copies, "link": href ?? false]
        }
        var lines = [line("customer_id", file.id.rawValue, copies: true)]
        if let customer = file.customer {
            lines.append(line("app_user_id", customer.appUserID, copies: true))
            lines.append(line("app_account_token", customer.appAccountToken, copies: true))
            if let email = customer.email {
                lines.append(line("email", personal(email), copies: visit.member.role >= .support))
            }
            for store in Store.allCases {
                guard let id = file.storeCustomers[store] else { continue }
                lines.append(
                    line(
                        "\(store.rawValue)_customer",
                        id,
                        copies: true,
                        href: consoleURL(.customer(id), at: store, file.environment)
                    )
                )
            }
            lines.append(
                line(
                    "created",
                    formats.moment(Instant(milliseconds: customer.created)),
                    copies: false
                )
            )
            for (key, value) in customer.metadata.sorted(by: { $0.key < $1.key }).prefix(20) {
                lines.append([
                    "term": key, "value": visit.member.role >= .support ? value : "•••",
                    "copies": false, "link": false,
                ])
            }
        }
        return lines
    }

    private func entitlements(_ file: CustomerFile, _ catalog: Catalog, _ here: String) -> [Model] {
        var keys = catalog.entitlements.map(\.lookupKey)
        keys += file.entitlements.map(\.lookupKey).filter { !keys.contains($0) }
        return keys.map { key -> Model in
            let active = file.entitlements.first { $0.lookupKey == key }
            let id = Ask.escaped(file.id.rawValue)
            return [
                "name": catalog.entitlement(lookupKey: key)?.name ?? key, "lookupKey": key,
                "isOn": active != nil,
                "stateText": active.map { state(of: $0) } ?? words["not_active"],
                "explainURL": "/dashboard/customers/\(id)/explain?lookup_key=\(Ask.escaped(key))"
                    + "&environment=\(file.environment.rawValue)",
            ]
        }
    }

    /// On what ground and until when: `Paid for, until 1 Dec 2026, 14:03`.
    private func state(of entitlement: API.Entitlement) -> String {
        let ground = words.of("ground", entitlement.ground.rawValue)
        guard let until = entitlement.until else {
            return words("ground_for_ever", ["ground": ground])
        }
        return words(
            "ground_until",
            ["ground": ground, "until": formats.moment(Instant(milliseconds: until))]
        )
    }

    private func holdings(_ file: CustomerFile) -> Table {
        Table(
            caption: words["nav_purchases"],
            columns: [words["purchase"], words["store"], words["state"], words["price"]],
            numbers: [3],
            rows: file.holdings.map { holding in
                let name =
                    holding.staffCoins.map {
                        words("staff_coins", ["amount": formats.change($0)])
                    }
                    ?? (holding.shown.name.isEmpty ? words["unknown_product"] : holding.shown.name)
                return [
                    Cell.link(name, "/dashboard/purchases/\(holding.row.hex)")
                        .with(id: holding.key.id), Cell(storeName(holding.key.store)),
                    holding.staffCoins == nil
                        ? stateCell(holding.shown) : Cell(words["state_corrected"]),
                    holding.shown.price.map { Cell.money($0.amount, $0.currency, formats) }
                        ?? Cell("–"),
                ]
            },
            empty: words["no_purchases"]
        )
    }

    /// What they pay, since when, and what they have paid in all.
    private func money(_ money: CustomerMoney) -> [Model] {
        func line(_ key: String, _ value: String) -> Model {
            ["term": words[key], "value": value, "copies": false, "link": false]
        }
        func amounts(_ value: (CustomerMoney.Sum) -> Reports.Fraction) -> String {
            let amounts = money.sums.filter { !value($0).isZero }.map { sum in
                formats.money(formats.minor(value(sum), sum.currency), sum.currency)
            }
            return amounts.isEmpty ? "–" : amounts.joined(separator: " + ")
        }
        return [
            line("pays_monthly", amounts { $0.monthly }),
            line("lifetime_value", amounts { Reports.Fraction($0.kept) }),
            line("went_back", amounts { Reports.Fraction($0.returned) }),
            line("pays_since", money.first.map { formats.day($0) } ?? "–"),
            line("paid_last", money.last.map { formats.day($0) } ?? "–"),
            line("payment_count", formats.number(Int64(money.charges))),
        ]
    }

    private func lots(_ file: CustomerFile) -> Table {
        Table(
            caption: words["coin_lots"],
            columns: [
                words["when"], words["from"], words["credited"], words["clawed"], words["left"],
            ],
            numbers: [2, 3, 4],
            rows: file.lots.map { lot in
                let name = lot.holding.staffCoins == nil ? lot.holding.shown.name : ""
                return [
                    Cell.time(lot.credited, formats),
                    Cell.link(
                        name.isEmpty ? words["state_corrected"] : name,
                        "/dashboard/purchases/\(lot.holding.row.hex)"
                    ), Cell.count(lot.credit, formats), Cell.count(lot.clawed, formats),
                    Cell.count(lot.left, formats),
                ]
            },
            empty: words["no_movements"]
        )
    }

    /// Names of customers that have what was typed in them, for the search box.
    func suggestions() async throws -> Response {
        let found = try await tollgate.customerFiles.similar(
            to: ask.query("q") ?? "",
            emails: visit.member.role >= .support
        )
        let names = found.map { $0.customer.appUserID }
        return Response.json(bytes: try JSONEncoder().encode(names))
    }

    private func movements(_ file: CustomerFile) -> Table {
        Table(
            caption: words["coin_movements"],
            columns: [words["when"], words["amount"], words["cause"]],
            numbers: [1],
            rows: file.movements.map { movement in
                [
                    movement.stated.map { Cell.time($0, formats) } ?? Cell("–"),
                    Cell.number(formats.change(movement.amount)),
                    Cell.link("#\(movement.journal)", "/dashboard/deliveries/\(movement.journal)"),
                ]
            },
            empty: words["no_movements"]
        )
    }

    // MARK: - Why

    func explain(_ id: String) async throws -> Response {
        let file = try await tollgate.customerFiles.file(id, in: environment)
        guard let key = ask.query("lookup_key") else { throw Refusal.nothingHere }
        var at: Instant?
        if let text = ask.query("at") { at = try instant(text) }
        let reasons = try await tollgate.explanations.reasons(
            key,
            for: file.id.rawValue,
            in: file.environment,
            at: at
        )
        let name = tollgate.store.history.current.entitlement(lookupKey: key)?.name ?? key
        let explanation = reasons.explanation
        return page(
            "dash_explain",
            words("why", ["name": name]),
            section: "customers",
            [
                "isOn": explanation.isEntitled,
                "answer": words[explanation.isEntitled ? "answer_yes" : "answer_no"],
                "groundText": explanation.answer.map { words.of("ground", $0.ground.rawValue) }
                    ?? false,
                "atText": formats.moment(explanation.at),
                "atValue": String(explanation.at.description.prefix(16)),
                "table": evidence(reasons).model,
                "changes": explanation.changes.map { words.said($0, formats).text },
                "hasChanges": !explanation.changes.isEmpty, "lookupKey": key,
                "environmentValue": file.environment.rawValue,
                "back": file.address,
                "backName": file.customer?.appUserID ?? words["erased"],
            ]
        )
    }

    /// The facts behind an answer, the newest first.
    private func evidence(_ reasons: Explanations.Reasons) -> Table {
        func row(
            _ stated: Instant,
            _ store: Store,
            _ kind: String,
            _ sentence: Sentence,
            _ decides: Bool
        ) -> [Cell] {
            var said = Cell.said(sentence, words, formats)
            said.note = words.of("statement", kind)
            return [
                Cell.time(stated, formats), Cell(storeName(store)), said,
                decides ? Cell.badge(words["decides_yes"], "on") : Cell("–"),
            ]
        }
        let facts = reasons.explanation.facts.reversed().map {
            row($0.stated, $0.purchase.store, $0.kind, $0.sentence, $0.decides)
        }
        let opinion = reasons.opinion.map {
            row($0.stated, $0.store, Explanation.Opinion.kind, $0.sentence, false)
        }
        return Table(
            caption: words["evidence"],
            columns: [words["when"], words["from"], words["fact"], words["decides"]],
            rows: (opinion.map { [$0] } ?? []) + facts,
            empty: words["no_facts"]
        )
    }

    /// `2026-12-01T14:03` of a form, in UTC.
    private func instant(_ text: String) throws -> Instant {
        let formatter = ISO8601DateFormatter()
        let full = text.count == 16 ? "\(text):00Z" : text.hasSuffix("Z") ? text : "\(text)Z"
        guard let date = formatter.date(from: full) else {
            throw Refusal.invalid("at", "A time looks like 2026-12-01T14:03.")
        }
        let seconds = date.timeIntervalSince1970
        guard abs(seconds) < 253_402_300_800 else { throw Refusal.nothingHere }
        return Instant(seconds: Int64(seconds))
    }
}

extension CustomerFile {
    /// Its page of the dashboard.
    var address: String {
        "/dashboard/customers/\(Ask.escaped(id.rawValue))?environment=\(environment.rawValue)"
    }
}
