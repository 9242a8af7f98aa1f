internal import Foundation
internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateCore
internal import TollgateService

/// The catalog, the health of the server, and the audit log.
struct SystemPages: DashboardPages {
    let request: DashboardRequest

    /// - Parameter text: a catalog to be checked before it is deployed.
    func catalog(checked text: String?) -> Response {
        let history = tollgate.store.history
        let catalog = history.current
        let products = Table(
            caption: words["products"],
            columns: [
                words["product"], words["kind"], words["opens"], words["coins"], words["price"],
                words["sold_in"],
            ],
            numbers: [3, 4],
            rows: catalog.products.map { product in
                var stores: [String] = []
                if let id = product.appStoreProductID { stores.append("App Store: \(id)") }
                for app in catalog.apps {
                    guard let id = product.appStoreProductIDs?[app.id] else { continue }
                    stores.append("App Store, \(app.name): \(id)")
                }
                stores += googlePlayNames(of: product, in: catalog)
                if !product.stripePriceIDs.isEmpty {
                    stores.append("Stripe: \(product.stripePriceIDs.joined(separator: ", "))")
                }
                return [
                    Cell.noted(
                        product.name,
                        product.isRetired ? "\(product.id) · \(words["retired"])" : product.id
                    ), Cell(words["product_\(product.kind.rawValue)"]),
                    Cell(
                        product.entitlements.isEmpty
                            ? "–" : product.entitlements.joined(separator: ", ")
                    ), Cell.number(product.coins == 0 ? "–" : formats.number(product.coins)),
                    Cell.number(
                        product.price.map { formats.money($0.amount, $0.currency) } ?? "–"
                    ), Cell.long(stores.isEmpty ? "–" : stores.joined(separator: " · ")),
                ]
            },
            empty: words["no_products"]
        )
        let versions = Table(
            caption: words["versions"],
            columns: [words["adopted"], words["version"], words["products"]],
            numbers: [2],
            rows: history.versions.reversed().prefix(20).map { version in
                [
                    Cell.time(version.adopted, formats), Cell(String(version.id.prefix(12))),
                    Cell.number("\(version.catalog.products.count)"),
                ]
            },
            empty: ""
        )
        var content: Model = [
            "products": products.model, "versions": versions.model,
            "entitlements": catalog.entitlements.map { entitlement -> Model in
                ["name": entitlement.name, "lookupKey": entitlement.lookupKey]
            }, "checked": text ?? "", "wasChecked": text != nil, "isFine": false,
            "problems": [Model](),
        ]
        if let text {
            let check = CatalogCheck(bytes: Array(text.utf8), file: "catalog.yaml")
            content["isFine"] = check.isOK
            content["fineText"] = check.catalog.map { fineText($0) } ?? ""
            content["problems"] = check.errors.map { error -> Model in
                [
                    "place": words("line", ["line": "\(error.line)", "column": "\(error.column)"]),
                    "pieces": read(error.message).models,
                ]
            }
        }
        return page("dash_catalog", words["nav_catalog"], section: "catalog", content)
    }

    /// What a catalog without mistakes holds.
    private func fineText(_ catalog: TollgateCore.Catalog) -> String {
        words(
            "check_fine",
            [
                "entitlements": formats.number(Int64(catalog.entitlements.count)),
                "products": formats.number(Int64(catalog.products.count)),
                "buttons": formats.number(Int64(catalog.buyButtons.count)),
            ]
        )
    }

    /// `Google Play: pro (monthly)`; by app where apps have other ids.
    private func googlePlayNames(
        of product: TollgateCore.Catalog.Product,
        in catalog: TollgateCore.Catalog
    ) -> [String] {
        let plans = product.googlePlayBasePlans.map { " (\($0.joined(separator: ", ")))" } ?? ""
        let everywhere = product.googlePlayProductID.map { ["Google Play: \($0)\(plans)"] } ?? []
        return everywhere
            + catalog.apps.compactMap { app in
                product.googlePlayProductIDs?[app.id].map {
                    "Google Play, \(app.name): \($0)\(plans)"
                }
            }
    }

    // MARK: - Health

    /// Work by what it is, with its full name: `reconcile/stripe`.
    private func workCell(_ name: String) -> Cell {
        words.table["work_\(name.prefix { $0 != "/" })"].map { Cell.noted($0, name) } ?? Cell(name)
    }

    func health() async throws -> Response {
        let health = try await tollgate.store.health()
        let letters = try await letterTile()
        let now = await tollgate.clocks.now()
        let wall = tollgate.clocks.wall()
        let work = Table(
            caption: words["work"],
            columns: [words["work_name"], words["last_step"]],
            rows: health.cursors.map { [workCell($0.name), Cell.time($0.instant, formats)] },
            empty: words["no_work"]
        )
        let leases = Table(
            caption: words["leases"],
            columns: [words["work_name"], words["held_until"]],
            rows: health.leases.filter { $0.instant > wall }.map {
                [workCell($0.name), Cell.time($0.instant, formats)]
            },
            empty: words["no_leases"]
        )
        let questions = Table(
            caption: words["questions"],
            columns: [words["kind"], words["count"], words["oldest"]],
            numbers: [1],
            rows: health.wanted.map {
                [
                    Cell($0.kind), Cell.number(formats.number($0.count)),
                    Cell.time($0.oldest, formats),
                ]
            },
            empty: words["no_questions"]
        )
        func line(_ term: String, _ value: String) -> Model { ["term": term, "value": value] }
        return page(
            "dash_health",
            words["nav_health"],
            section: "health",
            [
                "tiles": tiles(health, now) + [letters], "work": work.model, "leases": leases.model,
                "questions": questions.model,
                "versions": [
                    line(words["database"], health.database),
                    line(words["schema"], "\(health.schemaVersion)"),
                    line(words["engine"], "\(health.engineVersion)"),
                    line(words["now_stores"], formats.moment(now)),
                    line(words["now_wall"], formats.moment(wall)),
                ]
                    + tollgate.connectors.map {
                        line($0.name, words[$0.isSetUp ? "set_up" : "not_set_up"])
                    }, "counters": tollgate.counters.text,
            ]
        )
    }

    /// How much waits in each queue.
    private func tiles(_ health: StoreHealth, _ now: Instant) -> [Model] {
        func tile(_ key: String, _ count: Int64, _ isGood: Bool, _ note: String) -> Model {
            ["label": words[key], "value": formats.number(count), "isGood": isGood, "note": note]
        }
        let parked = health.parked.reduce(0) { $0 + $1.count }
        let wanted = health.wanted.reduce(0) { $0 + $1.count }
        let lag =
            health.oldestMessage.map { max(0, now.milliseconds - $0.milliseconds) / 1000 } ?? 0
        return [
            tile(
                "queue_parked",
                parked,
                parked == 0,
                words[parked == 0 ? "parked_none" : "parked_some"]
            ), tile("queue_wanted", wanted, wanted < 100, words["wanted_note"]),
            tile(
                "queue_messages",
                health.waitingMessages,
                health.waitingMessages < 1000,
                health.waitingMessages == 0
                    ? words["lag_none"] : words("lag", ["seconds": formats.number(lag)])
            ),
            tile(
                "queue_journal",
                health.journal?.id ?? 0,
                true,
                health.journal.map { words("newest", ["date": formats.moment($0.stated)]) }
                    ?? words["nothing_yet"]
            ),
        ]
    }

    /// The outbox of emails to customers.
    private func letterTile() async throws -> Model {
        let wall = tollgate.clocks.wall()
        let counts = try await tollgate.store.letters.counts(
            at: await tollgate.clocks.now(),
            failedSince: wall.advanced(by: -86_400_000)
        )
        let stuck = counts.stuck(at: wall)
        let isGood = stuck == nil && counts.failed == 0
        return [
            "label": words["queue_emails"], "value": formats.number(counts.waiting),
            "isGood": isGood,
            "note": words("emails_failed_today", ["count": formats.number(counts.failed)]),
        ]
    }

    // MARK: - Audit

    func audit() async throws -> Response {
        let subject = ask.query("subject")
        let actor = ask.query("actor")
        let entries = try await tollgate.store.audit.entries(
            before: before,
            subject: subject,
            actor: actor,
            limit: 51
        )
        return list(
            words["nav_audit"],
            section: "audit",
            auditTable(
                Array(entries.prefix(50)),
                next: older(entries.count > 50 ? entries[49].id : nil)
            ),
            file: "audit",
            ["lead": subject ?? actor ?? words["audit_lead"]]
        )
    }
}
