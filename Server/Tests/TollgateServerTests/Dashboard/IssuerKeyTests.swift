import Foundation
import Synchronization
import Testing
import TollgateCore

@testable import TollgateService

@Suite("Keys of an issuer")
struct IssuerKeyTests {
    @Test("Z3: keys are read again after an hour, and for an unknown name once a minute at most")
    func pace() async throws {
        let asked = Mutex<[String]>([])
        let issuer = "https://login.example.com"
        let client = OpenIDClient(OpenIDSettings(issuer: issuer, clientID: "c")) { request in
            asked.withLock { $0.append(request.url) }
            let body =
                request.url.hasSuffix("/jwks")
                ? "{\"keys\":[]}"
                : """
                {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/a",
                "token_endpoint":"\(issuer)/t","jwks_uri":"\(issuer)/jwks"}
                """
            return (200, Array(body.utf8))
        }
        func reads(at seconds: Int64, fresh: Bool) async throws -> Int {
            let now = Instant(milliseconds: seconds * 1000)
            _ = try await client.keys(at: now, fresh: fresh)
            return asked.withLock { $0.count { $0.hasSuffix("/jwks") } }
        }
        #expect(try await reads(at: 1_000_000, fresh: false) == 1)
        #expect(try await reads(at: 1_000_059, fresh: true) == 1)
        #expect(try await reads(at: 1_000_060, fresh: true) == 2)
        #expect(try await reads(at: 1_003_659, fresh: false) == 2)
        #expect(try await reads(at: 1_003_660, fresh: false) == 3)
        // A clock that was set back reads at once.
        #expect(try await reads(at: 900_000, fresh: false) == 4)
    }

    @Test(
        "Z3: an issuer that calls itself otherwise, or leads elsewhere without TLS, is refused",
        arguments: [
            "{\"issuer\":\"https://evil.example\"}", "[]", "{}",
            """
            {"issuer":"https://login.example.com","authorization_endpoint":"http://evil.example",
            "token_endpoint":"https://login.example.com/t","jwks_uri":"https://login.example.com/j"}
            """,
        ]
    )
    func discovery(_ body: String) async throws {
        let client = OpenIDClient(
            OpenIDSettings(issuer: "https://login.example.com", clientID: "c")
        ) { _ in (200, Array(body.utf8)) }
        await #expect(throws: OpenIDClient.Failure.self) {
            try await client.provider(at: Instant(milliseconds: 0))
        }
    }
}
