import Foundation
import SandboxClock
import Testing

@testable import GooglePlaySimulator

/// The store as one process has it: calls that overlap, pushes under way, the control API.
struct SimulatedGooglePlayTests {
    @Test
    func aPurchaseDuringSetUpIsKept() async throws {
        let play = try await RunningPlay()
        let count = 200
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    _ = await play.control("POST", "purchases", #"{"product_id": "coins"}"#)
                }
                group.addTask { _ = await play.control("PUT", "faults", "{}") }
            }
        }
        #expect(await play.store.store.products.count == count)
    }

    /// A backend with one thread answers no push while it waits for its own call.
    @Test(.timeLimit(.minutes(1)))
    func aCallOfTheAPIAnswersBeforeItsHintIsPushed() async throws {
        let isAnswered = Gate()
        let play = try await RunningPlay { _ in
            await isAnswered.wait()
            return .accepted
        }
        await isAnswered.open()
        let bought = await play.control("POST", "purchases", #"{"product_id": "premium"}"#)
        let token = try #require(bought["purchase_token"]?.text)
        await isAnswered.close()
        _ = try await play.call("POST", "purchases/subscriptionsv2/tokens/\(token):revoke") {
            ["revocationContext": ["fullRefund": [:]]]
        }
        #expect(await play.waiting > 0)
        await isAnswered.open()
        // An act returns once everything was delivered, this push included.
        _ = await play.control("POST", "accounts", "{}")
        #expect(await play.waiting == 0)
    }

    @Test
    func switchesInBrokenJSONAreRefusedAndChangeNothing() async throws {
        let play = try await RunningPlay()
        _ = await play.control("PUT", "behaviour", #"{"stale_reads": 3}"#)
        for broken in [#"{"stale_reads": 1"#, "[]", "no JSON"] {
            #expect(await play.answer("PUT", "/sandbox/behaviour", broken).status == 400)
        }
        #expect(await play.store.store.behaviour.staleReads == 3)
        #expect(await play.answer("PUT", "/sandbox/behaviour").status == 200)
        #expect(await play.store.store.behaviour.staleReads == 0)
    }

    @Test
    func aSubscriptionWithoutANameIsNotFound() async throws {
        let play = try await RunningPlay()
        let granted = try await play.token(for: PubSubAPI.scope)
        for path in [
            "/v1/projects/sandbox/subscriptions/:", "/v1/projects/sandbox/subscriptions/:pull",
        ] {
            let answer = await play.answer("GET", path, authorization: granted)
            #expect(answer.status == 404)
        }
    }

    @Test
    func whyAPushFailedIsShown() async throws {
        let play = try await RunningPlay { _ in .failed("The endpoint answered 503.") }
        _ = await play.control("POST", "notifications/test", "{}")
        let shown = await play.control("GET", "subscriptions")["data"]?.list?.first
        let failing = shown?["failing"]?.list?.first
        #expect(failing?["last_error"]?.text == "The endpoint answered 503.")
        #expect(failing?["attempts"]?.whole == 1)
    }

    @Test
    func aPushWhoseTokenCannotBeSignedFails() async throws {
        let pushed = Counter()
        let play = try await RunningPlay { _ in
            await pushed.add()
            return .accepted
        }
        try await play.store.setUp { setUp in
            let text = String(decoding: try JSONEncoder().encode(setUp.keys), as: UTF8.self)
            let broken = text.replacingOccurrences(of: "PRIVATE KEY", with: "NO KEY")
            setUp.keys = try JSONDecoder().decode(GoogleKeys.self, from: Data(broken.utf8))
        }
        _ = await play.control("POST", "notifications/test", "{}")
        #expect(await pushed.count == 0)
        let shown = await play.control("GET", "subscriptions")["data"]?.list?.first
        let reason = shown?["failing"]?.list?.first?["last_error"]?.text
        #expect(reason?.hasPrefix("The token of the push cannot be signed") == true)
    }

    @Test
    func aFailureIsToldWithItsRequest() {
        let exchange = Exchange(
            method: "GET",
            target: "/sandbox/app?x=1",
            authorization: nil,
            origin: "http://127.0.0.1:1",
            body: Data()
        )
        #expect(
            Trouble.line(Refusal.invalid("No key."), during: exchange)
                == "sandbox: GET /sandbox/app answered 500: No key."
        )
    }

    // MARK: - State files

    @Test
    func aMessageThatWasUnderWayWhenTheStoreWasKilledIsPushedAgain() async throws {
        let file = try TemporaryFile()
        let isPushing = Gate()
        let never = Gate()
        let first = try await RunningPlay(statePath: file.path) { _ in
            await isPushing.open()
            await never.wait()
            return .accepted
        }
        let act = Task { await first.control("POST", "notifications/test", "{}") }
        await isPushing.wait()
        // The process ends here: what is on disk is all that is left.
        let pushed = Counter()
        let second = try await RunningPlay(statePath: file.path) { _ in
            await pushed.add()
            return .accepted
        }
        await second.clock.advance(to: PlayFixture.start + 10 * Timestamp.second)
        #expect(await pushed.count == 1)
        #expect(await second.waiting == 0)
        await never.open()
        _ = await act.value
    }

    @Test
    func anUnreadableStateFileIsNamedWithTheRemedyAndKept() async throws {
        let file = try TemporaryFile()
        try Data("{}".utf8).write(to: file.url)
        let problem = await #expect(throws: StateFile.Problem.self) {
            try await RunningPlay(statePath: file.path)
        }
        #expect(problem?.description.contains(file.path) == true)
        #expect(problem?.description.contains("move it away") == true)
        #expect(try Data(contentsOf: file.url) == Data("{}".utf8))
    }

    @Test
    func aStateOfAnEarlierBuildLacksNewerSwitches() async throws {
        let file = try TemporaryFile()
        let play = try await RunningPlay(statePath: file.path)
        _ = await play.control("PUT", "behaviour", #"{"stale_reads": 3}"#)
        let text = try String(contentsOf: file.url, encoding: .utf8)
        let older = text.replacingOccurrences(of: #""limitsTestRenewals":true,"#, with: "")
            .replacingOccurrences(of: #","limitsTestRenewals":true"#, with: "")
        #expect(older != text)
        try Data(older.utf8).write(to: file.url)
        let again = try await RunningPlay(statePath: file.path)
        let behaviour = await again.store.store.behaviour
        #expect(behaviour.staleReads == 3 && behaviour.limitsTestRenewals)
    }

    @Test
    func everySwitchIsReadBack() throws {
        let encoded = JSON(bytes: try JSONEncoder().encode(Behaviour()))
        guard case .object(let members)? = encoded else {
            Issue.record("an object")
            return
        }
        var changed = members.mapValues { value -> JSON in
            switch value {
            case .bool(let flag): .bool(!flag)
            case .integer(let number): .integer(number + 1)
            default: "never"
            }
        }
        changed["movedRelease"] = "unread"
        let read = try JSONDecoder().decode(Behaviour.self, from: JSON.object(changed).bytes)
        #expect(JSON(bytes: try JSONEncoder().encode(read)) == .object(changed))
    }
}

/// A file that goes with its test.
final class TemporaryFile: Sendable {
    let url: URL
    var path: String { url.path }

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".json")
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

actor Counter {
    private(set) var count = 0
    func add() { count += 1 }
}

/// A simulated store with an endpoint to push to, and no sockets.
struct RunningPlay: Sendable {
    let clock = VirtualClock(now: PlayFixture.start)
    let store: SimulatedGooglePlay
    /// Making keys takes longer than most stories.
    private static let keys = Result { try SimulatedGooglePlay.makeKeys() }

    init(
        statePath: String? = nil,
        push: @escaping SimulatedGooglePlay.Push = { _ in .accepted }
    ) async throws {
        var configuration = SimulatedGooglePlay.Configuration(
            catalog: Data(PlayFixture.catalog.utf8),
            pushEndpoint: "http://127.0.0.1:1/push",
            statePath: statePath
        )
        configuration.keys = try Self.keys.get()
        store = try SimulatedGooglePlay(configuration: configuration, clock: clock, push: push)
        await clock.join(store)
    }

    /// Messages that no endpoint has accepted yet.
    var waiting: Int {
        get async { await store.pubSub.queues["play"]?.entries.count ?? 0 }
    }

    /// An access token, as the value of `Authorization`.
    func token(for scope: String) async throws -> String {
        try await store.setUp { setUp in
            _ = try setUp.tokens.grant(
                scope,
                token: "ya29.test",
                seconds: Int64(Date().timeIntervalSince1970)
            )
        }
        return "Bearer ya29.test"
    }

    func answer(
        _ method: String,
        _ path: String,
        _ body: String = "",
        authorization: String? = nil
    ) async -> Answer {
        await store.answer(
            Exchange(
                method: method,
                target: path,
                authorization: authorization,
                origin: "http://127.0.0.1:1",
                body: Data(body.utf8)
            ),
            surface: .everything
        )
    }

    /// A request to the sandbox's own interface.
    func control(_ method: String, _ path: String, _ body: String = "") async -> JSON {
        JSON(bytes: await answer(method, "/sandbox/\(path)", body).body) ?? .null
    }

    /// A call of the Developer API.
    func call(_ method: String, _ path: String, _ body: () -> JSON?) async throws -> JSON? {
        let found = Endpoint.find(method, path.split(separator: "/").map(String.init))
        let (endpoint, parameters) = try #require(found)
        let call = Call(
            parameters: parameters,
            query: [],
            body: body(),
            now: await clock.now
        )
        return try await store.answer(endpoint, call, seconds: 0)
    }
}

/// A door that may be closed: who comes to it waits until it is opened.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    func close() { isOpen = false }
}
