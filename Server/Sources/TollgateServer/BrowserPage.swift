internal import HTTPTypes
internal import Hummingbird
internal import TollgateService

/// What a browser is shown at `/` and at addresses where there is nothing.
///
/// Programs get the JSON of an error there; only who asks for HTML is a person.
enum BrowserPage {
    /// The page; `nil` where no browser asks.
    static func answer(to request: Request) -> Response? {
        guard request.method == .get || request.method == .head,
            request.headers[.accept]?.lowercased().contains("text/html") == true,
            let pages = try? PageTemplates()
        else { return nil }
        let language = request.language
        let words = Words.of(language)
        let isHome = request.uri.path == "/"
        return pages.page(
            "plain",
            [
                "lang": language.rawValue,
                "title": words[isHome ? "home_title" : "error_resource_missing"],
                "message": words[isHome ? "home_text" : "nothing_here"], "hasApp": false,
                "toDashboard": words["to_dashboard"],
            ] as Model,
            status: isHome ? .ok : .notFound
        )
    }
}
