import Foundation

/// Hands values to listeners one at a time, in the order in which they were put in.
///
/// Who is delivering already goes on to the end, so a listener may cause the next value.
final class OrderedDelivery<Value: Sendable>: Sendable {
    typealias Listener = @Sendable (Value) -> Void

    private struct State {
        var listeners: [Listener] = []
        var queue: [Value] = []
        var isDelivering = false
    }

    private let state = Locked(State())

    func add(_ listener: @escaping Listener) {
        state.withLock { $0.listeners.append(listener) }
    }

    /// Puts a value in; ``deliver()`` hands it on.
    func enqueue(_ value: Value) { state.withLock { $0.queue.append(value) } }

    func deliver() {
        while true {
            let next = state.withLock { state -> ([Listener], Value)? in
                guard !state.isDelivering, !state.queue.isEmpty else { return nil }
                state.isDelivering = true
                return (state.listeners, state.queue.removeFirst())
            }
            guard let (listeners, value) = next else { return }
            for listener in listeners { listener(value) }
            state.withLock { $0.isDelivering = false }
        }
    }
}
