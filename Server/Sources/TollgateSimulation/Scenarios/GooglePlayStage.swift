import Foundation
import GooglePlaySimulator
import TollgateCore

/// Something that somebody bought in Google Play.
struct GooglePurchase: Hashable, Sendable {
    var token: String
    var isSubscription: Bool
    /// A product of the catalog, as the story names it.
    var product: String
}

/// The Google Play of one telling, with the accounts of the story's people and what they bought.
struct GooglePlayStage: Sendable {
    let play: SimulatedGooglePlay
    let catalog: Catalog
    /// The app's name.
    let package: String
    /// Milliseconds by which all of it is later.
    let shift: Int64
    /// The variant's switches.
    let switches: [String: GooglePlayAct.Value]
    /// The ids of Google accounts, by customer.
    private(set) var accounts: [String: String] = [:]
    /// The purchases of each customer, the first one first.
    private(set) var purchases: [String: [GooglePurchase]] = [:]

    init(_ play: SimulatedGooglePlay, _ loaded: LoadedScenario, _ telling: Play.Telling) {
        (self.play, catalog) = (play, loaded.catalog)
        self.package = Play.package(of: loaded, telling)
        (shift, switches) = (telling.shift, telling.variant.googlePlay)
    }

    /// Opens the account with which a person buys.
    mutating func open(_ person: Scenario.Person, _ customer: ScenarioCustomer) async throws {
        var values: [String: GooglePlayAct.Value] = [
            "region": .text(person.region), "tester": .truth(person.isTester),
        ]
        if person.passesToken { values["obfuscated_account_id"] = .text(customer.id) }
        let made = try await play.control("POST", "accounts", values)
        accounts[person.name] = made["id"] as? String
    }

    /// Does what an act says, but for what the app tells its server.
    mutating func perform(_ act: GooglePlayAct, by customer: String) async throws {
        switch act.name {
        case "silence": try await play.control("PUT", "faults", ["lost": .share(1)])
        case "speak": try await play.control("PUT", "faults")
        case "faults": try await play.control("PUT", "faults", shifted(act.values))
        case "behaviour":
            let values = switches.merging(act.values) { _, own in own }
            try await play.control("PUT", "behaviour", values)
        case "defer", "revoke_prorated", "revoke_item": try await decide(act, by: customer)
        default: try await control(act, by: customer)
        }
    }

    /// Times of a story are later where the telling is.
    private func shifted(
        _ values: [String: GooglePlayAct.Value]
    ) -> [String: GooglePlayAct.Value] {
        var values = values
        for key in ["outage_start", "outage_end", "release_time"] {
            guard case .number(let at) = values[key] else { continue }
            values[key] = .number(at + shift)
        }
        return values
    }

    // MARK: - Acts of the sandbox

    private mutating func control(
        _ act: GooglePlayAct,
        by customer: String
    ) async throws {
        guard let form = GooglePlayAct.forms[act.name], let account = accounts[customer],
            let path = SimulatedGooglePlay.acts[act.name.replacing("_", with: "-")]
        else { return }
        var values = shifted(act.values)
        for list in ["add_ons", "bundle"] {
            guard case .texts(let names) = values[list] else { continue }
            values[list] = .texts(names.map { sold($0).id })
        }
        var subject = ""
        switch form.subject {
        case .account: subject = account
        case .newPurchase:
            values["account"] = .text(account)
            name(act.which.product ?? "", in: &values)
        case .product:
            let sold = sold(act.which.product ?? "")
            subject = sold.id
            switch act.name {
            case "price" where values["base_plan_id"] == nil:
                values["base_plan_id"] = .text(sold.plan ?? "base")
            case "move_release" where values["purchase_option_id"] == nil:
                values["purchase_option_id"] = sold.plan.map {
                    GooglePlayAct.Value.text($0)
                }
            default: break
            }
        case .purchase, .subscription, .oneTime:
            subject = try purchase(act, by: customer).token
            if act.name == "change" { name(act.which.product ?? "", in: &values) }
        case .order: subject = try await order(act, by: customer)
        case .nothing: break
        }
        let target = path.replacing("*", with: subject)
        note(try await play.control("POST", target, values), act, by: customer)
    }

    /// Keeps what was bought.
    private mutating func note(
        _ answer: [String: Any],
        _ act: GooglePlayAct,
        by customer: String
    ) {
        guard ["buy", "change", "top_up", "resubscribe"].contains(act.name),
            let token = answer["purchase_token"] as? String
        else { return }
        let product = act.which.product ?? (try? purchase(act, by: customer).product) ?? ""
        purchases[customer, default: []].append(
            GooglePurchase(
                token: token,
                isSubscription: answer["kind"] as? String == "subscription",
                product: product
            )
        )
    }

    /// Names a product and, where none is, how it is bought.
    private func name(_ product: String, in values: inout [String: GooglePlayAct.Value]) {
        let (id, plan) = sold(product)
        values["product_id"] = .text(id)
        guard let plan else { return }
        let isPlan = catalog.product(id: product)?.kind == .autoRenewable
        let key = isPlan ? "base_plan_id" : "purchase_option_id"
        if values[key] == nil { values[key] = .text(plan) }
    }

    /// Google's ids of a product of the catalog; a name that the catalog does not have is Google's.
    private func sold(_ product: String) -> (id: String, plan: String?) {
        let known = catalog.product(id: product)
        guard let id = known?.googlePlayProductID else { return (product, nil) }
        return (id, known?.googlePlayBasePlans?.first)
    }

    // MARK: - What is meant

    /// The purchase that an act is about.
    func purchase(_ act: GooglePlayAct, by customer: String) throws -> GooglePurchase {
        let owner = act.which.owner ?? customer
        // A change names the product that comes.
        let product = act.name == "change" ? nil : act.which.product
        let form = GooglePlayAct.forms[act.name]
        let all = purchases[owner] ?? []
        // Numbers count all purchases, as the sandbox writes them down.
        if let number = act.which.number, product == nil {
            guard all.indices.contains(number - 1) else { throw Self.nothing(owner) }
            return all[number - 1]
        }
        let meant = all.filter { purchase in
            let fits =
                switch form?.subject {
                case .subscription: purchase.isSubscription
                case .oneTime: !purchase.isSubscription
                default: true
                }
            return fits && (product == nil || purchase.product == product)
        }
        let index = act.which.number.map { $0 - 1 } ?? meant.count - 1
        guard meant.indices.contains(index) else { throw Self.nothing(owner) }
        return meant[index]
    }

    private static func nothing(_ owner: String) -> GooglePlayRefused {
        GooglePlayRefused(status: 404, message: "‘\(owner)’ has bought no such thing")
    }

    private func order(_ act: GooglePlayAct, by customer: String) async throws -> String {
        let token = try purchase(act, by: customer).token
        let list = try await play.control("GET", "orders")["data"] as? [[String: Any]] ?? []
        let ids = list.filter { $0["purchaseToken"] as? String == token }
            .compactMap { $0["orderId"] as? String }
        let index = act.which.order.map { $0 - 1 } ?? ids.count - 1
        guard ids.indices.contains(index) else {
            throw GooglePlayRefused(status: 404, message: "the purchase has no such order")
        }
        return ids[index]
    }

    // MARK: - The team's own calls

    /// Calls of the Developer API that the team makes, not its server.
    private func decide(_ act: GooglePlayAct, by customer: String) async throws {
        let token = try purchase(act, by: customer).token
        let target =
            "/androidpublisher/v3/applications/\(package)/purchases/subscriptionsv2/tokens/\(token)"
        switch act.name {
        case "defer":
            guard case .number(let days) = act.values["days"] ?? .number(1) else { return }
            let etag = try await play.call("GET", target)["etag"] as? String ?? ""
            let context: [String: Any] = ["deferDuration": "\(days * 86_400)s", "etag": etag]
            try await play.call("POST", target + ":defer", ["deferralContext": context])
        case "revoke_prorated":
            try await play.call(
                "POST",
                target + ":revoke",
                ["revocationContext": ["proratedRefund": [String: Any]()]]
            )
        default:
            guard case .text(let product) = act.values["item"] else { return }
            let item = ["productId": sold(product).id]
            try await play.call(
                "POST",
                target + ":revoke",
                ["revocationContext": ["itemBasedRefund": item]]
            )
        }
        await play.settle()
    }
}
