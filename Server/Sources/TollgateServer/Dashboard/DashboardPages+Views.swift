internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateService

extension DashboardPages {
    /// The saved views of a page with filters, as its template takes them.
    var viewsModel: Model {
        let here = ViewAddress(ask)
        return [
            "viewAddress": here.address,
            "views": request.views.map { view -> Model in
                [
                    "viewName": view.name, "viewPage": view.page,
                    "viewURL": view.query.isEmpty ? view.page : "\(view.page)?\(view.query)",
                    "isHere": view.query == here.query,
                    "removeLabel": words("remove_view", ["name": view.name]),
                ]
            },
        ]
    }
}

/// The part of a page's address that a saved view keeps: filters, order and grouping, without paging.
struct ViewAddress {
    var page: String
    var query: String

    var address: String { query.isEmpty ? page : "\(page)?\(query)" }

    init(_ ask: Ask) {
        self.init(ask.address(with: ["at": nil, "before": nil, "after": nil, "form": nil]))
    }

    /// - Parameter address: of a page of the dashboard.
    init(_ address: String) {
        let parts = Ask.wayBack(address).split(separator: "?", maxSplits: 1)
        page = parts.first.map(String.init) ?? "/dashboard"
        query = parts.count > 1 ? String(parts[1]) : ""
    }
}

extension DashboardRequest {
    /// Keeps or drops a view of the reader's own, and leads back to its page.
    func changeViews(_ action: String, _ form: [String: String]) async throws -> Response {
        let name = form["name"] ?? ""
        switch action {
        case "keep":
            let here = ViewAddress(form["address"] ?? "")
            try await tollgate.savedViews.keep(
                StoredView(page: here.page, name: name, query: here.query),
                of: visit.member
            )
            let sign = here.query.isEmpty ? "?" : "&"
            return dashboard.redirect("\(here.address)\(sign)done=view_kept")
        case "remove":
            let page = ViewAddress(form["page"] ?? "").page
            try await tollgate.savedViews.remove(name, page: page, of: visit.member)
            return dashboard.redirect("\(page)?done=view_removed")
        default: throw Refusal.nothingHere
        }
    }
}
