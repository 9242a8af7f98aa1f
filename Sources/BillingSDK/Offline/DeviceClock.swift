import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The clock of this device that nobody can set.
enum DeviceClock {
    /// Seconds since some moment at or before the device's start; it goes on while the device sleeps.
    ///
    /// `ProcessInfo.systemUptime` stops in sleep, so an answer would live as much longer. `CLOCK_MONOTONIC`
    /// of Darwin goes on, as Linux's `CLOCK_BOOTTIME` does (their manuals: clock_gettime).
    static var uptime: TimeInterval {
        var time = timespec()
        #if canImport(Darwin)
            clock_gettime(CLOCK_MONOTONIC, &time)
        #else
            clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1_000_000_000
    }
}
