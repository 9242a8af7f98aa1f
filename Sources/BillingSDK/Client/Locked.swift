import Foundation

/// A value behind a lock; iOS 15 has no `Mutex`.
///
/// `@unchecked`: `value` is touched only inside `withLock`, which holds the lock throughout.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Runs `body` alone with the value; `body` must not wait, nor call out of the SDK.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
