import Crypto
import Foundation
import Logging
import Storage
import Stores
import Synchronization
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// K2: the key that signs answers is changed while devices go on trusting what it signed.
@Suite("Signing keys that change")
struct SigningKeyTests {
    /// The key set as the server publishes it, and whether it verifies `compact`.
    private static func verifies(_ compact: String, _ server: TestServer) async throws -> Bool {
        let token = try #require(JSONWebToken(compact: compact))
        let answer = try await server.get("/.well-known/jwks.json", as: nil)
        let set = try APIJSON.decode(JSONWebKeySet.self, from: Data(answer.bytes))
        guard let point = set[token.header.kid ?? ""]?.x963Representation else { return false }
        let key = try P256.Signing.PublicKey(x963Representation: point)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: token.signature)
        return key.isValidSignature(signature, for: token.signingInput)
    }

    private static func keyID(_ compact: String) -> String? {
        JSONWebToken(compact: compact)?.header.kid
    }

    private static func answer(of customer: String, _ server: TestServer) async throws -> String {
        let session = try await server.session(of: customer)
        let list = try await server.get("/v1/customers/\(customer)/entitlements", as: session)
        return try #require(list.json["signed_answer"].string)
    }

    private static func statuses(_ server: TestServer) async throws -> [String?] {
        let list = try await server.get("/v1/signing_keys")
        #expect(list.status == 200)
        return (list.json["data"].array ?? []).map { $0["status"].string }
    }

    @Test(
        "K2: what was signed before a change of keys verifies until it has ended",
        arguments: Backend.allCases
    )
    func rotation(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let customer = try await server.customer()
            let before = try await Self.answer(of: customer, server)
            #expect(try await Self.statuses(server) == ["signing"])

            let rotated = try await server.post("/v1/signing_keys/rotate")
            #expect(rotated.status == 200)
            #expect(rotated.json["data"].array?.count == 2)
            #expect(try await Self.statuses(server) == ["signing", "next"])
            // Shown, so that every app has it by then, but not yet used.
            let meanwhile = try await Self.answer(of: customer, server)
            #expect(Self.keyID(meanwhile) == Self.keyID(before))
            // A second order while the first is under way makes no third key.
            #expect(
                try await server.post("/v1/signing_keys/rotate").json["data"].array?.count == 2
            )

            server.wall.advance(seconds: 86_400 - 1)
            let last = try await Self.answer(of: customer, server)
            #expect(Self.keyID(last) == Self.keyID(before))
            server.wall.advance(seconds: 1)
            let after = try await Self.answer(of: customer, server)
            #expect(Self.keyID(after) != Self.keyID(before))
            #expect(try await Self.statuses(server) == ["former", "signing"])
            for compact in [before, meanwhile, last, after] {
                #expect(try await Self.verifies(compact, server))
            }
            let slice = try await server.get("/v1/catalog", as: TestServer.publishableKey)
            #expect(
                Self.keyID(try #require(slice.json["signed_catalog"].string)) == Self.keyID(after)
            )

            // The longest life of anything signed is thirty days, of a slice of the catalog.
            server.wall.advance(seconds: 30 * 86_400)
            #expect(try await Self.verifies(last, server))
            server.wall.advance(seconds: 3600)
            #expect(try await !Self.verifies(last, server))
            #expect(try await Self.verifies(after, server))
            #expect(try await Self.statuses(server) == ["signing"])
        }
    }

    @Test(
        "K2: a stolen key is worth nothing a minute after it is forgotten",
        arguments: Backend.allCases
    )
    func forgetting(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let customer = try await server.customer()
            let before = try await Self.answer(of: customer, server)
            // A change in good order was under way when the theft was noticed. Its key lay beside the
            // stolen one, and is dropped too.
            let planned = try await server.post("/v1/signing_keys/rotate")
            let shown = planned.json["data"].array ?? []
            let pending = try #require(shown.first { $0["status"].string == "next" }?["id"].string)
            let rotated = try await server.post(
                "/v1/signing_keys/rotate",
                "{\"forget_former\":true}"
            )
            #expect(rotated.status == 200 && rotated.json["data"].array?.count == 2)
            #expect(try await Self.verifies(before, server))
            server.wall.advance(seconds: 60)
            let after = try await Self.answer(of: customer, server)
            #expect(Self.keyID(after) != Self.keyID(before))
            #expect(Self.keyID(after) != pending)
            #expect(try await !Self.verifies(before, server))
            #expect(try await Self.verifies(after, server))
        }
    }

    @Test(
        "K2: whoever forgets once more within the minute makes no answer that nobody can verify",
        arguments: Backend.allCases
    )
    func forgettingAgain(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let customer = try await server.customer()
            let stolen = Self.keyID(try await Self.answer(of: customer, server))
            var signers: [String?] = []
            for second in 0...150 {
                // The key that the first order made has signed nothing when the second one comes.
                if second == 0 || second == 30 {
                    let rotated = try await server.post(
                        "/v1/signing_keys/rotate",
                        "{\"forget_former\":true}"
                    )
                    #expect(rotated.status == 200 && rotated.json["data"].array?.count == 2)
                }
                if second.isMultiple(of: 10) {
                    let answer = try await Self.answer(of: customer, server)
                    #expect(try await Self.verifies(answer, server), "after \(second) s")
                    signers.append(Self.keyID(answer))
                }
                server.wall.advance(seconds: 1)
            }
            // The stolen one signs until a minute after the last order, and is worth nothing then.
            #expect(signers.prefix(9).allSatisfy { $0 == stolen })
            #expect(Set(signers.dropFirst(9)).count == 1 && signers.last != stolen)
            #expect(try await Self.statuses(server) == ["signing"])
        }
    }

    private static let start = Instant(milliseconds: TestServer.start)
    private static func later(_ seconds: Int64) -> Instant {
        Instant(milliseconds: TestServer.start + seconds * 1000)
    }

    @Test("Who changes the key over HTTP stands in the audit log, once for each change")
    func audited() async throws {
        try await TestServer.run { server in
            for _ in 0..<2 {
                let answer = try await server.post(
                    "/v1/signing_keys/rotate",
                    "{\"forget_former\":true}",
                    idempotencyKey: "stolen"
                )
                #expect(answer.status == 200)
            }
            #expect(
                try await server.post("/v1/signing_keys/rotate", "{\"at_once\":7}").status == 400
            )
            let entries = try await server.tollgate.store.audit.entries(
                subject: "signing_keys",
                actor: nil,
                limit: 10
            )
            #expect(entries.map(\.action) == ["signing_keys.rotate"])
            #expect(entries.map(\.actor) == ["secret key"])
            #expect(entries.map(\.detail) == ["former keys forgotten"])
            #expect(entries.map(\.outcome) == ["done"])
        }
    }

    /// An application around a signer, and nothing else.
    private static func application(
        _ store: RecordStore,
        _ signer: AnswerSigner,
        _ now: @escaping @Sendable () -> Instant
    ) -> Tollgate {
        Tollgate(
            configuration: Configuration(
                secretKey: "sk_test_a",
                publishableKey: "pk_test_a",
                publicURL: "",
                defaultEnvironment: .sandbox
            ),
            store: store,
            appStore: nil,
            stripe: nil,
            clocks: .init(now: now, wall: now),
            randomBytes: { Array(repeating: 0, count: $0) },
            signer: signer,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    @Test("Many who ask for the key set at once are one read, and so is a read that fails")
    func oneReader() async throws {
        let driver = WatchedReads(try await Backend.sqlite.open())
        let wall = TestClock(TestServer.start)
        let signer = try await AnswerSigner(keptIn: driver)
        let tollgate = Self.application(try await RecordStore(driver), signer) { wall.now }
        func asked(_ times: Int) async -> Int {
            let before = driver.reads
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<times {
                    group.addTask { await tollgate.signingKeys.keySet().keys.count }
                }
                for await count in group { #expect(count == 1) }
            }
            return driver.reads - before
        }
        #expect(await asked(50) == 1)
        wall.advance(seconds: 5)
        driver.isFailing = true
        #expect(await asked(50) == 1)
        wall.advance(seconds: 4)
        #expect(await asked(1) == 0)
        wall.advance(seconds: 1)
        driver.isFailing = false
        #expect(await asked(50) == 1)
        await driver.close()
    }

    @Test("What was read before a stolen key was forgotten does not bring it back")
    func overtaken() async throws {
        let driver = WatchedReads(try await Backend.sqlite.open())
        let signer = try await AnswerSigner(keptIn: driver)
        let tollgate = Self.application(try await RecordStore(driver), signer) { Self.start }
        let stolen = try #require(signer.keySet(at: Self.start).keys.first?.kid)
        let (reads, begun) = AsyncStream.makeStream(of: Void.self)
        let (ends, mayEnd) = AsyncStream.makeStream(of: Void.self)
        // It has what the database had, and takes its time to come back with it.
        driver.holdNext {
            begun.finish()
            for await _ in ends {}
        }
        async let slow: Void = signer.refresh(at: Self.start)
        for await _ in reads {}
        _ = try await tollgate.signingKeys.rotate(.init(forgetFormer: true))
        mayEnd.finish()
        try await slow
        let soon = Self.later(60)
        #expect(signer.keySet(at: soon).keys.count == 1)
        #expect(!signer.keySet(at: soon).keys.contains { $0.kid == stolen })
        #expect(Self.keyID(try signer.sign(["a": "b"], at: soon)) != stolen)
        await driver.close()
    }

    @Test(
        "The key set that is published is read again after some seconds, not for everybody who asks",
        arguments: Backend.allCases
    )
    func published(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let store = try await RecordStore(driver)
        let wall = TestClock(TestServer.start)
        func application() async throws -> Tollgate {
            Self.application(store, try await AnswerSigner(keptIn: driver)) { wall.now }
        }
        let one = try await application()
        let other = try await application()
        #expect(await one.signingKeys.keySet().keys.count == 1)
        _ = try await other.signingKeys.rotate(.init(atOnce: true))
        // Who made the key shows it at once; the other one before it can sign anything.
        #expect(await other.signingKeys.keySet().keys.count == 2)
        wall.advance(seconds: 4)
        #expect(await one.signingKeys.keySet().keys.count == 1)
        wall.advance(seconds: 1)
        #expect(await one.signingKeys.keySet() == other.signingKeys.keySet())
        #expect(await one.signingKeys.keySet().keys.count == 2)
        await driver.close()
    }

    @Test(
        "Servers that start together on an empty database have one key",
        arguments: Backend.allCases
    )
    func startingTogether(_ backend: Backend) async throws {
        let driver = try await backend.open()
        _ = try await RecordStore(driver)
        let sets = try await withThrowingTaskGroup(of: JSONWebKeySet.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await AnswerSigner(keptIn: driver, sealing: SealingKeys(["sk_test_a"]))
                        .keySet(at: Self.start)
                }
            }
            return try await group.reduce(into: Set<JSONWebKeySet>()) { $0.insert($1) }
        }
        #expect(sets.count == 1)
        #expect(sets.first?.keys.count == 1)
        await driver.close()
    }

    @Test(
        "A key that one server makes is the other's a minute later, and a restart keeps it",
        arguments: Backend.allCases
    )
    func twoServers(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let store = try await RecordStore(driver)
        let signers = [
            try await AnswerSigner(keptIn: driver), try await AnswerSigner(keptIn: driver),
        ]
        let tollgate = Self.application(store, signers[0]) { Self.start }
        _ = try await tollgate.signingKeys.rotate(.init(atOnce: true))
        #expect(signers[1].keySet(at: Self.start).keys.count == 1)
        try await signers[1].refresh(at: Self.later(20))
        #expect(signers[1].keySet(at: Self.later(20)) == signers[0].keySet(at: Self.later(20)))
        func keyID(_ signer: AnswerSigner, _ at: Instant) throws -> String? {
            Self.keyID(try signer.sign(["a": "b"], at: at))
        }
        let restarted = try await AnswerSigner(keptIn: driver)
        for signer in signers + [restarted] {
            #expect(try keyID(signer, Self.later(59)) == keyID(signers[0], Self.start))
            #expect(try keyID(signer, Self.later(60)) == keyID(signers[0], Self.later(60)))
            #expect(try keyID(signer, Self.later(59)) != keyID(signer, Self.later(60)))
        }
        // What signs no more is kept by its public side only.
        try await signers[1].refresh(at: Self.later(7200))
        let kept = try await driver.readNow(
            "SELECT value FROM meta WHERE name = $1",
            [.text("answer_key")]
        )
        let text = String(decoding: try #require(kept.first).bytes(0), as: UTF8.self)
        #expect(text.components(separatedBy: "\"point\"").count == 3)
        #expect(text.components(separatedBy: "\"secret\"").count == 2)
        await driver.close()
    }

    @Test("A key from before keys could change is taken over", arguments: Backend.allCases)
    func singleKey(_ backend: Backend) async throws {
        let driver = try await backend.open()
        _ = try await RecordStore(driver)
        let old = P256.Signing.PrivateKey()
        try await driver.write { connection in
            _ = try connection.execute(
                "INSERT INTO meta (name, value) VALUES ($1, $2)",
                [.text("answer_key"), .blob(Array(old.rawRepresentation))]
            )
        }
        let signer = try await AnswerSigner(keptIn: driver, sealing: SealingKeys(["sk_test_a"]))
        let set = signer.keySet(at: Self.start)
        #expect(set.keys.first?.x963Representation == old.publicKey.x963Representation)
        let plain = try await driver.readNow(
            "SELECT value FROM meta WHERE name = $1",
            [.text("answer_key")]
        )
        #expect(plain.isEmpty)
        await driver.close()
    }
}

/// A database that counts the short reads of the kept keys, and lets a test fail or hold them.
private final class WatchedReads: StorageDriver {
    private struct State {
        var reads = 0
        var isFailing = false
        var hold: (@Sendable () async -> Void)?
    }

    private let inner: any StorageDriver
    private let state = Mutex(State())

    init(_ inner: any StorageDriver) {
        self.inner = inner
    }

    var dialect: Dialect { inner.dialect }
    var commits: CommitSignal { inner.commits }
    var reads: Int { state.withLock { $0.reads } }
    var isFailing: Bool {
        get { state.withLock { $0.isFailing } }
        set { state.withLock { $0.isFailing = newValue } }
    }

    /// The next read ends, with what it found, once `body` has.
    func holdNext(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.hold = body }
    }

    func write<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R { try await inner.write(body) }

    func read<R: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> R
    ) async throws -> R { try await inner.read(body) }

    func readNow(_ sql: String, _ parameters: [SQLValue]) async throws(StorageError) -> [Row] {
        guard sql.contains("FROM meta") else { return try await inner.readNow(sql, parameters) }
        let (isFailing, hold) = state.withLock { state in
            state.reads += 1
            defer { state.hold = nil }
            return (state.isFailing, state.hold)
        }
        guard !isFailing else { throw StorageError(.unavailable, "not now") }
        let rows = try await inner.readNow(sql, parameters)
        await hold?()
        return rows
    }

    func close() async { await inner.close() }
}
