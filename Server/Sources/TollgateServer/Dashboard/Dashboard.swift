internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// `/dashboard`: what the people who run the business look at.
///
/// Pages for staff, without scripts except for comfort; every change is a form, checked for its
/// origin, its token and the role of who sends it, and written into the audit log.
func addDashboard(
    to router: Router<ServerRequestContext>,
    _ tollgate: Tollgate,
    _ levers: DashboardLevers?,
    _ checkUp: CheckUp?,
    _ alertTrial: (@Sendable () -> AlertTrial)?,
    _ emails: @escaping @Sendable () -> LetterSetUp?
) throws {
    let dashboard = Dashboard(
        tollgate: tollgate,
        templates: try DashboardTemplates(),
        cookie: StaffCookie(tollgate.configuration),
        levers: levers,
        checkUp: checkUp,
        alertTrial: alertTrial,
        emails: emails
    )
    for (path, bytes, type) in [
        ("dashboard.css", PackageResources.dashboard_css, "text/css; charset=utf-8"),
        ("icon.svg", PackageResources.icon_svg, "image/svg+xml"),
        ("dashboard.js", PackageResources.dashboard_js, "text/javascript; charset=utf-8"),
    ] {
        router.get("/dashboard/assets/\(path)") { _, _ in
            var response = Response.text(String(decoding: bytes, as: UTF8.self), type: type)
            response.headers[.cacheControl] = "max-age=300"
            response.headers[.xContentTypeOptions] = "nosniff"
            return response
        }
    }
    for path: RouterPath in ["/dashboard", "/dashboard/**"] {
        router.get(path) { await dashboard.answer($0, $1) }
        router.post(path) { await dashboard.answer($0, $1) }
    }
}

/// The pages for staff: signs them in and routes each request to its page.
struct Dashboard: Sendable {
    let tollgate: Tollgate
    let templates: DashboardTemplates
    let cookie: StaffCookie
    let levers: DashboardLevers?
    /// The checks of the page **Doctor**; `nil` where there is no such page.
    let checkUp: CheckUp?
    /// A test message to every channel of alarms; `nil` where the page **Doctor** has no button for it.
    let alertTrial: (@Sendable () -> AlertTrial)?
    /// Emails to customers, by the settings of the moment; `nil`: none are sent.
    let emails: @Sendable () -> LetterSetUp?
    /// Limits pages and exports that read all sales of the requested days, however many there are.
    let allSales = FewAtOnce(
        2,
        "Two comparisons or exports of all sales are already running."
    )
    /// Limits the checks that ask every store.
    let checkUps = FewAtOnce(1, "Another admin is running these checks.")
    /// Limits test messages, of which each waits for other servers.
    let alertTrials = FewAtOnce(1, "Another admin is sending test messages.")

    func answer(_ request: Request, _ context: ServerRequestContext) async -> Response {
        let ask = Ask(request, context, language: cookie.language(of: request))
        do {
            guard ask.isReading || isOurs(request) else { throw Refusal.csrf }
            if let response = try await gate(ask) { return response }
            guard let secret = cookie.secret(in: request),
                let visit = try await tollgate.signIns.visit(secret)
            else {
                guard ask.isReading else { return redirect("/dashboard/sign-in") }
                return redirect("/dashboard/sign-in?to=\(Ask.escaped(ask.address))")
            }
            return try await DashboardRequest(dashboard: self, ask: ask, visit: visit).answer()
        } catch {
            return failed(error, ask)
        }
    }

    /// Whether a form was sent by one of our own pages, as far as the browser says.
    ///
    /// Its token is looked at besides.
    private func isOurs(_ request: Request) -> Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.headers[name],
            site != "same-origin", site != "none"
        {
            return false
        }
        guard let origin = request.headers[.origin] else { return true }
        if origin == tollgate.configuration.publicURL { return true }
        guard let host = request.head.authority, !host.isEmpty else { return false }
        // Behind a proxy that ends TLS the scheme is not ours to know; the host is the browser's own.
        return origin == "http://\(host)" || origin == "https://\(host)"
    }

    func redirect(_ address: String, cookies: [String] = []) -> Response {
        var headers: HTTPFields = [.location: address, .cacheControl: "no-store"]
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: .seeOther, headers: headers)
    }

    /// What a page says that cannot be shown, or a form that was refused.
    func failed(_ error: any Error, _ ask: Ask, visit: StaffVisit? = nil) -> Response {
        var refusal = Refusal(telling: error)
        if let status = (error as? any HTTPResponseError)?.status {
            refusal = Refusal(
                status.code,
                .invalidRequestError,
                status == .contentTooLarge ? .bodyTooLarge : .malformedBody,
                status.reasonPhrase
            )
        }
        if refusal.status >= 500 {
            ask.context.logger.error(
                "a page of the dashboard failed",
                metadata: ["path": "\(ask.path.first ?? "")", "error": "\(error)"]
            )
        }
        let words = Words.of(ask.language)
        let code = refusal.error.code.rawValue
        let message = words.said(refusal.error, in: ask.language)
        return templates.page(
            "dash_message",
            [
                "heading": words.table["error_\(code)"] ?? words["error_heading"],
                "message": message?.text ?? false, "isEnglish": message?.isEnglish ?? false,
                "code": code,
            ],
            layout: frame(ask, visit: visit, title: words["error_heading"], section: ""),
            status: HTTPResponse.Status(code: refusal.status)
        )
    }

    /// Says by which clock the times of a page are.
    private func footer(of section: String) -> String {
        switch section {
        case "account", "audit", "staff", "keys", "webhooks", "emails", "doctor": "footer_real"
        case "health": "footer_both"
        default: tollgate.clocks.isVirtual ? "footer_sandbox" : "footer"
        }
    }

    /// What is around every page.
    func frame(_ ask: Ask, visit: StaffVisit?, title: String, section: String) -> Model {
        let words = Words.of(ask.language)
        let other: Language = ask.language == .english ? .japanese : .english
        var frame: Model = [
            "t": words.table, "title": title, "lang": ask.language.rawValue,
            "otherLanguage": other.name, "otherLanguageCode": other.rawValue,
            "languageURL":
                "/dashboard/language?to=\(other.rawValue)&back=\(Ask.escaped(ask.address))",
            "isSandbox": tollgate.configuration.defaultEnvironment == .sandbox,
            "query": ask.section == "customers" ? ask.query("q") ?? "" : "",
            "footer": words[footer(of: section)],
            "signedIn": visit != nil,
        ]
        guard let visit else { return frame }
        frame["me"] = visit.member.name
        frame["myRole"] = words["role_\(visit.member.role.rawValue)"]
        frame["form"] = visit.formToken
        frame["isSupport"] = visit.member.role >= .support
        frame["isAdmin"] = visit.member.role >= .admin
        frame["nav"] = Navigation.groups(
            words,
            section: section,
            role: visit.member.role,
            hasLevers: levers != nil,
            hasDoctor: checkUp != nil
        )
        return frame
    }
}

extension Refusal {
    /// 403: a form that was not sent by a page of ours.
    static let csrf = Refusal.forbidden(
        "csrf",
        "This form was not sent by a page of this dashboard. Load the page again and send it from there."
    )
}
