import AppStoreAPI
import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import SandboxClock
import Synchronization
import Testing

@Suite("Revoked certificates")
struct RevocationTests {
    /// Real time, as responders answer by it.
    final class Wall: Sendable {
        private let instant = Mutex(Int64(Date().timeIntervalSince1970 * 1000))

        var now: Int64 { instant.withLock { $0 } }
        func advance(_ milliseconds: Int64) { instant.withLock { $0 += milliseconds } }
    }

    @Test("A good answer holds a quarter of an hour; no answer is no verdict; revoked is revoked")
    func checks() async throws {
        let clock = VirtualClock(now: 1_780_272_000_000)
        let store = try SimulatedAppStore(
            configuration: .init(
                products: [.init(id: "coins", kind: .consumable, price: 990)],
                ocspURL: "http://ocsp.test/ocsp"
            ),
            clock: clock
        )
        let buyer = try await store.createCustomer()
        let bought = Array(try await store.buy("coins", customer: buyer.id).jws.utf8)
        let verifier = try AppStore.SignedDataVerifier(
            roots: [Array(store.rootDER)],
            bundleID: "com.example.app",
            appAppleID: nil,
            environments: [.sandbox]
        )
        let server = Application(
            router: store.router(),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        try await server.test(.ahc(.http)) { client in
            let wall = Wall()
            let calls = Mutex(0)
            let checks = AppStore.RevocationChecks(
                transport: { request in
                    calls.withLock { $0 += 1 }
                    #expect(request.url == "http://ocsp.test/ocsp")
                    let answer = try await client.executeRequest(
                        uri: "/ocsp",
                        method: .post,
                        headers: [.contentType: "application/ocsp-request"],
                        body: ByteBuffer(bytes: request.body ?? [])
                    )
                    return AppStore.HTTPResponse(
                        status: answer.status.code,
                        body: Array(answer.body.readableBytesView)
                    )
                },
                now: { wall.now }
            )
            func check(_ signed: [UInt8]) async throws {
                try await verifier.checkRevocation(of: signed, by: checks, now: await clock.now)
            }
            func say(_ answer: String) async throws {
                _ = try await client.executeRequest(
                    uri: "/sandbox/ocsp",
                    method: .put,
                    headers: [:],
                    body: ByteBuffer(string: "{\"answer\":\"\(answer)\"}")
                )
            }
            // What is not signed by the root asks nobody.
            await #expect(throws: AppStore.VerificationError.self) {
                try await check(bought.dropLast(4) + Array("AAAA".utf8))
            }
            #expect(calls.withLock { $0 } == 0)

            try await check(bought)
            let asked = calls.withLock { $0 }
            #expect(asked == 2, "leaf and intermediate")
            wall.advance(1_000)
            try await check(bought)
            #expect(calls.withLock { $0 } == asked)
            wall.advance(899_000)
            try await check(bought)
            #expect(calls.withLock { $0 } == 2 * asked)
            wall.advance(900_000)

            try await say("unavailable")
            let unknown = await #expect(throws: AppStore.VerificationError.self) {
                try await check(bought)
            }
            #expect(unknown?.rule == .revocationUnknown && unknown?.isRetryable == true)
            try await say("revoked")
            let revoked = await #expect(throws: AppStore.VerificationError.self) {
                try await check(bought)
            }
            #expect(revoked?.rule == .revoked && revoked?.isRetryable == false)
            try await say("good")
            try await check(bought)
            #expect(await checks.asked == 5)
        }
    }
}
