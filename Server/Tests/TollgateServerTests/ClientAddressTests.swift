import HTTPTypes
import NIOCore
import Testing
import TollgateService
import TollgateSimulation

@testable import TollgateServer

/// Limits by address would be one limit for all if everybody behind a proxy had its address, and
/// none if everybody could choose one.
@Suite("From where a request comes, as far as limits are concerned")
struct ClientAddressTests {
    struct Case: Sendable {
        let description: String
        var header: String?
        let peer: String
        var fields: [String: String] = [:]
        let address: String
    }

    static let cases = [
        Case(
            description: "without a proxy: the connection's own, whatever it says of itself",
            peer: "203.0.113.7",
            fields: ["X-Forwarded-For": "198.51.100.1"],
            address: "203.0.113.7"
        ),
        Case(
            description: "an IPv6 address: its network",
            peer: "2001:db8::1",
            address: "32.1.13.184.0.0.0.0"
        ),
        Case(
            description: "a proxy on this machine: the last address, which it appended",
            peer: "127.0.0.1",
            fields: ["X-Forwarded-For": "192.0.2.1, 198.51.100.1"],
            address: "198.51.100.1"
        ),
        Case(
            description: "a proxy on this machine, over IPv6",
            peer: "::1",
            fields: ["X-Forwarded-For": "198.51.100.1"],
            address: "198.51.100.1"
        ),
        Case(
            description: "a proxy on this machine, over IPv4 in the clothes of IPv6",
            peer: "::ffff:127.0.0.1",
            fields: ["X-Forwarded-For": "198.51.100.1"],
            address: "198.51.100.1"
        ),
        Case(
            description: "a proxy on this machine that tells nothing",
            peer: "127.0.0.1",
            address: "127.0.0.1"
        ),
        Case(
            description: "a proxy on this machine that tells no address",
            peer: "127.0.0.1",
            fields: ["X-Forwarded-For": "unknown"],
            address: "127.0.0.1"
        ),
        Case(
            description: "a proxy elsewhere that nobody configured is not believed",
            peer: "10.0.0.5",
            fields: ["X-Forwarded-For": "198.51.100.1"],
            address: "10.0.0.5"
        ),
        Case(
            description: "a proxy elsewhere: what the configured header says",
            header: "X-Real-IP",
            peer: "10.0.0.5",
            fields: ["X-Real-IP": "198.51.100.1", "X-Forwarded-For": "192.0.2.1"],
            address: "198.51.100.1"
        ),
        Case(
            description: "where a header is configured, no other one is believed",
            header: "X-Real-IP",
            peer: "127.0.0.1",
            fields: ["X-Forwarded-For": "198.51.100.1"],
            address: "127.0.0.1"
        ),
    ]

    @Test("is told by the configured header, by a proxy on this machine, or by the connection")
    func address() async throws {
        for header in [nil, "X-Real-IP"] {
            try await TestServer.run(clientAddressHeader: header) { server in
                for row in Self.cases where row.header == header {
                    let found = try Self.found(row.peer, row.fields, server.tollgate)
                    #expect(found.text == row.address, "\(row.description)")
                }
            }
        }
    }

    @Test(
        "Z4: behind a neighbour that seems to be a proxy, and behind this machine, may be everybody"
    )
    func isOfMany() async throws {
        let told = ["X-Forwarded-For": "198.51.100.1"]
        try await TestServer.run { server in
            for (peer, fields, isOfMany) in [
                ("10.0.0.5", told, true), ("fd00::1", told, true), ("127.0.0.1", [:], true),
                ("10.0.0.5", [:], false), ("8.8.8.8", told, false), ("127.0.0.1", told, false),
            ] {
                let found = try Self.found(peer, fields, server.tollgate)
                #expect(found.isOfMany == isOfMany, "\(peer)")
            }
        }
        try await TestServer.run(clientAddressHeader: "X-Forwarded-For") { server in
            let found = try Self.found("10.0.0.5", told, server.tollgate)
            #expect(!found.isOfMany)
        }
    }

    @Test("A neighbour that seems to be a proxy is warned of once, with what to set")
    func warning() async throws {
        let told = ["X-Forwarded-For": "198.51.100.1"]
        let words = Warnings()
        try await TestServer.run(logger: words.logger) { server in
            for peer in ["127.0.0.1", "8.8.8.8"] {
                _ = try Self.found(peer, told, server.tollgate)
            }
            _ = try Self.found("10.0.0.5", [:], server.tollgate)
            #expect(words.all.isEmpty)
            for peer in ["10.0.0.5", "10.0.0.6", "fd00::1"] {
                _ = try Self.found(peer, told, server.tollgate)
            }
            #expect(words.all.count == 1)
            #expect(
                words.all.first?.contains("TOLLGATE_CLIENT_ADDRESS_HEADER=X-Forwarded-For") == true
            )
        }
        let configured = Warnings()
        try await TestServer.run(
            clientAddressHeader: "X-Forwarded-For",
            logger: configured.logger
        ) { server in
            _ = try Self.found("10.0.0.5", told, server.tollgate)
            #expect(configured.all.isEmpty)
        }
    }

    @Test("Behind a proxy on this machine each visitor of Checkout is limited for themselves")
    func visits() async throws {
        try await TestServer.run { server in
            func visit(_ address: String) async throws -> Int {
                var browser = StaffBrowser(server)
                return try await browser.send(
                    "/buy/buy_coins_100",
                    headers: ["X-Forwarded-For": "192.0.2.9, \(address)"]
                ).status
            }
            var answers: [Int] = []
            for _ in 0..<21 { answers.append(try await visit("198.51.100.1")) }
            answers.append(try await visit("198.51.100.2"))
            #expect(answers == Array(repeating: 303, count: 20) + [429, 303])
        }
    }

    @Test("Wrong passwords from one address behind a proxy lock nobody else of the staff out")
    func signIn() async throws {
        try await TestServer.run(clientAddressHeader: "X-Real-IP") { server in
            try await server.tollgate.staff.add("ann", role: .admin)
            try await server.tollgate.passwords.set(DashboardSignInTests.password, of: "ann")
            func attempt(
                _ name: String,
                _ password: String,
                _ address: String
            ) async throws -> Int {
                var browser = StaffBrowser(server)
                return try await browser.send(
                    "/dashboard/sign-in",
                    form: ["name": name, "password": password],
                    headers: ["X-Real-IP": address]
                ).status
            }
            for number in 0..<20 {
                let status = try await attempt("name-\(number)", "a guess", "198.51.100.1")
                #expect(status == 401)
            }
            #expect(try await attempt("name-20", "a guess", "198.51.100.1") == 429)
            let password = DashboardSignInTests.password
            #expect(try await attempt("ann", password, "198.51.100.2") == 303)
        }
    }

    private static func found(
        _ peer: String,
        _ fields: [String: String],
        _ tollgate: Tollgate
    ) throws -> ClientAddress {
        var headers = HTTPFields()
        for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
        let peer = try SocketAddress(ipAddress: peer, port: 443)
        return ClientAddress(peer: peer, headers, tollgate)
    }
}
