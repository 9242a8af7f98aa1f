import Foundation
import NIOHTTP1
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Signing in to the dashboard")
struct DashboardSignInTests {
    static let password = "a sentence that is easy to remember"

    @Test("Nobody who is not signed in sees a page", arguments: Backend.allCases)
    func closed(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            var browser = StaffBrowser(server)
            for path in ["", "/customers", "/audit", "/staff", "/catalog", "/no-such-page"] {
                let page = try await browser.send("/dashboard\(path)")
                #expect(page.status == 303)
                #expect(page.location?.hasPrefix("/dashboard/sign-in?to=") == true)
            }
            let change = try await browser.send("/dashboard/staff/add", form: ["name": "eve"])
            #expect(change.location == "/dashboard/sign-in")
            #expect(try await server.tollgate.staff.all().isEmpty)
        }
    }

    @Test(
        "An invitation works once, and leads to a password that signs in",
        arguments: Backend.allCases
    )
    func invitation(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await server.tollgate.staff.add("Ann@Example.com", role: .support)
            let link = try await server.tollgate.signIns.invitation(for: "ann@example.com")
                .replacing(TestServer.publicURL, with: "")
            var browser = StaffBrowser(server)
            let page = try await browser.open(link)
            #expect(page.status == 200)
            let token = try #require(page.field("token"))
            // A weak password does not cost the invitation.
            let weak = try await browser.open(
                "/dashboard/invitation",
                form: ["token": token, "password": "short"]
            )
            #expect(weak.status == 400)
            let done = try await browser.open(
                "/dashboard/invitation",
                form: ["token": token, "password": Self.password]
            )
            #expect(done.status == 200 && done.text.contains("ann@example.com"))
            let again = try await browser.open(link)
            #expect(again.status == 401)

            var other = StaffBrowser(server)
            let wrong = try await other.open(
                "/dashboard/sign-in",
                form: ["name": "ann@example.com", "password": "something else entirely"]
            )
            #expect(wrong.status == 401)
            let right = try await other.open(
                "/dashboard/sign-in",
                form: [
                    "name": "ANN@example.com", "password": Self.password,
                    "to": "/dashboard/audit",
                ]
            )
            #expect(right.status == 200)
            #expect(right.words.contains("Set a password"))
        }
    }

    @Test("A link that signs in works once and for a day")
    func link() async throws {
        try await TestServer.run { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            let first = try await server.tollgate.signIns.link(for: "ann")
                .replacing(TestServer.publicURL, with: "")
            var browser = StaffBrowser(server)
            // Looking ahead does not use it up.
            _ = try await browser.send(first, method: .HEAD)
            #expect(try await browser.open(first).status == 200)
            var other = StaffBrowser(server)
            #expect(try await other.open(first).status == 401)
            let late = try await server.tollgate.signIns.link(for: "ann")
                .replacing(TestServer.publicURL, with: "")
            server.wall.advance(seconds: 86_400)
            #expect(try await other.open(late).status == 401)
        }
    }

    @Test("A browser stays signed in for twelve hours, and until somebody ends it")
    func lifetime() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.admin)
            #expect(
                browser.cookies.keys.sorted() == [
                    "__Host-tollgate_browser", "__Host-tollgate_staff",
                ]
            )
            server.wall.advance(seconds: 12 * 3600 - 1)
            #expect(try await browser.send("/dashboard").status == 200)
            server.wall.advance(seconds: 1)
            #expect(try await browser.send("/dashboard").status == 303)

            browser = try await server.staff(.admin)
            #expect(try await browser.open("/dashboard/account").status == 200)
            let secret = browser.cookies
            let out = try await browser.press("/dashboard/sign-out")
            #expect(out.words.contains("Sign in"))
            browser.cookies = secret
            #expect(try await browser.send("/dashboard").status == 303)

            browser = try await server.staff(.admin)
            _ = try await server.tollgate.staff.signOut("admin@example.com")
            #expect(try await browser.send("/dashboard").status == 303)
        }
    }

    @Test("The cookie is kept from scripts, other sites and other hosts")
    func cookie() async throws {
        try await TestServer.run { server in
            try await server.tollgate.staff.add("ann", role: .viewer)
            let link = try await server.tollgate.signIns.link(for: "ann")
                .replacing(TestServer.publicURL, with: "")
            var browser = StaffBrowser(server)
            let set = try #require(
                try await browser.send(link).headers.first(name: "Set-Cookie")
            )
            for part in ["__Host-", "; Path=/;", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
                #expect(set.contains(part))
            }
            #expect(!set.contains("Domain"))
        }
    }

    @Test("Guessing is slowed down, by name and by address, and nobody learns who works here")
    func guessing() async throws {
        try await TestServer.run { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            var browser = StaffBrowser(server)
            var texts: Set<String> = []
            for name in ["ann", "nobody"] {
                for _ in 0..<50 {
                    let page = try await browser.send(
                        "/dashboard/sign-in",
                        form: ["name": name, "password": "a wrong password"]
                    )
                    #expect(page.status == 401)
                    texts.insert(page.text.replacing("value=\"\(name)\"", with: ""))
                }
            }
            #expect(texts.count == 1)
            let form = ["name": "ann", "password": Self.password]
            #expect(try await browser.send("/dashboard/sign-in", form: form).status == 429)
            server.wall.advance(seconds: 901)
            #expect(try await browser.send("/dashboard/sign-in", form: form).status == 303)
        }
    }

    @Test("Many guesses at once are as few as one after another", arguments: Backend.allCases)
    func guessingAtOnce(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            func statuses(of guesses: Int, _ address: String) async -> [Int: Int] {
                await withTaskGroup(of: Int.self) { group in
                    for number in 0..<guesses {
                        group.addTask {
                            do {
                                _ = try await server.tollgate.signIns.signIn(
                                    address.isEmpty ? "ann" : "name \(number)",
                                    password: "a wrong password",
                                    from: SignInOrigin(address: address)
                                )
                                return 200
                            } catch {
                                return (error as? Refusal)?.status ?? 500
                            }
                        }
                    }
                    return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
                }
            }
            // Those that are turned away while others' passwords are compared are not looked at.
            var looked = await statuses(of: 60, "")[401, default: 0]
            #expect(looked <= 50)
            for _ in 0..<100 where looked < 50 {
                looked += await statuses(of: 1, "")[401, default: 0]
            }
            #expect(looked == 50)
            #expect(await statuses(of: 1, "") == [429: 1])
            #expect(await statuses(of: 60, "192.0.2.1") == [401: 20, 429: 40])
            server.wall.advance(seconds: 901)
            for _ in 0..<30 {
                // Who knows the password is not held up by how often they come.
                _ = try await server.tollgate.signIns.signIn(
                    "ann",
                    password: Self.password,
                    from: SignInOrigin(address: "192.0.2.1")
                )
            }
        }
    }

    private static func status(
        _ password: String,
        from origin: SignInOrigin,
        _ server: TestServer
    ) async -> Int {
        do {
            _ = try await server.tollgate.signIns.signIn("ann", password: password, from: origin)
            return 200
        } catch {
            return (error as? Refusal)?.status ?? 500
        }
    }

    @Test(
        "Z4: strangers cannot lock a name out; where it signed in before, it is let in",
        arguments: Backend.allCases
    )
    func lockingOut(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            let browser = server.tollgate.signIns.knownBrowser(of: "ann")
            func guess(_ address: String, _ browser: String? = nil) async -> Int {
                await Self.status(
                    "a wrong password",
                    from: SignInOrigin(address: address, browser: browser),
                    server
                )
            }
            func knows(_ address: String, _ browser: String? = nil) async -> Int {
                await Self.status(
                    Self.password,
                    from: SignInOrigin(address: address, browser: browser),
                    server
                )
            }
            // One stranger holds up nobody but themselves.
            var statuses: [Int] = []
            for _ in 0..<7 { statuses.append(await guess("198.51.100.1")) }
            #expect(statuses == [401, 401, 401, 401, 401, 429, 429])
            #expect(await knows("192.0.2.1") == 200)
            // Many together hold up browsers that nobody knows, after 50 guesses in all.
            statuses = []
            for number in 0..<60 { statuses.append(await guess("203.0.113.\(number % 12)")) }
            #expect(statuses.count { $0 == 401 } == 45)
            #expect(await knows("192.0.2.1") == 429)
            #expect(await knows("192.0.2.1", browser) == 200)
            // The cookie counts for its name, as it was made, and for ten guesses.
            let other = server.tollgate.signIns.knownBrowser(of: "ben")
            for forged in [
                other, browser + "0", String(browser.dropLast()), "a.9999999999999.b", "",
            ] {
                #expect(await knows("192.0.2.1", forged) == 429)
            }
            statuses = []
            for _ in 0..<12 { statuses.append(await guess("203.0.113.1", browser)) }
            #expect(statuses == Array(repeating: 401, count: 10) + [429, 429])
            // Half a year later it is forgotten.
            server.wall.advance(seconds: 180 * 86_400)
            for number in 0..<50 { _ = await guess("203.0.113.\(number % 12)") }
            #expect(await knows("192.0.2.1", browser) == 429)
            server.wall.advance(seconds: 901)
            #expect(await knows("192.0.2.1") == 200)
        }
    }

    @Test("Z4: a browser is known by a cookie that lets nobody in")
    func knownBrowser() async throws {
        try await TestServer.run { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            var browser = StaffBrowser(server)
            let form = ["name": "ann", "password": Self.password]
            #expect(try await browser.open("/dashboard/sign-in", form: form).status == 200)
            browser.cookies["__Host-tollgate_staff"] = nil
            #expect(try await browser.send("/dashboard").status == 303)
            var stranger = StaffBrowser(server)
            let guess = ["name": "ann", "password": "a wrong password"]
            for _ in 0..<51 { _ = try await stranger.send("/dashboard/sign-in", form: guess) }
            #expect(try await stranger.send("/dashboard/sign-in", form: form).status == 429)
            #expect(try await browser.send("/dashboard/sign-in", form: form).status == 303)
        }
    }

    @Test(
        "Z4: where no address is known, few guesses lock nobody out, and many do not lock out those who have a browser, a link or time",
        arguments: Backend.allCases
    )
    func withoutAddresses(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            let browser = server.tollgate.signIns.knownBrowser(of: "ann")
            func status(_ password: String, _ browser: String? = nil) async -> Int {
                await Self.status(password, from: SignInOrigin(browser: browser), server)
            }
            for _ in 0..<49 { #expect(await status("a wrong password") == 401) }
            #expect(await status(Self.password) == 200)
            #expect(await status("a wrong password") == 401)
            // One who goes on does not make it longer.
            server.wall.advance(seconds: 899)
            #expect(await status("a wrong password") == 429)
            #expect(await status(Self.password) == 429)
            #expect(await status(Self.password, browser) == 200)
            let link = try await server.tollgate.signIns.link(for: "ann")
            let token = try #require(link.split(separator: "=").last.map(String.init))
            #expect(try await server.tollgate.signIns.openLink(token) != nil)
            server.wall.advance(seconds: 2)
            #expect(await status(Self.password) == 200)
        }
    }

    @Test(
        "Z4: an address that many may have is limited too: 200 guesses at any names",
        arguments: Backend.allCases
    )
    func addressOfMany(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            let browser = server.tollgate.signIns.knownBrowser(of: "ann")
            let origin = SignInOrigin(address: "10.0.0.5", isOfMany: true)
            var statuses: [Int: Int] = [:]
            for number in 0..<205 {
                do {
                    _ = try await server.tollgate.signIns.signIn(
                        "name \(number)",
                        password: "a wrong password",
                        from: origin
                    )
                } catch {
                    statuses[(error as? Refusal)?.status ?? 500, default: 0] += 1
                }
            }
            #expect(statuses == [401: 200, 429: 5])
            #expect(await Self.status(Self.password, from: origin, server) == 429)
            for other in [
                SignInOrigin(address: "10.0.0.6", isOfMany: true),
                SignInOrigin(address: "192.0.2.1"),
                SignInOrigin(address: "10.0.0.5", isOfMany: true, browser: browser),
            ] {
                #expect(await Self.status(Self.password, from: other, server) == 200)
            }
            server.wall.advance(seconds: 901)
            #expect(await Self.status(Self.password, from: origin, server) == 200)
        }
    }

    @Test("A password is never kept as it is, and a new one ends other browsers")
    func password() async throws {
        try await TestServer.run { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            let kept = try #require(try await server.tollgate.store.staff.member("ann")?.password)
            let text = String(decoding: kept, as: UTF8.self)
            #expect(text.hasPrefix("scrypt$16$8$1$") && !text.contains("sentence"))
            let usual = Configuration(
                secretKey: "",
                publishableKey: "",
                publicURL: "",
                defaultEnvironment: .sandbox
            )
            #expect(usual.passwordRounds == 32_768)

            var here = try await server.staff(.admin, "ann")
            var elsewhere = try await server.staff(.admin, "ann")
            _ = try await here.open("/dashboard/account")
            let refused = try await here.press(
                "/dashboard/account/password",
                ["old": "wrong", "new": "another sentence to remember"]
            )
            #expect(refused.status == 400)
            let done = try await here.press(
                "/dashboard/account/password",
                ["old": Self.password, "new": "another sentence to remember"]
            )
            #expect(done.words.contains("The password is changed"))
            #expect(try await here.send("/dashboard").status == 200)
            #expect(try await elsewhere.send("/dashboard").status == 303)
        }
    }

    @Test(
        "A way back leads to the dashboard and nowhere else (B1)",
        arguments: [
            "//evil.example", "https://evil.example", "/\\evil.example", "/dashboard//evil.example",
            "javascript:alert(1)", "/dashboard@evil.example", "/dashboard\\..\\evil",
            "/dashboard/\nx", "/demo",
        ]
    )
    func wayBack(_ address: String) async throws {
        try await TestServer.run { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(Self.password, of: "ann")
            var browser = StaffBrowser(server)
            let page = try await browser.send(
                "/dashboard/sign-in",
                form: ["name": "ann", "password": Self.password, "to": address]
            )
            #expect(page.status == 303 && page.location == "/dashboard")
            let language = try await browser.send(
                "/dashboard/language?to=ja&back=\(StaffBrowser.escaped(address))"
            )
            #expect(language.location == "/dashboard")
        }
    }
}
