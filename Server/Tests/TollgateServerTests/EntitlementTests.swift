import SandboxClock
import HTTPTypes
import AppStoreSimulator
import Crypto
import Foundation
import Testing
import TollgateAPI
import TollgateService
import TollgateSimulation

@Suite("Entitlements")
struct EntitlementTests {
    private static let day: Int64 = 86_400_000

    @Test("What the App Store sold is there at once, and explained", arguments: Backend.allCases)
    func afterAPurchase(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let token = UUID()
            let id = try await server.customer(token: token)
            let path = "/v1/customers/\(id)/entitlements"
            #expect(try await server.get(path).json["data"] == .array([]))
            let no = try await server.get("/v1/customers/\(id)/explain?lookup_key=pro")
            #expect(no.json["entitled"].bool == false)

            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: buyer.id,
                appAccountToken: token.uuidString.lowercased()
            )
            #expect(try await server.deliverNewestNotification().status == 200)

            let list = try await server.get(path)
            let pro = list.json["data"][0]
            #expect(list.json["data"].array?.count == 1)
            #expect(list.json["environment"].string == "sandbox")
            #expect(pro["lookup_key"].string == "pro")
            #expect(pro["ground"].string == "payment")
            #expect(pro["since"].integer == TestServer.start)
            #expect((pro["until"].integer ?? 0) >= TestServer.start + 30 * Self.day)
            #expect(list.json["signed_answer"] == .null)

            let yes = try await server.get("/v1/customers/\(id)/explain?lookup_key=pro")
            #expect(yes.json["entitled"].bool == true)
            #expect(yes.json["ground"].string == "payment")
            #expect(yes.json["facts"].array?.contains { $0["decides"].bool == true } == true)
        }
    }

    @Test(
        "The answer that needs no waiting is the one that the route gives",
        arguments: Backend.allCases
    )
    func atOnce(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let token = UUID()
            let id = try await server.customer(token: token)
            let session = try await server.session(of: id)
            let path = "/v1/customers/\(id)/entitlements"
            // A question with a query is the route's.
            let routed = path + "?environment=sandbox"
            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: buyer.id,
                appAccountToken: token.uuidString.lowercased()
            )
            _ = try await server.deliverNewestNotification()

            let answer = try server.tollgate.entitlements.answerAtOnce(of: id)
            #expect((answer != nil) == (backend == .sqlite))
            for key in [TestServer.secretKey, session] {
                let atOnce = try await server.get(path, as: key)
                let route = try await server.get(routed, as: key)
                #expect(atOnce.status == 200)
                #expect(atOnce.json["data"] == route.json["data"])
                #expect(atOnce.json["at"] == route.json["at"])
                #expect((atOnce.json["signed_answer"] == .null) == (key == TestServer.secretKey))
                #expect(atOnce.headerNames == route.headerNames)
                #expect(atOnce.headerNames.isSuperset(of: ["date", "server", "content-length"]))
            }
            // What is refused is refused by the route.
            #expect(try await server.get(path, as: TestServer.publishableKey).status == 403)
            #expect(try await server.get(path, as: "sk_test_wrong").status == 401)
            let other = try await server.customer("user-2")
            let stranger = try await server.session(of: other)
            #expect(try await server.get(path, as: stranger).status == 404)
            server.wall.advance(seconds: 86_400)
            #expect(try await server.get(path, as: session).status == 401)
            _ = try await server.tollgate.sessions.revoke(stranger)
            #expect(try await server.get(path, as: stranger).status == 401)
        }
    }

    @Test("The question may be about another instant")
    func atAnotherInstant() async throws {
        try await TestServer.run { server in
            let token = UUID()
            let id = try await server.customer(token: token)
            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: buyer.id,
                appAccountToken: token.uuidString.lowercased()
            )
            _ = try await server.deliverNewestNotification()
            let path = "/v1/customers/\(id)/entitlements"
            for (at, count) in [
                (TestServer.start - 1, 0), (TestServer.start, 1),
                (TestServer.start + 400 * Self.day, 0),
            ] {
                let answer = try await server.get("\(path)?at=\(at)")
                #expect(answer.json["data"].array?.count == count)
                #expect(answer.json["at"].integer == at)
                let explained = try await server.get(
                    "/v1/customers/\(id)/explain?lookup_key=pro&at=\(at)"
                )
                #expect(explained.json["entitled"].bool == (count == 1))
            }
            let before = try await server.get(
                "/v1/customers/\(id)/explain?lookup_key=pro&known=0"
            )
            #expect(before.json["entitled"].bool == false)
        }
    }

    @Test(
        "A time that is none, and an environment that is none, are refused",
        arguments: ["at=now", "at=1.5", "at=", "at=99999999999999999999", "environment=xcode"]
    )
    func wrongQueries(_ query: String) async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let answer = try await server.get("/v1/customers/\(id)/entitlements?\(query)")
            #expect(answer.status == 400 && answer.code == "parameter_invalid")
        }
    }

    @Test("To explain needs to know what")
    func explainWithoutLookupKey() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let answer = try await server.get("/v1/customers/\(id)/explain")
            #expect(answer.status == 400 && answer.code == "parameter_missing")
            #expect(answer.json["error"]["param"].string == "lookup_key")
        }
    }

    @Test(
        "A gift gives access until it ends, and is given once for each key",
        arguments: Backend.allCases
    )
    func grants(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let path = "/v1/customers/\(id)/grants"
            let until = TestServer.start + Self.day
            let body = "{\"lookup_key\":\"pro\",\"until\":\(until)}"
            let grant = try await server.post(path, body, idempotencyKey: "gift")
            #expect(grant.status == 201)
            await server.clock.advance(to: TestServer.start + 1000)
            let again = try await server.post(path, body, idempotencyKey: "gift")
            #expect(again.json == grant.json)
            let other = try await server.post(
                path,
                "{\"lookup_key\":\"archive\"}",
                idempotencyKey: "gift"
            )
            #expect(other.status == 409 && other.code == "idempotency_mismatch")

            let list = try await server.get("/v1/customers/\(id)/entitlements")
            #expect(list.json["data"].array?.map { $0["lookup_key"].string } == ["pro"])
            #expect(list.json["data"][0]["ground"].string == "grant")
            #expect(list.json["data"][0]["until"].integer == until)
            let after = try await server.get("/v1/customers/\(id)/entitlements?at=\(until)")
            #expect(after.json["data"] == .array([]))

            let unknown = try await server.post(path, "{\"lookup_key\":\"gold\"}")
            #expect(unknown.status == 400 && unknown.code == "parameter_invalid")
            let past = try await server.post(path, "{\"lookup_key\":\"pro\",\"until\":1}")
            #expect(past.status == 400 && past.json["error"]["param"].string == "until")
        }
    }

    @Test("The answer to a session is signed by the key that the key set shows")
    func signedAnswer() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            _ = try await server.post("/v1/customers/\(id)/grants", "{\"lookup_key\":\"pro\"}")
            let session = try await server.session(of: id)
            let answer = try await server.get("/v1/customers/\(id)/entitlements", as: session)
            let compact = try #require(answer.json["signed_answer"].string)
            let token = try #require(JSONWebToken(compact: compact))
            let keys = try await server.get("/.well-known/jwks.json", as: nil)
            let set = try APIJSON.decode(JSONWebKeySet.self, from: Data(keys.bytes))
            let point = try #require(set[token.header.kid ?? ""]?.x963Representation)
            let key = try P256.Signing.PublicKey(x963Representation: point)
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: token.signature)
            #expect(token.header.alg == "ES256")
            #expect(key.isValidSignature(signature, for: token.signingInput))

            let claims = try APIJSON.decode(API.SignedAnswer.self, from: token.payload)
            #expect(claims.sub == id)
            #expect(claims.environment == .sandbox)
            #expect(claims.iat == TestServer.start / 1000)
            #expect(claims.exp > claims.iat)
            #expect(claims.active(at: TestServer.start) == ["pro"])
        }
    }
}
