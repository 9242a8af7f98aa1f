import Foundation
import NIOHTTP1
import Storage
import Testing
import TollgateAPI
import TollgateService
import TollgateSimulation

@Suite("Forms of the dashboard")
struct DashboardFormTests {
    /// Every form that changes something, with the least role that may send it.
    static let forms: [(path: String, role: StaffRole, fields: [String: String])] = [
        ("/customers/{id}/grant", .support, ["lookup_key": "pro", "days": "7", "nonce": "n1"]),
        ("/customers/{id}/end-grant", .support, ["grant": "grant_x"]),
        (
            "/customers/{id}/coins", .admin,
            ["amount": "5", "direction": "give", "reason": "because", "nonce": "n2"]
        ),
        ("/customers/{id}/sessions", .support, [:]),
        ("/customers/{id}/assign", .support, ["purchase": "stripe/sandbox/-/sub_1"]),
        ("/customers/{id}/erase", .admin, ["typed": "{id}"]),
        ("/parked/retry", .support, [:]), ("/emails/retry", .support, [:]),
        ("/staff/add", .admin, ["name": "eve", "role": "admin"]),
        ("/staff/role", .admin, ["name": "admin@example.com", "role": "viewer"]),
        ("/staff/invite", .admin, ["name": "admin@example.com"]),
        ("/staff/sign-out", .admin, ["name": "nobody"]),
        ("/staff/remove", .admin, ["name": "admin@example.com"]),
        ("/staff/reset-factor", .admin, ["name": "admin@example.com"]),
        ("/staff/require-factor", .admin, ["required": "true"]),
        ("/keys/create", .admin, ["name": "a job", "scope_read": "on"]),
        ("/keys/revoke", .admin, ["id": "key_x"]),
    ]

    @Test(
        "A form of another site's is refused, and nothing is done (B3)",
        arguments: Backend.allCases
    )
    func crossSite(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            var browser = try await server.staff(.admin)
            _ = try await browser.open("/dashboard/account")
            let token = try #require(browser.form)
            let before = try await server.tollgate.store.audit.entries().count
            let paths =
                Self.forms.map(\.path) + [
                    "/sign-out", "/account/password", "/catalog/check",
                    "/account/second-factor/begin", "/account/second-factor/remove",
                    "/views/keep", "/views/remove",
                ]
            for path in paths {
                let address = "/dashboard\(path)".replacing("{id}", with: id)
                for headers in [
                    ["Origin": "https://evil.example"], ["Origin": "null"],
                    ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
                ] {
                    let page = try await browser.send(
                        address,
                        form: ["form": token],
                        headers: headers
                    )
                    #expect(page.status == 403 && page.text.contains("<code>csrf</code>"))
                }
                for forged in ["", "0123456789abcdef0123456789abcdef"] {
                    let page = try await browser.send(address, form: ["form": forged])
                    #expect(page.status == 403 && page.text.contains("<code>csrf</code>"))
                }
            }
            // Neither done nor begun.
            #expect(try await server.tollgate.store.audit.entries().count == before)
            #expect(try await browser.send("/dashboard").status == 200)
        }
    }

    @Test("The token of one browser is worth nothing in another")
    func foreignToken() async throws {
        try await TestServer.run { server in
            var one = try await server.staff(.admin)
            _ = try await one.open("/dashboard/account")
            var two = try await server.staff(.admin)
            two.form = one.form
            let page = try await two.press("/dashboard/staff/add", ["name": "x", "role": "admin"])
            #expect(page.status == 403)
        }
    }

    @Test("A form of our own page is taken, whatever name the browser knows us by")
    func sameOrigin() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.admin)
            _ = try await browser.open("/dashboard/account")
            let token = try #require(browser.form)
            for origin in [TestServer.publicURL, browser.base] {
                let page = try await browser.send(
                    "/dashboard/staff/sign-out",
                    form: ["form": token, "name": "nobody"],
                    headers: ["Origin": origin, "Sec-Fetch-Site": "same-origin"]
                )
                #expect(page.status == 404)
            }
        }
    }

    @Test("No form can be sent by somebody whose role does not allow it")
    func roles() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            for role in StaffRole.allCases where role < .admin {
                var browser = try await server.staff(role)
                for form in Self.forms where form.role > role {
                    _ = try await browser.open("/dashboard/account")
                    let page = try await browser.press(
                        "/dashboard\(form.path)".replacing("{id}", with: id),
                        form.fields.mapValues { $0.replacing("{id}", with: id) }
                    )
                    #expect(page.status == 403, "\(role) \(form.path)")
                    #expect(page.text.contains("role_required"))
                }
                #expect(
                    try await browser.open("/dashboard/staff").status == 403,
                    "\(role) looks at staff"
                )
            }
            #expect(try await server.tollgate.store.audit.entries().isEmpty)
            #expect(try await server.tollgate.coins.balance(of: id).balance == 0)
        }
    }

    @Test("A role that is taken away is gone at the next page, and the last admin stays")
    func demotion() async throws {
        try await TestServer.run { server in
            var admin = try await server.staff(.admin)
            var ann = try await server.staff(.admin, "ann")
            _ = try await admin.open("/dashboard/staff")
            let done = try await admin.press(
                "/dashboard/staff/role",
                ["name": "ann", "role": "viewer"]
            )
            #expect(done.words.contains("The role is changed"))
            #expect(try await ann.open("/dashboard/staff").status == 403)
            for (path, fields) in [
                ("role", ["name": "admin@example.com", "role": "viewer"]),
                ("remove", ["name": "admin@example.com"]),
            ] {
                let last = try await admin.press("/dashboard/staff/\(path)", fields)
                #expect(last.status == 409 && last.text.contains("last_admin"))
            }
            let removed = try await admin.press("/dashboard/staff/remove", ["name": "ann"])
            #expect(removed.status == 200)
            #expect(try await ann.send("/dashboard").status == 303)
        }
    }
}
