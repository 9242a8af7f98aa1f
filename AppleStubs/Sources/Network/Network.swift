// Minimal stand-in for Apple's Network framework: only what tells that the network is back.
@_exported import Foundation

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public let status: Status
}

@available(iOS 12, macOS 10.14, *)
public final class NWPathMonitor {
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    nonisolated(unsafe) private static var monitors: [NWPathMonitor] = []
    private static let lock = NSLock()

    public init() {}
    public func start(queue: DispatchQueue) {
        Self.lock.withLock { Self.monitors.append(self) }
        pathUpdateHandler?(NWPath(status: .satisfied))
    }
    public func cancel() { Self.lock.withLock { Self.monitors.removeAll { $0 === self } } }

    /// Stub-only: the network goes or comes back.
    public static func _change(_ status: NWPath.Status) {
        let handlers = lock.withLock { monitors.map(\.pathUpdateHandler) }
        handlers.forEach { $0?(NWPath(status: status)) }
    }
}
