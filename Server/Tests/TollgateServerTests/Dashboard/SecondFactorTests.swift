import Foundation
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateCore
import TollgateSimulation

@testable import TollgateService

@Suite("Second factors of staff")
struct SecondFactorTests {
    private static let password = DashboardSignInTests.password
    private static let rfc = TOTP(secret: Array("12345678901234567890".utf8))

    @Test("The codes are those of RFC 4226, appendix D")
    func countedCodes() {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583",
            "399871", "520489",
        ]
        #expect((0..<10).map { Self.rfc.code($0) } == codes)
    }

    @Test(
        "The codes are those of RFC 6238, appendix B",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"), (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ] as [(Int64, String)]
    )
    func timedCodes(_ seconds: Int64, _ code: String) {
        let step = TOTP.step(at: Instant(milliseconds: seconds * 1000))
        #expect(Self.rfc.code(step, digits: 8) == code)
    }

    @Test("Base32 is that of RFC 4648, section 10, without padding")
    func base32() {
        let encoded = ["", "MY", "MZXQ", "MZXW6", "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"]
        for (length, text) in encoded.enumerated() {
            #expect(TOTP.base32(Array("foobar".utf8.prefix(length))) == text)
        }
    }

    @Test("A code holds for half a minute before and after its own, and never again")
    func window() {
        let now = Instant(milliseconds: 1_000_000_000_000)
        let present = TOTP.step(at: now)
        for (offset, isTaken) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let step = present + Int64(offset)
            let found = Self.rfc.step(of: Self.rfc.code(step), at: now, after: 0)
            #expect(found == (isTaken ? step : nil))
            #expect(Self.rfc.step(of: Self.rfc.code(step), at: now, after: step) == nil)
        }
        #expect(Self.rfc.step(of: "", at: now, after: 0) == nil)
    }

    /// Ann has a second factor; gives her side of it, and her recovery codes.
    private static func enrol(
        _ server: TestServer
    ) async throws -> (app: TOTP, recovery: [String]) {
        try await server.tollgate.staff.add("ann", role: .admin)
        try await server.tollgate.passwords.set(password, of: "ann")
        guard
            case .signedIn(let visit) = try await server.tollgate.signIns.signIn(
                "ann",
                password: password,
                from: SignInOrigin()
            )
        else { throw Refusal.codeWrong }
        _ = try await server.tollgate.secondFactors.begin(visit, password: password)
        let kept = try #require(try await server.tollgate.store.staff.totp(of: "ann"))
        let secret = try server.tollgate.secondFactors.sealing.open(
            kept.secret,
            as: "staff totp ann"
        ).bytes
        #expect(!kept.secret.starts(with: secret))
        let app = TOTP(secret: secret)
        let codes = try await server.tollgate.secondFactors.confirm(visit, code: now(app, server))
        return (app, codes)
    }

    private static func now(_ app: TOTP, _ server: TestServer) -> String {
        app.code(TOTP.step(at: server.tollgate.clocks.wall()))
    }

    private static func token(_ server: TestServer) async throws -> String {
        guard
            case .secondFactor(let token) = try await server.tollgate.signIns.signIn(
                "ann",
                password: password,
                from: SignInOrigin()
            )
        else { throw Refusal.codeWrong }
        return token
    }

    private static func status(_ work: () async throws -> StaffVisit) async -> Int {
        do {
            _ = try await work()
            return 200
        } catch {
            return (error as? Refusal)?.status ?? 500
        }
    }

    @Test(
        "Z2: of many who show one code at once, one is let in",
        arguments: Backend.allCases
    )
    func codesCountOnce(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let (app, recovery) = try await Self.enrol(server)
            server.wall.advance(seconds: 30)
            for code in [Self.now(app, server), recovery[0]] {
                var tokens: [String] = []
                for _ in 0..<4 { tokens.append(try await Self.token(server)) }
                let statuses = await withTaskGroup(of: Int.self) { group in
                    for token in tokens {
                        group.addTask {
                            await Self.status {
                                try await server.tollgate.signIns.signIn(
                                    token,
                                    code: code,
                                    from: SignInOrigin()
                                )
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses.sorted() == [200, 401, 401, 401])
                server.wall.advance(seconds: 901)
            }
        }
    }

    @Test("Z2: a sign-in waits five minutes for its second factor, and guesses are counted")
    func guessing() async throws {
        try await TestServer.run { server in
            let (app, recovery) = try await Self.enrol(server)
            let late = try await Self.token(server)
            server.wall.advance(seconds: 300)
            func status(_ token: String, _ code: String) async -> Int {
                await Self.status {
                    try await server.tollgate.signIns.signIn(
                        token,
                        code: code,
                        from: SignInOrigin(address: "192.0.2.1")
                    )
                }
            }
            #expect(await status(late, Self.now(app, server)) == 404)
            let token = try await Self.token(server)
            var statuses: [Int] = []
            for _ in 0..<7 { statuses.append(await status(token, "123")) }
            #expect(statuses == [401, 401, 401, 401, 401, 429, 429])
            #expect(await status(token, recovery[0]) == 429)
            server.wall.advance(seconds: 901)
            let next = try await Self.token(server)
            #expect(await status(next, recovery[0]) == 200)
            // What is no token of such a sign-in opens nothing.
            let link = try await server.tollgate.signIns.link(for: "ann")
            let secret = String(link.split(separator: "=").last ?? "")
            for other in [secret, "", "stfa_x"] { #expect(await status(other, recovery[1]) == 404) }
        }
    }

    @Test("Z2: neither a link nor a new password goes around a second factor")
    func noWayAround() async throws {
        try await TestServer.run { server in
            _ = try await Self.enrol(server)
            var browser = StaffBrowser(server)
            let link = try await server.tollgate.signIns.link(for: "ann")
            let page = try await browser.open(link.replacing(TestServer.publicURL, with: ""))
            #expect(page.words.contains("Second factor"))
            #expect(try await browser.send("/dashboard").status == 303)
            let invitation = try await server.tollgate.signIns.invitation(for: "ann")
            let token = String(invitation.split(separator: "=").last ?? "")
            let chosen = try await browser.open(
                "/dashboard/invitation",
                form: ["token": token, "password": "another sentence to remember"]
            )
            #expect(chosen.words.contains("Second factor"))
            #expect(try await browser.send("/dashboard").status == 303)
        }
    }

    @Test(
        "A second factor is turned off by a code, and goes with its owner",
        arguments: Backend.allCases
    )
    func removal(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let (_, recovery) = try await Self.enrol(server)
            let visit = try await server.tollgate.signIns.signIn(
                try await Self.token(server),
                code: recovery[0],
                from: SignInOrigin()
            )
            #expect(try await server.tollgate.secondFactors.state(of: "ann") == (true, 9))
            let renewed = try await server.tollgate.secondFactors.renewRecoveryCodes(
                visit,
                code: recovery[1]
            )
            #expect(try await server.tollgate.secondFactors.state(of: "ann") == (true, 10))
            await #expect(throws: Refusal.codeWrong) {
                try await server.tollgate.secondFactors.remove(visit, code: recovery[2])
            }
            try await server.tollgate.secondFactors.remove(visit, code: renewed[0])
            #expect(try await server.tollgate.secondFactors.state(of: "ann") == (false, 0))
            _ = try await server.tollgate.secondFactors.begin(visit, password: Self.password)
            try await server.tollgate.staff.add("ben", role: .admin)
            try await server.tollgate.staff.remove("ann")
            #expect(try await server.tollgate.store.staff.totp(of: "ann") == nil)
        }
    }

    @Test(
        "Z2: a second factor that is turned on ends every other session of that name",
        arguments: Backend.allCases
    )
    func otherSessions(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let tollgate = server.tollgate
            try await tollgate.staff.add("ann", role: .admin)
            try await tollgate.passwords.set(Self.password, of: "ann")
            var visits: [StaffVisit] = []
            for _ in 0..<2 {
                let entered = try await tollgate.signIns.signIn(
                    "ann",
                    password: Self.password,
                    from: SignInOrigin()
                )
                guard case .signedIn(let visit) = entered else { throw Refusal.codeWrong }
                visits.append(visit)
            }
            _ = try await tollgate.secondFactors.begin(visits[0], password: Self.password)
            let kept = try #require(try await tollgate.store.staff.totp(of: "ann"))
            let secret = try tollgate.secondFactors.sealing.open(kept.secret, as: "staff totp ann")
                .bytes
            let code = Self.now(TOTP(secret: secret), server)
            _ = try await tollgate.secondFactors.confirm(visits[0], code: code)
            #expect(try await tollgate.signIns.visit(visits[0].secret) != nil)
            #expect(try await tollgate.signIns.visit(visits[1].secret) == nil)
        }
    }

    @Test("Z4: guesses at the password within a session are counted")
    func guessesWithinASession() async throws {
        try await TestServer.run { server in
            let (_, recovery) = try await Self.enrol(server)
            let visit = try await server.tollgate.signIns.signIn(
                try await Self.token(server),
                code: recovery[0],
                from: SignInOrigin()
            )
            var statuses: [Int] = []
            for _ in 0..<6 {
                statuses.append(
                    await Self.status {
                        try await server.tollgate.passwords.change(
                            visit,
                            from: "a guess at the password",
                            to: "another password of hers"
                        )
                        return visit
                    }
                )
            }
            #expect(statuses == [401, 401, 401, 401, 401, 429])
        }
    }

    @Test("Z2: guesses at a code within a session are counted, by themselves, until one is right")
    func codesWithinASession() async throws {
        try await TestServer.run { server in
            let (_, recovery) = try await Self.enrol(server)
            func entered(_ code: String) async throws -> StaffVisit {
                try await server.tollgate.signIns.signIn(
                    try await Self.token(server),
                    code: code,
                    from: SignInOrigin()
                )
            }
            let visit = try await entered(recovery[0])
            let other = try await entered(recovery[1])
            func status(_ visit: StaffVisit, _ code: String) async -> Int {
                await Self.status {
                    _ = try await server.tollgate.secondFactors.renewRecoveryCodes(
                        visit,
                        code: code
                    )
                    return visit
                }
            }
            // Whoever knows the password uses up the name's ten attempts, and not hers.
            let token = try await Self.token(server)
            for _ in 0..<11 {
                _ = await Self.status {
                    try await server.tollgate.signIns.signIn(token, code: "1", from: SignInOrigin())
                }
            }
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(await status(visit, "123")) }
            #expect(statuses == [401, 401, 401, 401])
            let renewed = try await server.tollgate.secondFactors.renewRecoveryCodes(
                visit,
                code: recovery[2]
            )
            statuses = []
            for _ in 0..<6 { statuses.append(await status(visit, "123")) }
            #expect(statuses == [401, 401, 401, 401, 401, 429])
            #expect(await status(visit, renewed[0]) == 429)
            #expect(await status(other, renewed[0]) == 200)
        }
    }

    @Test("A second factor that no key opens does not keep the server from starting")
    func lostKey() async throws {
        try await TestServer.run { server in
            let (_, recovery) = try await Self.enrol(server)
            _ = try await server.tollgate.store.driver.write { connection in
                try connection.execute("UPDATE staff_totp SET secret = $1", [.blob([1, 2, 3])])
            }
            try await server.tollgate.webhookEndpoints.reseal()
            try await server.tollgate.secondFactors.reseal()
            let token = try await Self.token(server)
            let status = await Self.status {
                try await server.tollgate.signIns.signIn(
                    token,
                    code: recovery[0],
                    from: SignInOrigin()
                )
            }
            #expect(status == 200, "recovery codes go on to work")
        }
    }
}
