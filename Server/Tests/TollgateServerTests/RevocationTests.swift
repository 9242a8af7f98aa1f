import AcceptedConnections
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

    /// A store whose certificates name a responder, and something that it has signed.
    private struct Store {
        let clock = VirtualClock(now: 1_780_272_000_000)
        let bought: [UInt8]
        let verifier: AppStore.SignedDataVerifier
        private let router: Router<BasicRequestContext>

        init() async throws {
            let store = try SimulatedAppStore(
                configuration: .init(
                    products: [.init(id: "coins", kind: .consumable, price: 990)],
                    ocspURL: "http://ocsp.test/ocsp"
                ),
                clock: clock
            )
            let buyer = try await store.createCustomer()
            bought = Array(try await store.buy("coins", customer: buyer.id).jws.utf8)
            verifier = try AppStore.SignedDataVerifier(
                roots: [Array(store.rootDER)],
                bundleID: "com.example.app",
                appAppleID: nil,
                environments: [.sandbox]
            )
            router = store.router()
        }

        /// Serves the responder, among the rest.
        var server: some ApplicationProtocol {
            Application(
                router: router,
                server: .http1UntilEnded,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
        }
    }

    @Test(
        "J7: a good answer holds a quarter of an hour; no answer is no verdict; revoked is revoked"
    )
    func checks() async throws {
        let store = try await Store()
        let (clock, bought, verifier) = (store.clock, store.bought, store.verifier)
        try await store.server.test(.ahc(.http)) { client in
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

    /// Certificates of one app's store, something that they signed, and who answers for them.
    private struct Signed {
        let authority: Data
        let rootDER: Data
        let jws: [UInt8]
        let store: InProcessServerAPI

        /// - Parameter sibling: one whose root and intermediate are the same.
        init(_ name: String, clock: VirtualClock, sibling: Signed? = nil) async throws {
            authority = try SimulatedAppStore.makeAuthority(
                ocspURL: "http://ocsp.test/\(name)",
                replacingLeafOf: sibling?.authority
            )
            let appStore = try SimulatedAppStore(
                configuration: .init(
                    products: [.init(id: "coins", kind: .consumable, price: 990)],
                    authority: authority
                ),
                clock: clock
            )
            let buyer = try await appStore.createCustomer()
            rootDER = appStore.rootDER
            jws = Array(try await appStore.buy("coins", customer: buyer.id).jws.utf8)
            store = InProcessServerAPI(appStore)
        }
    }

    /// The network between a server and the responders.
    private static func checks(of all: [String: Signed], now: Int64) -> AppStore.RevocationChecks {
        AppStore.RevocationChecks(
            transport: { request in
                let name = String(request.url.dropFirst("http://ocsp.test/".count))
                guard let signed = all[name] else { throw CancellationError() }
                let answer = await signed.store.exchange(
                    method: "POST",
                    path: "/ocsp",
                    headers: ["content-type": "application/ocsp-request"],
                    body: request.body ?? []
                )
                return AppStore.HTTPResponse(status: answer.status, body: answer.body)
            },
            now: { now }
        )
    }

    private static func verifier(of all: [Signed]) throws -> AppStore.SignedDataVerifier {
        try AppStore.SignedDataVerifier(
            roots: Set(all.map(\.rootDER)).map { Array($0) },
            bundleID: "com.example.app",
            appAppleID: nil,
            environments: [.sandbox],
            maximumNewChainsPerSecond: all.count
        )
    }

    @Test(
        "A good answer is one chain's: another one is asked about, however like it is",
        arguments: ["of another root", "of the same intermediate"]
    )
    func otherChains(_ likeness: String) async throws {
        let clock = VirtualClock(now: 1_780_272_000_000)
        let first = try await Signed("first", clock: clock)
        let other = try await Signed(
            "other",
            clock: clock,
            sibling: likeness == "of another root" ? nil : first
        )
        #expect((first.rootDER == other.rootDER) == (likeness != "of another root"))
        let verifier = try Self.verifier(of: [first, other])
        let checks = Self.checks(
            of: ["first": first, "other": other],
            now: Int64(Date().timeIntervalSince1970 * 1000)
        )
        for _ in 0..<2 {
            try await verifier.checkRevocation(of: first.jws, by: checks, now: await clock.now)
            #expect(await checks.asked == 1)
        }
        for _ in 0..<2 {
            try await verifier.checkRevocation(of: other.jws, by: checks, now: await clock.now)
            #expect(await checks.asked == 2)
        }
        try await verifier.checkRevocation(of: first.jws, by: checks, now: await clock.now)
        #expect(await checks.asked == 2, "both are remembered, side by side")
    }

    @Test("32 chains are remembered; one more takes the place of the oldest")
    func capacity() async throws {
        let clock = VirtualClock(now: 1_780_272_000_000)
        var all = [try await Signed("0", clock: clock)]
        for number in 1...32 {
            all.append(try await Signed("\(number)", clock: clock, sibling: all[0]))
        }
        let verifier = try Self.verifier(of: all)
        let checks = Self.checks(
            of: Dictionary(uniqueKeysWithValues: all.enumerated().map { ("\($0)", $1) }),
            now: Int64(Date().timeIntervalSince1970 * 1000)
        )
        let now = await clock.now
        func check(_ chains: ArraySlice<Signed>) async throws {
            for signed in chains {
                try await verifier.checkRevocation(of: signed.jws, by: checks, now: now)
            }
        }
        for _ in 0..<2 {
            try await check(all[..<32])
            #expect(await checks.asked == 32)
        }
        try await check(all[32...])
        #expect(await checks.asked == 33)
        try await check(all[1...])
        #expect(await checks.asked == 33)
        try await check(all[..<1])
        #expect(await checks.asked == 34)
    }

    @Test("One chain that many ask about at once is remembered once, and drives none other out")
    func askedAtOnce() async throws {
        let clock = VirtualClock(now: 1_780_272_000_000)
        let other = try await Signed("other", clock: clock)
        let busy = try await Signed("busy", clock: clock)
        let verifier = try Self.verifier(of: [other, busy])
        let checks = Self.checks(
            of: ["other": other, "busy": busy],
            now: Int64(Date().timeIntervalSince1970 * 1000)
        )
        let now = await clock.now
        try await verifier.checkRevocation(of: other.jws, by: checks, now: now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await verifier.checkRevocation(of: busy.jws, by: checks, now: now)
                }
            }
            try await group.waitForAll()
        }
        let asked = await checks.asked
        try await verifier.checkRevocation(of: other.jws, by: checks, now: now)
        #expect(await checks.asked == asked)
    }

    /// What a network may make of a good answer.
    static let forgeries:
        [(name: String, change: @Sendable (AppStore.HTTPResponse) throws -> AppStore.HTTPResponse)] =
            [
                (
                    "one bit of its signature",
                    { response in
                        var forged = response
                        if let last = forged.body.indices.last { forged.body[last] ^= 1 }
                        return forged
                    }
                ),
                (
                    "one bit of what it says",
                    { response in
                        var forged = response
                        forged.body[forged.body.count / 3] ^= 1
                        return forged
                    }
                ),
                (
                    "half of it",
                    {
                        AppStore.HTTPResponse(
                            status: 200,
                            body: Array($0.body.prefix($0.body.count / 2))
                        )
                    }
                ),
                ("nothing", { _ in AppStore.HTTPResponse(status: 200, body: []) }),
                ("a page", { _ in AppStore.HTTPResponse(status: 200, body: Array("<html>".utf8)) }),
                (
                    "try later",
                    { _ in AppStore.HTTPResponse(status: 200, body: [0x30, 3, 0x0A, 1, 3]) }
                ),
                ("a redirect", { _ in AppStore.HTTPResponse(status: 302, body: []) }),
                ("too slow", { _ in throw CancellationError() }),
            ]

    @Test("J7: what is no answer of the issuer's is no verdict, and may be asked again")
    func forgeries() async throws {
        let store = try await Store()
        let (clock, bought, verifier) = (store.clock, store.bought, store.verifier)
        try await store.server.test(.ahc(.http)) { client in
            func checks(
                _ change:
                    @escaping @Sendable (AppStore.HTTPResponse) throws -> AppStore.HTTPResponse
            ) -> AppStore.RevocationChecks {
                AppStore.RevocationChecks(
                    transport: { request in
                        let answer = try await client.executeRequest(
                            uri: "/ocsp",
                            method: .post,
                            headers: [.contentType: "application/ocsp-request"],
                            body: ByteBuffer(bytes: request.body ?? [])
                        )
                        return try change(
                            AppStore.HTTPResponse(
                                status: answer.status.code,
                                body: Array(answer.body.readableBytesView)
                            )
                        )
                    },
                    now: { Int64(Date().timeIntervalSince1970 * 1000) }
                )
            }
            let now = await clock.now
            try await verifier.checkRevocation(of: bought, by: checks { $0 }, now: now)
            for (name, change) in Self.forgeries {
                let error = await #expect(throws: AppStore.VerificationError.self, "\(name)") {
                    try await verifier.checkRevocation(of: bought, by: checks(change), now: now)
                }
                #expect(error?.rule == .revocationUnknown && error?.isRetryable == true, "\(name)")
            }
        }
    }
}
