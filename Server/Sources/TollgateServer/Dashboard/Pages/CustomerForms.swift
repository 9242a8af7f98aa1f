internal import Foundation
internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Forms that change something of a customer, each with a page that asks once more.
struct CustomerForms: DashboardPages {
    let request: DashboardRequest

    /// The page that asks once more before a customer is erased.
    func confirm(_ id: String, _ action: String) async throws -> Response {
        guard action == "erase" else { throw Refusal.nothingHere }
        try visit.require(.admin)
        let file = try await tollgate.customerFiles.file(id, in: environment)
        let name = file.customer?.appUserID ?? words["erased"]
        return page(
            "dash_confirm",
            words("erase_title", ["name": name]),
            section: "customers",
            [
                "text": words["erase_text"],
                "action": "/dashboard/customers/\(Ask.escaped(id))/erase",
                "confirm": words["erase_confirm"], "back": file.address,
                "fieldLabel": words("erase_type", ["id": file.id.rawValue]),
                "fieldName": "typed",
            ]
        )
    }

    func change(_ id: String, _ action: String, _ form: [String: String]) async throws -> Response {
        let environment =
            form["environment"].flatMap { StoreEnvironment(rawValue: $0) } ?? environment
        let customer = try await tollgate.directory.customer(id)
        let subject = "customer:\(customer.id)"
        let back =
            "/dashboard/customers/\(Ask.escaped(customer.id))?environment=\(environment.rawValue)"
        switch action {
        case "grant":
            try visit.require(.support)
            try await grant(form, to: customer.id, in: environment)
        case "end-grant":
            try visit.require(.support)
            let grant = form["grant"] ?? ""
            try await audited(
                Deed("grant.end", subject, grant),
                state: { try await keys(of: customer.id, environment) }
            ) { try await tollgate.grants.end(grant, of: customer.id) }
        case "coins":
            try visit.require(.admin)
            try await coins(form, of: customer.id, in: environment)
        case "sessions":
            try visit.require(.support)
            _ = try await audited(Deed("sessions.revoke", subject)) {
                try await tollgate.sessions.revoke(
                    API.SessionRevocationRequest(customer: customer.id)
                )
            }
        case "assign":
            try visit.require(.support)
            let purchase = form["purchase"] ?? ""
            _ = try await audited(
                Deed("purchase.assign", subject, purchase),
                state: { try await holders(of: purchase) }
            ) {
                try await tollgate.purchases.assign(
                    API.PurchaseAssignment(purchase: purchase, customer: customer.id),
                    to: customer.id
                )
            }
        case "erase":
            try visit.require(.admin)
            guard form["typed"]?.trimmingCharacters(in: .whitespaces) == customer.id else {
                throw Refusal.invalid("typed", "Type the customer's id to confirm.")
            }
            _ = try await audited(Deed("customer.erase", subject)) {
                try await tollgate.customers.erase(customer.id)
            }
            return done("erased", back)
        default: throw Refusal.nothingHere
        }
        return done(action, back)
    }

    private func grant(
        _ form: [String: String],
        to customer: String,
        in environment: StoreEnvironment
    ) async throws {
        let key = form["lookup_key"] ?? ""
        var until: Int64?
        if let days = form["days"], !days.isEmpty, form["ends"] != "never" {
            let count = try number(days, "days")
            guard (1...36_500).contains(count) else {
                throw Refusal.invalid("days", "A grant lasts 1 to 36,500 days.")
            }
            until = await tollgate.clocks.now().milliseconds + count * 86_400_000
        } else if form["ends"] != "never" {
            // A grant that nobody meant to last for ever is found by nobody.
            throw Refusal.invalid("days", "Say for how many days, or choose that it has no end.")
        }
        let ends = until
        _ = try await audited(
            Deed(
                "grant.create",
                "customer:\(customer)",
                ends.map { "\(key) until \(Instant(milliseconds: $0))" } ?? "\(key) for ever"
            ),
            state: { try await keys(of: customer, environment) }
        ) {
            try await tollgate.grants.give(
                API.GrantRequest(lookupKey: key, until: ends),
                to: customer,
                in: environment,
                idempotencyKey: form["nonce"].map { "staff \($0)" }
            )
        }
    }

    private func coins(
        _ form: [String: String],
        of customer: String,
        in environment: StoreEnvironment
    ) async throws {
        let size = try number(form["amount"], "amount")
        guard size > 0 else {
            throw Refusal.invalid("amount", "amount is a positive number of coins.")
        }
        let amount = form["direction"] == "take" ? -size : size
        _ = try await audited(
            Deed("coins.adjust", "customer:\(customer)", "\(amount)"),
            state: { "\(try await tollgate.coins.balance(of: customer, in: environment).balance)" }
        ) {
            try await tollgate.coins.adjust(
                amount,
                of: customer,
                in: environment,
                reason: form["reason"] ?? "",
                token: form["nonce"] ?? ""
            )
        }
    }

    /// What a customer may use, for the audit log.
    private func keys(of customer: String, _ environment: StoreEnvironment) async throws -> String {
        let list = try await tollgate.entitlements.active(of: customer, in: environment)
        return list.data.map(\.lookupKey).joined(separator: ", ")
    }

    private func holders(of purchase: String) async throws -> String? {
        guard let key = Purchase.Key(canonical: purchase) else { return nil }
        return try await tollgate.store.holders(of: key).map(\.customer.rawValue)
            .joined(separator: ", ")
    }
}
