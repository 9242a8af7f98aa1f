// Stand-ins for StoreKit's external purchases. Its cases have no versions of their own here: Swift refuses
// them for a case with a value, and those of `NoticeType` are older than the SDK's calls.
import Foundation

@available(iOS 15.4, macOS 14.4, macCatalyst 15.4, *)
public enum ExternalPurchase: Sendable {
    public enum NoticeResult: Hashable, Sendable {
        case cancelled
        case continuedWithExternalPurchaseToken(token: String)
    }
    @available(iOS 17.4, macOS 14.4, macCatalyst 17.4, *)
    public static var canPresent: Bool { get async { _FakeExternalPurchases.shared.isAllowed } }
    public static func presentNoticeSheet() async throws -> NoticeResult {
        let fake = _FakeExternalPurchases.shared
        try fake.call("notice sheet")
        guard fake.goesOn, let token = fake.tokens["sheet"] else { return .cancelled }
        return .continuedWithExternalPurchaseToken(token: token)
    }
}

@available(iOS 15.4, macOS 14.4, macCatalyst 15.4, *)
public enum ExternalPurchaseLink: Sendable {
    public static var canOpen: Bool { get async { _FakeExternalPurchases.shared.isAllowed } }
    public static func open() async throws { try _FakeExternalPurchases.shared.call("open") }
    @available(iOS 17.5, macOS 14.5, macCatalyst 17.5, *)
    public static var eligibleURLs: [URL]? { get async { _FakeExternalPurchases.shared.links } }
    @available(iOS 17.5, macOS 14.5, macCatalyst 17.5, *)
    public static func open(url: URL) async throws {
        try _FakeExternalPurchases.shared.call("open \(url.absoluteString)")
    }
}

@available(iOS 18.1, macOS 15.1, macCatalyst 18.1, *)
public enum ExternalPurchaseCustomLink: Sendable {
    public enum NoticeType: Hashable, Sendable { case browser, withinApp }
    public enum NoticeResult: Hashable, Sendable { case cancelled, continued }
    public struct Token: Hashable, Sendable {
        public let value: String
    }
    public static var isEligible: Bool { get async { _FakeExternalPurchases.shared.isAllowed } }
    public static func showNotice(type: NoticeType) async throws -> NoticeResult {
        let fake = _FakeExternalPurchases.shared
        try fake.call("notice \(type)")
        return fake.goesOn ? .continued : .cancelled
    }
    @available(iOS, introduced: 18.1, deprecated: 27.2)
    @available(macOS, introduced: 15.1, deprecated: 27.2)
    @available(macCatalyst, introduced: 18.1, deprecated: 27.2)
    public static func token(for tokenType: String) async throws -> Token? {
        let fake = _FakeExternalPurchases.shared
        try fake.call("token \(tokenType)")
        return fake.tokens[tokenType].map { Token(value: $0) }
    }
}

/// Stub-only: what Apple allows and the customer does.
public final class _FakeExternalPurchases: @unchecked Sendable {
    public static let shared = _FakeExternalPurchases()
    private let lock = NSLock()
    private var world = World()

    struct World {
        var isAllowed = true
        var goesOn = true
        var tokens: [String: String] = [:]
        var links: [URL]?
        var failing: String?
        var calls: [String] = []
    }

    public func _reset() { lock.withLock { world = World() } }
    public var isAllowed: Bool {
        get { lock.withLock { world.isAllowed } }
        set { lock.withLock { world.isAllowed = newValue } }
    }
    public var goesOn: Bool {
        get { lock.withLock { world.goesOn } }
        set { lock.withLock { world.goesOn = newValue } }
    }
    public var tokens: [String: String] {
        get { lock.withLock { world.tokens } }
        set { lock.withLock { world.tokens = newValue } }
    }
    public var links: [URL]? {
        get { lock.withLock { world.links } }
        set { lock.withLock { world.links = newValue } }
    }
    /// The call that fails.
    public var failing: String? {
        get { lock.withLock { world.failing } }
        set { lock.withLock { world.failing = newValue } }
    }
    /// The calls, in order.
    public var calls: [String] { lock.withLock { world.calls } }

    func call(_ name: String) throws {
        let fails = lock.withLock {
            world.calls.append(name)
            return world.failing == name
        }
        if fails { throw NSError(domain: "StoreKitError", code: 0) }
    }
}
