// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
public import Tracing

/// A span that ended.
package struct EndedSpan: Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int64)
    }

    package var name: String
    package var kind: SpanKind
    package var place: TraceParent
    /// The span around it; `nil`: it is a trace's first.
    package var parent: UInt64?
    /// UNIX nanoseconds.
    package var begun: UInt64
    package var ended: UInt64
    package var attributes: [String: Value]
    /// The type of the error that it ended with; not its text, which may name people.
    package var error: String?
}

/// A span of a trace, while it runs.
public final class RecordedSpan: Span, Sendable {
    public let context: ServiceContext
    private let kind: SpanKind
    private let place: TraceParent?
    private let parent: UInt64?
    private let begun: UInt64
    private let recorder: TraceRecorder
    private let state: Mutex<State>

    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var isError = false
        var error: String?
        var hasEnded = false
    }

    init(
        _ name: String,
        _ kind: SpanKind,
        _ context: ServiceContext,
        parent: UInt64?,
        begun: UInt64,
        recorder: TraceRecorder
    ) {
        self.context = context
        self.kind = kind
        self.parent = parent
        self.begun = begun
        self.recorder = recorder
        place = context.traceParent
        state = Mutex(State(name: name))
    }

    /// True if the trace is recorded.
    public var isRecording: Bool { place?.isSampled ?? false }

    public var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set {
            guard isRecording else { return }
            state.withLock { $0.attributes = newValue }
        }
    }

    public func setStatus(_ status: SpanStatus) {
        state.withLock { $0.isError = status.code == .error }
    }

    public func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        let type = String(describing: type(of: error))
        state.withLock { state in
            state.isError = true
            state.error = type
        }
    }

    /// Events are not kept: nothing here has any.
    public func addEvent(_ event: SpanEvent) {}

    /// Links are not kept: nothing here has any.
    public func addLink(_ link: SpanLink) {}

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let place, place.isSampled else { return }
        let ended = instant().nanosecondsSinceEpoch
        let state: State? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state
        }
        guard let state else { return }
        recorder.end(
            EndedSpan(
                name: state.name,
                kind: kind,
                place: place,
                parent: parent,
                begun: begun,
                ended: max(begun, ended),
                attributes: Self.kept(state.attributes),
                error: state.isError ? state.error ?? "error" : nil
            )
        )
    }

    /// The attributes of frameworks that are kept, with their names in OpenTelemetry's conventions.
    /// <https://opentelemetry.io/docs/specs/semconv/http/http-spans/>
    private static let names = [
        "http.request.method": "http.request.method", "http.route": "http.route",
        "http.response.status_code": "http.response.status_code",
        // As AsyncHTTPClient has it.
        "http.status_code": "http.response.status_code",
        "http.request.body.size": "http.request.body.size",
        "server.address": "server.address", "server.port": "server.port",
        "url.scheme": "url.scheme",
    ]

    private static func kept(_ attributes: SpanAttributes) -> [String: EndedSpan.Value] {
        var kept: [String: EndedSpan.Value] = [:]
        attributes.forEach { key, attribute in
            guard let name = names[key] else { return }
            switch attribute {
            case .int32(let number): kept[name] = .number(Int64(number))
            case .int64(let number): kept[name] = .number(number)
            case .string(let text): kept[name] = .text(text)
            case .stringConvertible(let text): kept[name] = .text("\(text)")
            default: break
            }
        }
        return kept
    }
}
