internal import HTTPTypes
internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Pages about one thing, for one request of somebody who is signed in.
protocol DashboardPages: Sendable {
    var request: DashboardRequest { get }
}

extension DashboardPages {
    var dashboard: Dashboard { request.dashboard }
    var ask: Ask { request.ask }
    var visit: StaffVisit { request.visit }
    var words: Words { request.words }
    var formats: Formats { request.formats }
    var tollgate: Tollgate { request.tollgate }

    /// Where nothing is logged, requests have no names; then one is made for the audit log.
    var actor: Actor {
        let name = ask.requestID
        return Actor(visit, request: name.isEmpty ? tollgate.random.id("form_") : name)
    }

    /// The environment asked for, else the server's own.
    var environment: StoreEnvironment {
        ask.query("environment").flatMap { StoreEnvironment(rawValue: $0) }
            ?? tollgate.configuration.defaultEnvironment
    }

    /// The key from which a page goes on.
    var before: Int64? { ask.query("before").flatMap { Int64($0) } }

    /// A page in its frame.
    func page(
        _ template: String,
        _ title: String,
        section: String,
        _ content: Model,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        var content = content
        if let done = ask.query("done"), let text = words.table["done_\(done)"] {
            content["notice"] = text
        } else if content["notice"] == nil {
            content["notice"] = false
        }
        if content["refusal"] == nil { content["refusal"] = false }
        content["heading"] = content["heading"] ?? title
        let hasViews = content["hasViews"] as? Bool ?? (content["hasFilters"] as? Bool == true)
        content["hasViews"] = hasViews
        if hasViews { content.merge(viewsModel) { own, _ in own } }
        return dashboard.templates.page(
            template,
            content,
            layout: dashboard.frame(ask, visit: visit, title: title, section: section),
            status: status
        )
    }

    /// Leads back, with a word of what was done.
    func done(_ word: String, _ address: String) -> Response {
        let sign = address.contains("?") ? "&" : "?"
        return dashboard.redirect("\(address)\(sign)done=\(word)")
    }

    /// Does something with an entry in the audit log.
    ///
    /// - Parameter state: how it is, read before and after; `nil` where there is nothing.
    func audited<Result: Sendable>(
        _ deed: Deed,
        state: () async throws -> String? = { nil },
        _ work: () async throws -> Result
    ) async throws -> Result {
        try await tollgate.auditLog.audited(deed, by: actor, state: state, work)
    }

    func storeName(_ store: Store) -> String { tollgate.name(of: store) }

    /// The same by a word of a table; the word itself where it is no store.
    func storeName(named word: String) -> String {
        Store(rawValue: word).map { storeName($0) } ?? word
    }

    /// An option of a form.
    func choice(_ value: String, _ name: String, _ isChosen: Bool) -> Model {
        ["value": value, "choiceName": name, "isChosen": isChosen]
    }

    /// The apps of the catalog as options of a form.
    func appChoices(_ chosen: String?) -> [Model] {
        [choice("", words["all_apps"], chosen == nil)]
            + tollgate.store.history.current.apps.map { choice($0.id, $0.name, $0.id == chosen) }
    }

    /// The name of an app that the catalog lists.
    func appName(_ id: String?) -> String {
        guard let id, !id.isEmpty else { return "–" }
        return tollgate.store.history.current.app(id: id)?.name ?? id
    }

    /// An email as this member may see it.
    func personal(_ email: String) -> String {
        guard visit.member.role < .support else { return email }
        guard let at = email.firstIndex(of: "@"), let first = email.first else { return "•••" }
        return "\(first)•••\(email[at...])"
    }

    /// A form's number.
    func number(_ text: String?, _ name: String) throws -> Int64 {
        let plain = (text ?? "").filter { $0 != "," && $0 != " " }
        guard let value = Int64(plain) else {
            throw Refusal.invalid(name, "\(name) is a whole number.")
        }
        return value
    }
}
