// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A value that may be replaced while others use it, as settings are by a reload.
public final class Replaceable<Value: Sendable>: Sendable {
    private let kept: Mutex<Value>

    public init(_ value: Value) {
        kept = Mutex(value)
    }

    /// The value at this moment.
    public var value: Value { kept.withLock { $0 } }

    public func replace(with value: Value) { kept.withLock { $0 = value } }
}
