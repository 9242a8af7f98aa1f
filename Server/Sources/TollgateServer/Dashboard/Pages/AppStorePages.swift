internal import AppStoreConnector
internal import Foundation
internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateCore
internal import TollgateService

/// Lookups and changes at the App Store itself.
///
/// The App Store announces what is changed there by notifications; each change is in the audit log before
/// it is made.
struct AppStorePages: DashboardPages {
    let request: DashboardRequest

    /// Orders, and all subscribers of a product.
    func appStore() async throws -> Response {
        try visit.require(.support)
        let products = plans
        var content: Model = [
            "lead": words["app_store_lead"], "order": ask.query("order") ?? "",
            "products": products, "hasProducts": !products.isEmpty,
            "reasons": reasons, "nonce": tollgate.random.id("form_"),
            "environments": tollgate.appStore.environments.map { environment -> Model in
                [
                    "value": environment.rawValue,
                    "name": words["environment_\(environment.rawValue)"],
                ]
            },
            "hasOrder": false, "hasStatus": false,
        ]
        if let order = ask.query("order"), !order.isEmpty {
            content["hasOrder"] = true
            content["found"] = try await transactions(
                transactions(ofOrder: order),
                caption: order,
                empty: words["no_such_order"],
                in: .production
            ).model
        }
        if let chosen = ask.query("product"), let request = ask.query("request") {
            let (application, product) = try plan(chosen)
            let status = try await tollgate.appStore.support(of: application)
                .statusOfExtension(request, of: product, in: environment)
            content["hasStatus"] = true
            content["statusText"] =
                status.isComplete
                ? words(
                    "extension_complete",
                    [
                        "succeeded": formats.number(status.succeeded),
                        "failed": formats.number(status.failed),
                    ]
                ) : words["extension_under_way"]
            content["statusRequest"] = request
            content["statusProduct"] = product
        }
        return page("dash_app_store", words["nav_app-store"], section: "app-store", content)
    }

    /// Extends the renewal date of all subscribers of a product.
    func extendAll(_ form: [String: String]) async throws -> Response {
        try visit.require(.admin)
        let chosen = form["product"] ?? ""
        let (application, product) = try plan(chosen)
        let wish = try wish(form)
        let storefronts = (form["storefronts"] ?? "").split { " ,".contains($0) }.map {
            $0.uppercased()
        }
        let environment =
            form["environment"].flatMap { StoreEnvironment(rawValue: $0) } ?? environment
        let request = try await audited(
            Deed(
                "app_store.extend_all",
                "product:\(chosen)",
                "\(wish.days) days \(storefronts.joined(separator: " ")), request \(wish.requestIdentifier)"
            )
        ) {
            try await tollgate.appStore.support(of: application).extendAll(
                of: product,
                by: wish,
                storefronts: storefronts,
                in: environment
            )
        }
        return done(
            "extend_all",
            "/dashboard/app-store?product=\(Ask.escaped(chosen))&request=\(Ask.escaped(request))"
                + "&environment=\(environment.rawValue)"
        )
    }

    /// What the App Store has refunded of all that the buyer of a purchase bought.
    func refunds(_ hex: String) async throws -> Response {
        try visit.require(.support)
        let record = try await appStorePurchase(hex)
        let refunds = try await tollgate.appStore.support(of: record.key.application)
            .refunds(of: record.key.id, in: record.key.environment)
        return page(
            "dash_list",
            words["refund_history"],
            section: "purchases",
            [
                "lead": words["refund_history_lead"],
                "table": try await transactions(
                    refunds,
                    caption: words["refund_history"],
                    empty: words["no_refunds"],
                    in: record.key.environment
                ).model,
            ]
        )
    }

    /// Changes one purchase at the App Store: `extend`, `finish` or `token`.
    func changeAtAppStore(
        _ hex: String,
        _ action: String,
        _ form: [String: String]
    ) async throws -> Response {
        try visit.require(.admin)
        let record = try await appStorePurchase(hex)
        let (id, environment) = (record.key.id, record.key.environment)
        let subject = "purchase:\(record.key.canonical)"
        let support = try tollgate.appStore.support(of: record.key.application)
        switch action {
        case "extend":
            let wish = try wish(form)
            let request = "request \(wish.requestIdentifier)"
            // The App Store would extend it twice if a form came twice.
            let sent = try await tollgate.store.audit.entries(subject: subject, limit: 50)
                .filter { $0.detail.hasSuffix(request) }
            if sent.contains(where: { $0.outcome == AuditEntry.done }) { break }
            let refused = "refused: \(AppStoreSupport.refused)"
            guard sent.allSatisfy({ $0.outcome == refused }) else {
                throw Refusal.conflict(
                    "extension_unknown",
                    "This extension was sent before, and its result is not known. Look at the "
                        + "renewal date, and open the page anew to extend it once more."
                )
            }
            _ = try await audited(
                Deed("app_store.extend", subject, "\(wish.days) days, \(request)")
            ) { try await support.extend(id, by: wish, in: environment) }
        case "finish":
            let transaction = AppStoreSupport.latestTransaction(of: record)
            try await audited(
                Deed("app_store.finish", subject, transaction)
            ) { try await support.finish(transaction, in: environment) }
        case "token":
            let token = try AppStoreSupport.appAccountToken(form["token"] ?? "")
            try await audited(Deed("app_store.set_token", subject)) {
                try await support.setAppAccountToken(token, of: id, in: environment)
            }
        default: throw Refusal.nothingHere
        }
        return done(action, "/dashboard/purchases/\(hex)")
    }

    /// What a purchase's page offers to do at the App Store.
    func appStoreModel(of record: Purchase, _ shown: PortalView.Purchase) -> Model {
        let isThere =
            record.key.store == .appStore && !record.key.isOfXcode
            && tollgate.appStore.clients?.app(record.key.application) != nil
        return [
            "isAppStore": isThere, "isRenewing": isThere && shown.standing.isPlan,
            "reasons": reasons, "nonce": tollgate.random.id("form_"),
        ]
    }

    private func appStorePurchase(_ hex: String) async throws -> Purchase {
        guard let row = RowKey(hex: hex), let record = try await tollgate.store.record(row: row),
            record.key.store == .appStore, !record.key.isOfXcode
        else { throw Refusal.nothingHere }
        return record
    }

    /// The plans of each app as options of a form: two apps may sell different plans under one id.
    private var plans: [Model] {
        let catalog = tollgate.store.history.current
        return catalog.products.filter { $0.kind == .autoRenewable }.flatMap { product -> [Model] in
            guard !catalog.apps.isEmpty else {
                return product.appStoreProductID.map { [["value": $0, "name": product.name]] } ?? []
            }
            return catalog.apps.filter { $0.bundleID != nil }.compactMap { app in
                product.appStoreProductID(in: app.id).map {
                    ["value": "\(app.id)/\($0)", "name": "\(product.name) (\(app.name))"]
                }
            }
        }
    }

    /// The app and the App Store's product id of an option: `mac/com.example.mac.pro`, or the id alone
    /// where the catalog lists no apps.
    private func plan(_ option: String) throws -> (application: String?, product: String) {
        let catalog = tollgate.store.history.current
        guard !catalog.apps.isEmpty else { return (nil, option) }
        let parts = option.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2, let bundleID = catalog.app(id: parts[0])?.bundleID else {
            throw Refusal.invalid("product", "Choose the plan from the list again.")
        }
        return (bundleID, parts[1])
    }

    /// The transactions of an order: each app knows its own.
    private func transactions(ofOrder order: String) async throws -> [AppStoreSupport.Transaction] {
        guard tollgate.appStore.applications.count > 1 else {
            return try await tollgate.appStore.support().order(order) ?? []
        }
        for application in tollgate.appStore.applications {
            let found = try await tollgate.appStore.support(of: application).order(order)
            if let found, !found.isEmpty { return found }
        }
        return []
    }

    private var reasons: [Model] {
        AppStoreSupport.Reason.allCases.map {
            ["value": $0.rawValue, "name": words["reason_\($0.rawValue)"]]
        }
    }

    /// The form's nonce names the request, so that a form sent twice is one request.
    private func wish(_ form: [String: String]) throws -> AppStoreSupport.Extension {
        let days = try number(form["days"], "days")
        guard (1...90).contains(days) else {
            throw Refusal.invalid(
                "days",
                "The App Store extends a renewal date by 1 to 90 days."
            )
        }
        return AppStoreSupport.Extension(
            days: Int(days),
            reason: form["reason"].flatMap(AppStoreSupport.Reason.init) ?? .undeclared,
            requestIdentifier: form["nonce"] ?? tollgate.random.id("form_")
        )
    }

    private func transactions(
        _ transactions: [AppStoreSupport.Transaction],
        caption: String,
        empty: String,
        in environment: StoreEnvironment
    ) async throws -> Table {
        var rows: [[Cell]] = []
        for transaction in transactions {
            let key = Purchase.Key(
                store: .appStore,
                environment: environment,
                application: transaction.bundleID,
                id: transaction.originalTransactionID
            )
            let isKnown = try await tollgate.store.record(of: key) != nil
            let row = RecordStore.subject(of: key)
            rows.append([
                isKnown
                    ? Cell.link(
                        transaction.productID,
                        "/dashboard/purchases/\(row.hex)",
                        note: transaction.transactionID
                    ) : Cell.noted(transaction.productID, transaction.transactionID),
                transaction.purchased.map { Cell.time($0, formats) } ?? Cell("–"),
                transaction.revoked.map { Cell.time($0, formats) } ?? Cell("–"),
                Cell(transaction.revocationType ?? "–"),
            ])
        }
        return Table(
            caption: caption,
            columns: [
                words["purchase"], words["when"], words["revoked"], words["revocation_type"],
            ],
            rows: rows,
            empty: empty
        )
    }
}
