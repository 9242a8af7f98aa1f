import Crypto
import Foundation
import HTTPTypes
import Storage
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// D5: somebody has a copy of the database, and not the secret key.
@Suite("A stolen database")
struct StolenDatabaseTests {
    /// Keys that people choose when they are asked for an `Idempotency-Key`.
    private static let guesses = ["1", "order-1", "user-1", "session:user-1", "rotate"]

    @Test("It tells no secret, also to who guesses each key", arguments: Backend.allCases)
    func tellsNothing(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let secrets = try await secrets(of: server)
            #expect(secrets.count == 6)
            let driver = server.tollgate.store.driver
            let database = try await WholeDatabase(driver)
            for secret in secrets {
                let core = String(secret.split(separator: "_").last ?? "")
                #expect(core.utf8.count >= 24, "\(secret)")
                #expect(database.tables(with: core) == [], "\(secret)")
            }
            let replies = try await driver.read { connection in
                try connection.query("SELECT reply FROM idempotency").map { try $0.bytes(0) }
            }
            #expect(replies.count == 6)
            let values = database.values.flatMap(\.readings)
            for key in try await keys(of: server) {
                for sealed in replies + values {
                    guard let box = try? ChaChaPoly.SealedBox(combined: sealed) else { continue }
                    #expect((try? ChaChaPoly.open(box, using: key)) == nil)
                }
            }
            for sealing in (Self.guesses + ["", "tollgate"]).map({ SealingKeys([$0]) }) {
                for purpose in ["reply", "webhook", "signing keys", "answer keys", ""] {
                    for sealed in values {
                        #expect((try? sealing.open(sealed, as: purpose)) == nil)
                    }
                }
            }
        }
    }

    @Test("What is kept of sessions, links and staff opens nothing", arguments: Backend.allCases)
    func opensNothing(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            _ = try await secrets(of: server)
            let kept = try await WholeDatabase(server.tollgate.store.driver).values
                .filter {
                    ["session", "idempotency", "meta", "webhook_endpoint"].contains($0.table)
                }
                .flatMap(\.readings)
            #expect(kept.count > 10)
            for bytes in kept {
                let hex = bytes.prefix(64).map { byte in
                    (byte < 16 ? "0" : "") + String(byte, radix: 16)
                }.joined()
                for secret in ["cuss_secret_\(hex)", "sk_test_\(hex)", "pk_test_\(hex)", hex] {
                    let answer = try await server.get("/v1/consents", as: secret)
                    #expect(answer.status == 401)
                }
                var browser = server.browser
                #expect(try await browser.send("/portal?token=ptok_\(hex)").status == 401)
                browser.cookie = "tollgate_portal=portal_\(hex)"
                #expect(try await browser.send("/portal").status == 401)
            }
        }
    }

    @Test("After the secret key was changed, a kept reply is given again under the former one")
    func rotation() throws {
        // A command without the secret key seals nothing.
        #expect(throws: SealingError.self) { try SealingKeys([""]).seal([1], as: "reply") }
        let before = SealingKeys(["sk_live_former"])
        let after = SealingKeys(["sk_live_new", "sk_live_former"])
        let sealed = try before.seal([1, 2, 3], as: "reply")
        #expect(try after.open(sealed, as: "reply").bytes == [1, 2, 3])
        #expect(throws: SealingError.self) {
            try SealingKeys(["sk_live_new"]).open(sealed, as: "reply")
        }
    }

    @Test("Signing keys are sealed too", arguments: Backend.allCases)
    func signingKeys(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let key = "sk_live_0123456789abcdef0123456789abcdef"
        _ = try await AnswerSigner(keptIn: driver, sealing: SealingKeys([key]))
        for guess in Self.guesses + ["", "sk_live_0123456789abcdef"] {
            await #expect(throws: SealingError.self) {
                try await AnswerSigner(keptIn: driver, sealing: SealingKeys([guess]))
            }
        }
        let kept = try await WholeDatabase(driver)
        for word in ["PRIVATE KEY", "\"private", "\"d\":"] {
            #expect(kept.tables(with: word) == [])
        }
        await driver.close()
    }

    /// Does everything that answers with a secret, under keys that can be guessed.
    private func secrets(of server: TestServer) async throws -> [String] {
        let guesses = Self.guesses
        let id = try await server.customer()
        let components = """
            {"buy_button":{"enabled":true},"customer_portal":{"enabled":true}}
            """
        var secrets: [String] = []
        for key in [guesses[1], guesses[3]] {
            let made = try await server.post(
                "/v1/customer_sessions",
                "{\"customer\":\"\(id)\",\"components\":\(components)}",
                idempotencyKey: key
            )
            secrets.append(try #require(made.json["client_secret"].string))
        }
        let endpoint = try await server.post(
            "/v1/webhook_endpoints",
            "{\"url\":\"\(WebhookDeliveryTests.hook)\"}",
            idempotencyKey: guesses[0]
        )
        secrets.append(try #require(endpoint.json["secret"].string))
        let rotated = try await server.post(
            "/v1/webhook_endpoints/\(endpoint.json["id"].string ?? "")/rotate_secret",
            idempotencyKey: guesses[4]
        )
        secrets.append(try #require(rotated.json["secret"].string))
        for key in [guesses[0], guesses[2]] {
            let link = try await server.post(
                "/v1/portal_sessions",
                as: secrets[0],
                idempotencyKey: key
            )
            secrets.append(try #require(link.json["url"].string))
        }
        return secrets
    }

    /// Every key that follows from a guess and from what the database itself says.
    private func keys(of server: TestServer) async throws -> [SymmetricKey] {
        let ids = try await server.tollgate.store.driver.read { connection in
            try connection.query("SELECT id FROM profile").map { try $0.text(0) }
        }
        let callers = ["secret", ""] + ids.map { "customer:\($0)" }
        let texts = callers.flatMap { caller in
            Self.guesses.flatMap { ["tollgate reply \(caller) \($0)", "\(caller)\($0)", $0] }
        }
        return Set(texts).map { SymmetricKey(data: SHA256.hash(data: Array($0.utf8))) }
    }
}
