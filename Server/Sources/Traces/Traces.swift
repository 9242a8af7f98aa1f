// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tracing

/// Steps of the server's work, measured where somebody wants traces.
public enum Traces {
    private static let isOn = Atomic(false)

    /// Measures `step` as a span of the trace in which it runs; costs one load where there are no traces.
    ///
    /// - Parameter name: the same for all steps of a kind: no ids.
    public static func span<Value>(
        _ name: String,
        isolation: isolated (any Actor)? = #isolation,
        _ step: () async throws -> Value
    ) async rethrows -> Value {
        guard isOn.load(ordering: .relaxed) else { return try await step() }
        return try await withSpan(name) { _ in try await step() }
    }

    /// Measures spans from now on, in this whole process; also those of HTTP clients that are made later.
    ///
    /// - Precondition: it was not called before.
    public static func begin(_ recorder: TraceRecorder) {
        InstrumentationSystem.bootstrap(recorder)
        isOn.store(true, ordering: .relaxed)
    }
}
