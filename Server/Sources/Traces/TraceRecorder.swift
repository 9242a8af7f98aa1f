// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
public import Tracing

/// Records spans, and keeps those that ended until they are exported.
///
/// It keeps no path, query, header or client's address: they may hold secrets and people's ids.
public final class TraceRecorder: Tracer, Sendable {
    private let share: Double
    private let random: @Sendable () -> UInt64
    private let capacity: Int
    private let state = Mutex(State())

    private struct State {
        var ended: [EndedSpan] = []
        var dropped = 0
    }

    /// - Parameters:
    ///   - share: the part of all traces that is recorded, from 0 to 1. A trace's id decides, so that
    ///     servers with the same share record the same traces.
    ///   - capacity: how many spans wait at most; what ends beyond that is dropped, and counted.
    ///   - random: chance, for ids.
    public init(share: Double, capacity: Int = 8192, random: @escaping @Sendable () -> UInt64) {
        self.share = share
        self.capacity = capacity
        self.random = random
    }

    // MARK: - Spans

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.traceParent
        let trace: (high: UInt64, low: UInt64) = parent?.trace ?? (random(), random())
        context.traceParent = TraceParent(
            trace: trace,
            // Zero is no id.
            span: max(1, random()),
            // A caller may leave a trace out, but not have one recorded beyond the share.
            isSampled: parent?.isSampled ?? true && isSampled(trace.low)
        )
        return RecordedSpan(
            operationName,
            kind,
            context,
            parent: parent?.span,
            begun: instant().nanosecondsSinceEpoch,
            recorder: self
        )
    }

    /// The last 56 bits of a trace's id are random.
    /// <https://www.w3.org/TR/trace-context-2/#random-trace-id-flag>
    private func isSampled(_ low: UInt64) -> Bool {
        share >= 1 || Double(low & 0xff_ffff_ffff_ffff) < share * Double(1 << 56)
    }

    func end(_ span: EndedSpan) {
        state.withLock { state in
            if state.ended.count < capacity {
                state.ended.append(span)
            } else {
                state.dropped += 1
            }
        }
    }

    // MARK: - What has ended

    /// The oldest spans that ended, at most `limit`, and how many were dropped since the last call.
    package func take(_ limit: Int) -> (spans: [EndedSpan], dropped: Int) {
        state.withLock { state in
            let spans = Array(state.ended.prefix(limit))
            state.ended.removeFirst(spans.count)
            defer { state.dropped = 0 }
            return (spans, state.dropped)
        }
    }

    /// Gives back what could not be sent; it is sent first.
    ///
    /// - Parameter dropped: how many were dropped before, of which nobody was told.
    package func giveBack(_ spans: [EndedSpan], dropped: Int) {
        state.withLock { state in
            let room = capacity - state.ended.count
            state.dropped += dropped + max(0, spans.count - room)
            state.ended.insert(contentsOf: spans.suffix(max(0, room)), at: 0)
        }
    }

    // MARK: - Across processes

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        let header = extractor.extract(key: "traceparent", from: carrier)
        if let parent = header.flatMap(TraceParent.init(header:)) { context.traceParent = parent }
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let place = context.traceParent else { return }
        injector.inject(place.header, forKey: "traceparent", into: &carrier)
    }

    /// Spans are sent every few seconds anyway.
    public func forceFlush() {}
}
