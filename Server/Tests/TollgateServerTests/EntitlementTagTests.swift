import Foundation
import HTTPTypes
import SandboxClock
import Testing
import TollgateAPI
import TollgateSimulation

@testable import TollgateServer

/// RFC 9110 §8.8.3, §13.1.2: the answer is not sent again to who holds it.
@Suite("Entity tags of entitlements")
struct EntitlementTagTests {
    private static let day: Int64 = 86_400_000

    /// Asks before the router, and the route itself, and expects the same of both.
    private static func ask(
        _ server: TestServer,
        _ customer: String,
        as key: String = TestServer.secretKey,
        holding tag: String? = nil
    ) async throws -> Answer {
        let path = "/v1/customers/\(customer)/entitlements"
        let headers = tag.map { ["If-None-Match": $0] } ?? [:]
        let quick = try await server.send(.get, path, as: key, headers: headers)
        let route = try await server.send(
            .get,
            path + "?environment=sandbox",
            as: key,
            headers: headers
        )
        #expect(quick.status == route.status)
        #expect(quick.headers[.eTag] == route.headers[.eTag])
        #expect(quick.headerNames == route.headerNames)
        return quick
    }

    @Test("Whoever shows the tag of the answer is told that it holds", arguments: Backend.allCases)
    func notModified(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            _ = try await server.post("/v1/customers/\(id)/grants", "{\"lookup_key\":\"pro\"}")
            let first = try await Self.ask(server, id)
            let tag = try #require(first.headers[.eTag])
            #expect(first.status == 200 && tag.hasPrefix("W/\"") && tag.hasSuffix("\""))
            // The instant for which it is asked is not what it says.
            await server.clock.advance(to: TestServer.start + 12_345)
            let second = try await Self.ask(server, id)
            #expect(second.headers[.eTag] == tag && second.bytes != first.bytes)
            for shown in [
                tag, String(tag.dropFirst(2)), "\"x\", \(tag)", "W/\"a,b\" ,\t\(tag),", "*",
            ] {
                let held = try await Self.ask(server, id, holding: shown)
                #expect(held.status == 304 && held.bytes.isEmpty, "\(shown)")
                #expect(held.headers[.eTag] == tag)
                #expect(held.headers[.cacheControl] == "no-store")
                #expect(held.headers[.contentType] == nil)
                #expect(held.headers[.date] != nil)
            }
            for shown in ["\"x\"", String(tag.dropLast()), "w\(tag.dropFirst())", "", ",", "W/"] {
                #expect(try await Self.ask(server, id, holding: shown).status == 200, "\(shown)")
            }
            let path = "/v1/customers/\(id)/entitlements"
            let head = try await server.send(.head, path)
            #expect(head.status == 200 && head.headers[.eTag] == tag && head.bytes.isEmpty)
            let none = try await server.send(.head, path, headers: ["If-None-Match": tag])
            #expect(none.status == 304)
            // By either name it is the same customer.
            #expect(try await Self.ask(server, "user-1", holding: tag).status == 304)
        }
    }

    @Test("Another answer has another tag, also where only time has passed")
    func modified() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let end = TestServer.start + Self.day
            var tags: [String] = []
            func next() async throws {
                let answer = try await Self.ask(server, id, holding: tags.last)
                #expect(answer.status == 200)
                tags.append(try #require(answer.headers[.eTag]))
                #expect(try await Self.ask(server, id, holding: tags.last).status == 304)
            }
            try await next()
            let path = "/v1/customers/\(id)/grants"
            _ = try await server.post(path, "{\"lookup_key\":\"pro\",\"until\":\(end)}")
            try await next()
            _ = try await server.post(path, "{\"lookup_key\":\"archive\"}")
            try await next()
            await server.clock.advance(to: end - 1)
            #expect(try await Self.ask(server, id, holding: tags.last).status == 304)
            await server.clock.advance(to: end)
            try await next()
            #expect(Set(tags).count == 4)
            // Another environment is another answer.
            let production = try await server.send(
                .get,
                "/v1/customers/\(id)/entitlements?environment=production",
                headers: ["If-None-Match": try #require(tags.first)]
            )
            #expect(production.status == 200)
            #expect(try await server.send(.delete, "/v1/customers/\(id)").status == 200)
            #expect(try await Self.ask(server, id, holding: "*").code == "customer_erased")
        }
    }

    @Test("Nobody learns by a tag what another customer may use", arguments: Backend.allCases)
    func others(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            var tags: [String] = []
            var sessions: [String] = []
            let users = ["user-1", "user-2"]
            var ids: [String] = []
            for user in users {
                let id = try await server.customer(user)
                _ = try await server.post("/v1/customers/\(id)/grants", "{\"lookup_key\":\"pro\"}")
                ids.append(id)
                sessions.append(try await server.session(of: id))
                tags.append(try #require(try await Self.ask(server, id).headers[.eTag]))
                let signed = try await Self.ask(server, id, as: sessions[ids.count - 1])
                tags.append(try #require(signed.headers[.eTag]))
            }
            #expect(Set(tags).count == 4)
            for id in ids {
                // With the tags of both and every answer of the other customer.
                let all = tags.joined(separator: ", ")
                for (index, session) in sessions.enumerated() {
                    let asked = try await Self.ask(server, id, as: session, holding: all)
                    #expect(asked.status == (ids[index] == id ? 304 : 404))
                    #expect((asked.headers[.eTag] == nil) == (asked.status == 404))
                }
                for key in [TestServer.publishableKey, "sk_test_wrong", "cuss_secret_wrong"] {
                    let refused = try await Self.ask(server, id, as: key, holding: "*")
                    #expect(refused.status == (key == TestServer.publishableKey ? 403 : 401))
                    #expect(refused.headers[.eTag] == nil)
                }
            }
            let unknown = try await Self.ask(server, "nobody", holding: "*")
            #expect(unknown.status == 404 && unknown.headers[.eTag] == nil)
            for (index, id) in ids.enumerated() {
                let others = tags.enumerated().filter { $0.offset / 2 != index }.map(\.element)
                let asked = try await Self.ask(
                    server,
                    id,
                    as: sessions[index],
                    holding: others.joined(separator: ",")
                )
                #expect(asked.status == 200)
            }
        }
    }

    @Test(
        "A signed answer is signed anew each hour, and by the key that signs",
        arguments: Backend.allCases
    )
    func signed(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            _ = try await server.post("/v1/customers/\(id)/grants", "{\"lookup_key\":\"pro\"}")
            func ask(_ tag: String? = nil) async throws -> Answer {
                // Sessions last half an hour.
                let session = try await server.session(of: id)
                return try await Self.ask(server, id, as: session, holding: tag)
            }
            func issued(_ answer: Answer) throws -> Int64 {
                let compact = try #require(answer.json["signed_answer"].string)
                let token = try #require(JSONWebToken(compact: compact))
                return try APIJSON.decode(API.SignedAnswer.self, from: token.payload).iat
            }
            let hour: Int64 = 3600
            let untilNext = hour - TestServer.start / 1000 % hour
            let first = try await ask()
            let tag = try #require(first.headers[.eTag])
            #expect(try issued(first) == TestServer.start / 1000)
            server.wall.advance(seconds: untilNext - 1)
            #expect(try await ask(tag).status == 304)
            server.wall.advance(seconds: 1)
            let second = try await ask(tag)
            #expect(second.status == 200)
            #expect(try issued(second) == TestServer.start / 1000 + untilNext)
            let newer = try #require(second.headers[.eTag])
            #expect(try await ask(newer).status == 304)

            // The tag of an answer without a token is another one.
            let unsigned = try await Self.ask(server, id)
            #expect(unsigned.headers[.eTag] != newer)
            #expect(try await Self.ask(server, id, holding: newer).status == 200)

            // A key that was stolen: what it signed is worth nothing, also to who holds it.
            _ = try await server.post("/v1/signing_keys/rotate", "{\"forget_former\":true}")
            #expect(try await ask(newer).status == 304)
            server.wall.advance(seconds: 60)
            let last = try await ask(newer)
            #expect(last.status == 200 && last.headers[.eTag] != newer)
        }
    }

    @Test(
        "A tag is found in what a client shows, by the weak comparison",
        arguments: [
            ("W/\"a\"", true), ("\"a\"", true), (" \"b\" , W/\"a\"\t", true), ("*", true),
            (" * ", true), ("", false), ("a", false), ("W/a", false), ("W/W/\"a\"", false),
            ("\"a", false), ("w/\"a\"", false), ("\"a\"\"a\"", false), ("\"A\"", false),
            (", ,", false), ("W/", false), ("\"*\"", false),
        ]
    )
    func weak(_ shown: String, _ isHeld: Bool) {
        #expect(([.ifNoneMatch: shown] as HTTPFields).showTag("W/\"a\"") == isHeld)
        #expect(!([:] as HTTPFields).showTag("W/\"a\""))
        var twice: HTTPFields = [.ifNoneMatch: "\"b\""]
        twice.append(HTTPField(name: .ifNoneMatch, value: shown))
        #expect(twice.showTag("W/\"a\"") == isHeld)
    }
}
