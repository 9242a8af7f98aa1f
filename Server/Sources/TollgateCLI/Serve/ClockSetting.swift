import CommandOutput
import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TollgateCore

/// `TOLLGATE_CLOCK`: `system`, or the address of a sandbox's clock (RULES §14).
enum ClockSetting: Sendable {
    case system
    case sandbox(String)

    /// Whether it is moved by hand.
    var isVirtual: Bool {
        if case .sandbox = self { true } else { false }
    }

    init(_ text: String?) throws {
        switch text {
        case nil, "system": self = .system
        case let text? where text.hasPrefix("http://") || text.hasPrefix("https://"):
            self = .sandbox(text)
        case let text?:
            throw ValidationError(
                "TOLLGATE_CLOCK: '\(text)' is neither 'system' nor the address of a sandbox's clock."
            )
        }
    }

    /// The stores' time, for a server that may outlive its sandbox, or start before it.
    ///
    /// A sandbox's clock is asked each time, since it moves in leaps; while it is out of reach,
    /// what it said last holds, and real time before it has said anything.
    func now(over client: HTTPClient) -> @Sendable () async -> Instant {
        switch self {
        case .system:
            let now = SystemClock.now
            return { now() }
        case .sandbox(let url):
            let last = LastInstant(SystemClock.now())
            return { await last.refresh(from: url, over: client) }
        }
    }

    /// The stores' time, for a command that does one thing and ends: by a wrong time it would
    /// give a wrong answer.
    ///
    /// - Throws: `CheckFailed` if a sandbox's clock does not tell it.
    func reached(over client: HTTPClient) async throws -> @Sendable () async -> Instant {
        guard case .sandbox(let url) = self else { return now(over: client) }
        let last = LastInstant(try await Self.read(url, over: client))
        return { await last.refresh(from: url, over: client) }
    }

    /// The instant that `--at` names in milliseconds; the stores' present if left out.
    static func instant(_ milliseconds: Int64?) async throws -> Instant {
        if let milliseconds { return Instant(milliseconds: milliseconds) }
        return try await ClockSetting(Settings.text(nil, "CLOCK")).reached(over: .shared)()
    }

    /// What a sandbox's clock says.
    fileprivate static func read(_ url: String, over client: HTTPClient) async throws -> Instant {
        let why: String
        do {
            let response = try await client.execute(
                HTTPClientRequest(url: url),
                timeout: .seconds(5)
            )
            let body = try await response.body.collect(upTo: 1 << 12)
            if response.status == .ok,
                let reading = try? JSONDecoder().decode(
                    Reading.self,
                    from: Data(body.readableBytesView)
                )
            {
                return Instant(milliseconds: reading.now)
            }
            why = "it answered \(response.status.code) without the time"
        } catch {
            why = PlainWords.of(error)
        }
        throw CheckFailed(
            message: """
                TOLLGATE_CLOCK: the sandbox's clock at \(url) does not tell the time (\(why)). \
                Start the sandbox, or unset TOLLGATE_CLOCK to go by real time.
                """
        )
    }
}

private struct Reading: Decodable {
    /// In milliseconds since 1970.
    var now: Int64
}

private actor LastInstant {
    private var instant: Instant

    init(_ instant: Instant) {
        self.instant = instant
    }

    func refresh(from url: String, over client: HTTPClient) async -> Instant {
        if let read = try? await ClockSetting.read(url, over: client) { instant = read }
        return instant
    }
}
