import Foundation
#if canImport(UIKit)
    import UIKit
#endif

@available(iOS 16, macOS 13, *)
public struct AppTransaction: Sendable, Hashable {
    public let originalAppVersion: String
    public let originalPurchaseDate: Date
    public let _jws: String
    public init(_stub version: String, _ date: Date, jws: String) {
        originalAppVersion = version; originalPurchaseDate = date; _jws = jws
    }
    public static var shared: VerificationResult<AppTransaction> {
        get async throws {
            guard let result = _FakeAppTransaction.result else {
                throw NSError(domain: "StoreKitError", code: 1)
            }
            return result
        }
    }
}
/// Stub-only: what StoreKit knows of the app's own download.
@available(iOS 16, macOS 13, *)
public enum _FakeAppTransaction {
    nonisolated(unsafe) public static var result: VerificationResult<AppTransaction>?
}

#if canImport(UIKit)
    @available(iOS 16, *)
    @available(macOS, unavailable)
    public struct Message: Sendable, Hashable {
        public struct Reason: RawRepresentable, Equatable, Hashable, Sendable {
            public let rawValue: Int
            public init(rawValue: Int) { self.rawValue = rawValue }
            public static let generic = Self(rawValue: 0)
            public static let priceIncreaseConsent = Self(rawValue: 1)
        }
        public let reason: Reason
        public init(_stub reason: Reason) { self.reason = reason }
        @MainActor public func display(in scene: UIWindowScene) throws {
            _FakeAppStore.shared._sheets.append("message \(reason.rawValue)")
        }
        public struct Messages: AsyncSequence, Sendable {
            public typealias Element = Message
            public struct AsyncIterator: AsyncIteratorProtocol {
                var base: AsyncStream<Message>.Iterator
                public mutating func next() async -> Message? { await base.next() }
            }
            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(base: _FakeMessages.shared.stream().makeAsyncIterator())
            }
        }
        public static var messages: Messages { Messages() }
    }
    /// Stub-only: the App Store's messages.
    @available(iOS 16, *)
    @available(macOS, unavailable)
    public final class _FakeMessages: @unchecked Sendable {
        public static let shared = _FakeMessages()
        private let lock = NSLock()
        private var listeners: [AsyncStream<Message>.Continuation] = []
        public var _isWatched: Bool { lock.withLock { !listeners.isEmpty } }
        func stream() -> AsyncStream<Message> {
            AsyncStream { continuation in lock.withLock { listeners.append(continuation) } }
        }
        public func _send(_ message: Message) {
            lock.withLock { listeners }.forEach { $0.yield(message) }
        }
    }
#endif
