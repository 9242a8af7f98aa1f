import Foundation

public let O_RDWR: Int32 = 2
public let O_CREAT: Int32 = 0x200
public let O_CLOEXEC: Int32 = 0x100_0000
public let LOCK_EX: Int32 = 2
public let LOCK_NB: Int32 = 4

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: UInt16) -> Int32 { -1 }
@discardableResult public func close(_ descriptor: Int32) -> Int32 { -1 }
public func flock(_ descriptor: Int32, _ operation: Int32) -> Int32 { -1 }
@discardableResult public func usleep(_ microseconds: UInt32) -> Int32 { -1 }

public struct timespec {
    public var tv_sec: Int
    public var tv_nsec: Int
    public init() { tv_sec = 0; tv_nsec = 0 }
}
public struct clockid_t: Sendable {}
public let CLOCK_MONOTONIC = clockid_t()
@discardableResult
public func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>) -> Int32 {
    -1
}

extension ProcessInfo {
    public func performExpiringActivity(
        withReason reason: String,
        using block: @escaping @Sendable (Bool) -> Void
    ) {}
}
