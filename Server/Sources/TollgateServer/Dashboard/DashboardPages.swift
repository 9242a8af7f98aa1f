internal import HTTPTypes
internal import Hummingbird
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
    var actor: Actor { request.actor }
    var environment: StoreEnvironment { request.environment }
    var before: Int64? { request.before }

    /// A page in its frame.
    func page(
        _ template: String,
        _ title: String,
        section: String,
        _ content: Model,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        request.page(template, title, section: section, content, status: status)
    }

    /// Leads back to a page that says what was done.
    func done(_ word: String, _ address: String) -> Response { request.done(word, address) }

    func storeName(_ store: Store) -> String { words["store_\(store.rawValue)"] }

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
