import Foundation

@testable import BillingSDK

/// A clock that a test moves.
final class TestClock: Sendable {
    private let date = Locked(Date(timeIntervalSince1970: 1_800_000_000))
    var now: Date { date.withLock { $0 } }
    func advance(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
}

/// Something that holds whoever passes until a test opens it, and tells when somebody waits.
final class Gate: Sendable {
    private struct Inside {
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let inside = Locked(Inside())

    func pass() async {
        await withCheckedContinuation { continuation in
            let (goesOn, woken) = inside.withLock { inside in
                inside.arrivals += 1
                let woken = inside.watchers.filter { $0.count <= inside.arrivals }
                inside.watchers.removeAll { $0.count <= inside.arrivals }
                if !inside.isOpen { inside.held.append(continuation) }
                return (inside.isOpen, woken)
            }
            for watcher in woken { watcher.continuation.resume() }
            if goesOn { continuation.resume() }
        }
    }

    func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = inside.withLock { inside in
                if inside.arrivals < count { inside.watchers.append((count, continuation)) }
                return inside.arrivals >= count
            }
            if isThere { continuation.resume() }
        }
    }

    func open() {
        let held = inside.withLock { inside in
            inside.isOpen = true
            defer { inside.held = [] }
            return inside.held
        }
        for continuation in held { continuation.resume() }
    }

    func close() { inside.withLock { $0.isOpen = false } }
}

/// Pauses that a test ends, instead of sleeping.
final class Pauses: Sendable {
    private struct Inside {
        var asked: [TimeInterval] = []
        var held: [Int: CheckedContinuation<Void, any Error>] = [:]
        var last = 0
    }
    private let inside = Locked(Inside())

    /// How long the SDK wanted to wait, each time.
    var asked: [TimeInterval] { inside.withLock { $0.asked } }
    /// How many waits are going on.
    var count: Int { inside.withLock { $0.held.count } }

    func wait(_ seconds: TimeInterval) async throws {
        let number = inside.withLock { inside in
            inside.last += 1
            inside.asked.append(seconds)
            return inside.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                inside.withLock { $0.held[number] = continuation }
                if Task.isCancelled { resume(number, throwing: CancellationError()) }
            }
        } onCancel: {
            resume(number, throwing: CancellationError())
        }
    }

    /// Ends the pauses that are going on.
    func elapse() {
        for number in inside.withLock({ Array($0.held.keys) }) { resume(number, throwing: nil) }
    }

    private func resume(_ number: Int, throwing error: (any Error)?) {
        let held = inside.withLock { $0.held.removeValue(forKey: number) }
        if let error { held?.resume(throwing: error) } else { held?.resume() }
    }

    deinit { inside.withLock { inside in for held in inside.held.values { held.resume() } } }
}
