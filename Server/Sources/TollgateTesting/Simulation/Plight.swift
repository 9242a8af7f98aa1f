/// The state that a simulated server is in beside what it knows: each until an instant of the
/// stores' time, in UNIX milliseconds.
struct Plight: Hashable, Sendable {
    /// It answers nothing.
    var downUntil: Int64 = .min
    /// What the stores send is answered 200 by something in between, and lost.
    var swallowedUntil: Int64 = .min
    /// It has no key for the App Store Server API.
    var keylessUntil: Int64 = .min
    /// Its clock is behind by so many milliseconds.
    var lag: Int64 = 0
    var lagUntil: Int64 = .min
    /// What the stores send is on its way, until it is let go.
    var isHeldUp = false

    /// By how much the clock is behind at an instant.
    func lag(at instant: Int64) -> Int64 { instant < lagUntil ? lag : 0 }

    /// When nothing keeps the server from hearing of the stores any more.
    var clear: Int64 { max(downUntil, swallowedUntil, keylessUntil) }
}
