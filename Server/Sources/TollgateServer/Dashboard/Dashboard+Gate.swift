internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

// The pages that nobody need be signed in for.
extension Dashboard {
    /// - Returns: `nil` where the page is one for staff.
    func gate(_ ask: Ask) async throws -> Response? {
        switch (ask.section, ask.isReading) {
        case ("language", true):
            guard let language = ask.query("to").flatMap({ Language(rawValue: $0.lowercased()) })
            else { return redirect("/dashboard") }
            return redirect(
                Ask.wayBack(ask.request.uri.queryParameters["back"].map(String.init)),
                cookies: [cookie.setLanguage(language)]
            )
        case ("sign-in", true):
            guard let token = ask.query("token") else { return signInPage(ask, refusal: nil) }
            // Looking ahead must not use the link up.
            guard ask.request.method == .get else { return signInPage(ask, refusal: nil) }
            guard let proven = try await tollgate.signIns.openLink(token) else {
                return signInPage(ask, refusal: Words.of(ask.language)["link_ended"], status: 401)
            }
            return goOn(ask, proven, to: ask.query("to"))
        case ("sign-in", false): return try await signIn(ask)
        case ("second-factor", false): return try await showFactor(ask)
        case ("oidc", true) where tollgate.openIDSignIn.openID != nil && ask.request.method == .get:
            return try await openID(ask)
        case ("invitation", true):
            guard let token = ask.query("token"),
                let member = try await tollgate.signIns.invitation(token)
            else {
                return signInPage(ask, refusal: Words.of(ask.language)["link_ended"], status: 401)
            }
            return invitationPage(ask, member.name, token: token, refusal: nil)
        case ("invitation", false): return try await accept(ask)
        default: return nil
        }
    }

    private func signIn(_ ask: Ask) async throws -> Response {
        let form = try await ask.form()
        do {
            let proven = try await tollgate.signIns.signIn(
                form["name"] ?? "",
                password: form["password"] ?? "",
                from: origin(ask)
            )
            return goOn(ask, proven, to: form["to"])
        } catch let refusal as Refusal where refusal.status < 500 {
            let words = Words.of(ask.language)
            return signInPage(
                ask,
                refusal: words["error_\(refusal.error.code.rawValue)"],
                name: form["name"],
                to: form["to"],
                status: refusal.status
            )
        }
    }

    private func origin(_ ask: Ask) -> SignInOrigin {
        let client = ClientAddress(ask.request, ask.context, tollgate)
        return SignInOrigin(
            address: client.text,
            isOfMany: client.isOfMany,
            browser: cookie.browser(in: ask.request)
        )
    }

    private func goOn(_ ask: Ask, _ proven: StaffSignIn, to address: String?) -> Response {
        switch proven {
        case .signedIn(let visit): welcome(visit, to: address)
        case .secondFactor(let token): factorPage(ask, token, to: address, refusal: nil)
        }
    }

    /// Ends a sign-in by the second factor.
    private func showFactor(_ ask: Ask) async throws -> Response {
        let form = try await ask.form()
        let token = form["token"] ?? ""
        do {
            let visit = try await tollgate.signIns.signIn(
                token,
                code: form["code"] ?? "",
                from: origin(ask)
            )
            return welcome(visit, to: form["to"])
        } catch let refusal as Refusal where [401, 429].contains(refusal.status) {
            return factorPage(
                ask,
                token,
                to: form["to"],
                refusal: Words.of(ask.language)["error_\(refusal.error.code.rawValue)"],
                status: refusal.status
            )
        } catch let refusal as Refusal where refusal.status == 404 {
            return signInPage(
                ask,
                refusal: Words.of(ask.language)["sign_in_ended"],
                to: form["to"],
                status: 401
            )
        }
    }

    private func factorPage(
        _ ask: Ask,
        _ token: String,
        to address: String?,
        refusal: String?,
        status: Int = 200
    ) -> Response {
        templates.page(
            "dash_gate",
            [
                "isSignIn": false, "isFactor": true, "token": token,
                "to": Ask.wayBack(address), "refusal": refusal ?? false,
            ],
            layout: frame(
                ask,
                visit: nil,
                title: Words.of(ask.language)["second_factor"],
                section: ""
            ),
            status: HTTPResponse.Status(code: status)
        )
    }

    /// Leads to the issuer, and takes the browser that comes back from there.
    private func openID(_ ask: Ask) async throws -> Response {
        do {
            if ask.path.count == 1 {
                let client = ClientAddress(ask.request, ask.context, tollgate)
                // All of the staff may be behind one proxy, and so may strangers.
                let limits = tollgate.callLimits
                try (client.isOfMany ? limits.signInsOfMany : limits.signIns)
                    .admit(client.text, at: tollgate.clocks.wall())
                let start = try await tollgate.openIDSignIn.begin()
                return redirect(
                    start.address,
                    cookies: [cookie.setOpenID(start.secret, seconds: OpenIDSignIn.lifetime / 1000)]
                )
            }
            guard ask.path == ["oidc", "callback"] else { throw Refusal.nothingHere }
            let proven = try await tollgate.openIDSignIn.finish(
                cookie.openID(in: ask.request),
                state: ask.query("state"),
                code: ask.query("code"),
                issuer: ask.query("iss"),
                request: ask.requestID
            )
            var response = goOn(ask, proven, to: nil)
            response.headers.append(
                HTTPField(name: .setCookie, value: cookie.setOpenID("", seconds: 0))
            )
            return response
        } catch let refusal as Refusal where refusal.error.code.rawValue.hasPrefix("sso_") {
            return signInPage(
                ask,
                refusal: Words.of(ask.language)["error_\(refusal.error.code.rawValue)"],
                status: refusal.status
            )
        }
    }

    private func accept(_ ask: Ask) async throws -> Response {
        let form = try await ask.form()
        let token = form["token"] ?? ""
        guard let member = try await tollgate.signIns.invitation(token) else {
            return signInPage(ask, refusal: Words.of(ask.language)["link_ended"], status: 401)
        }
        do {
            let proven = try await tollgate.auditLog.audited(
                Deed("staff.password", "staff:\(member.name)", "by invitation"),
                by: Actor(name: member.name, role: member.role.rawValue, request: ask.requestID)
            ) {
                try await tollgate.signIns.acceptInvitation(token, password: form["password"] ?? "")
            }
            return goOn(ask, proven, to: nil)
        } catch let refusal as Refusal where refusal.status == 400 {
            return invitationPage(
                ask,
                member.name,
                token: token,
                refusal: Words.of(ask.language)["error_\(refusal.error.code.rawValue)"]
            )
        }
    }

    private func welcome(_ visit: StaffVisit, to address: String?) -> Response {
        let seconds =
            (visit.expires.milliseconds - tollgate.clocks.wall().milliseconds) / 1000
        return redirect(
            Ask.wayBack(address),
            cookies: [
                cookie.set(visit.secret, seconds: max(0, seconds)),
                cookie.setBrowser(tollgate.signIns.knownBrowser(of: visit.member.name)),
            ]
        )
    }

    private func signInPage(
        _ ask: Ask,
        refusal: String?,
        name: String? = nil,
        to address: String? = nil,
        status: Int = 200
    ) -> Response {
        let words = Words.of(ask.language)
        let back = address ?? ask.query("to") ?? ""
        return templates.page(
            "dash_gate",
            [
                "isSignIn": true, "isFactor": false, "name": name ?? "", "to": Ask.wayBack(back),
                "refusal": refusal ?? false,
                "issuer": tollgate.openIDSignIn.openID.map {
                    words("sign_in_with", ["name": $0.settings.name])
                } ?? false,
            ],
            layout: frame(ask, visit: nil, title: words["sign_in"], section: ""),
            status: HTTPResponse.Status(code: status)
        )
    }

    private func invitationPage(
        _ ask: Ask,
        _ name: String,
        token: String,
        refusal: String?
    ) -> Response {
        let words = Words.of(ask.language)
        return templates.page(
            "dash_gate",
            [
                "isSignIn": false, "isFactor": false, "name": name, "token": token,
                "refusal": refusal ?? false,
            ],
            layout: frame(ask, visit: nil, title: words["choose_password"], section: ""),
            status: refusal == nil ? .ok : .badRequest
        )
    }
}
