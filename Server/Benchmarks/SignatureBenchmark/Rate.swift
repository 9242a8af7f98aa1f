#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// How often something can be done per second of CPU, so that what else runs on the machine counts
/// as little as possible.
struct Rate {
    private(set) var rounds: [Double] = []

    /// The middle of all rounds.
    var median: Double {
        let sorted = rounds.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[sorted.count / 2]
    }

    /// Runs `work` with 0, 1, 2, … for about `seconds` of CPU.
    mutating func measure(seconds: Double, _ work: (Int) throws -> Void) rethrows {
        let began = Self.cpuSeconds()
        var done = 0
        var elapsed = 0.0
        repeat {
            for _ in 0..<20 {
                try work(done)
                done += 1
            }
            elapsed = Self.cpuSeconds() - began
        } while elapsed < seconds
        rounds.append(Double(done) / elapsed)
    }

    /// User and system time of this process, which POSIX counts in millionths of a second.
    private static func cpuSeconds() -> Double {
        Double(clock()) / 1e6
    }
}
