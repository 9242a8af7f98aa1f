import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
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

    /// The stores' time.
    ///
    /// A sandbox's clock is asked each time, since it moves in leaps; while it is out of reach,
    /// what it said last holds.
    func now(over client: HTTPClient) -> @Sendable () async -> Instant {
        switch self {
        case .system:
            let now = SystemClock.now
            return { now() }
        case .sandbox(let url):
            let last = LastInstant()
            return { await last.refresh(from: url, over: client) }
        }
    }
}

private actor LastInstant {
    private struct Reading: Decodable {
        var now: Int64
    }

    private var instant = SystemClock.now()

    func refresh(from url: String, over client: HTTPClient) async -> Instant {
        let request = HTTPClientRequest(url: url)
        guard let response = try? await client.execute(request, timeout: .seconds(5)),
            let body = try? await response.body.collect(upTo: 1 << 12),
            let reading = try? JSONDecoder().decode(
                Reading.self,
                from: Data(body.readableBytesView)
            )
        else { return instant }
        instant = Instant(milliseconds: reading.now)
        return instant
    }
}
