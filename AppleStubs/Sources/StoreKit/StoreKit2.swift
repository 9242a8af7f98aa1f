import Foundation

public enum VerificationResult<SignedType> {
    public enum VerificationError: Error, Sendable {
        case revokedCertificate, invalidCertificateChain, invalidDeviceVerification,
            invalidEncoding, invalidSignature, missingRequiredProperties
    }
    case unverified(SignedType, VerificationResult<SignedType>.VerificationError)
    case verified(SignedType)

    public var payloadValue: SignedType {
        get throws {
            switch self {
            case .verified(let v): return v
            case .unverified(_, let e): throw e
            }
        }
    }
    public var unsafePayloadValue: SignedType {
        switch self {
        case .verified(let v): return v;
        case .unverified(let v, _): return v
        }
    }
}
extension VerificationResult: Sendable where SignedType: Sendable {}
extension VerificationResult where SignedType == Transaction {
    public var jwsRepresentation: String { unsafePayloadValue._jws }
}

public struct Transaction: Identifiable, Sendable, Hashable {
    public let id: UInt64
    public let originalID: UInt64
    public let productID: String
    public let appAccountToken: UUID?
    public let purchaseDate: Date
    public let expirationDate: Date?
    public let revocationDate: Date?
    public let _jws: String

    public init(_stub id: UInt64, productID: String, appAccountToken: UUID? = nil, jws: String) {
        self.id = id; originalID = id; self.productID = productID;
        self.appAccountToken = appAccountToken
        purchaseDate = Date(); expirationDate = nil; revocationDate = nil; _jws = jws
    }

    public struct Transactions: AsyncSequence, Sendable {
        public typealias Element = VerificationResult<Transaction>
        let make: @Sendable () -> AsyncStream<Element>
        public struct AsyncIterator: AsyncIteratorProtocol {
            var base: AsyncStream<VerificationResult<Transaction>>.Iterator
            public mutating func next() async -> VerificationResult<Transaction>? {
                await base.next()
            }
        }
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: make().makeAsyncIterator())
        }
    }

    public static var updates: Transactions { Transactions { _FakeAppStore.shared.updates() } }
    public static var unfinished: Transactions {
        Transactions { _FakeAppStore.shared.unfinishedStream() }
    }
    public static var currentEntitlements: Transactions {
        Transactions { _FakeAppStore.shared.unfinishedStream() }
    }
    public func finish() async { _FakeAppStore.shared.finish(id) }
}

public struct Product: Identifiable, Sendable, Hashable {
    public let id: String
    public let displayName: String
    public let displayPrice: String
    public let price: Decimal
    public init(_stub id: String, price: Decimal = 0) {
        self.id = id; displayName = id; displayPrice = "¥\(price)"; self.price = price
    }

    public struct ProductType: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let consumable = Self(rawValue: "Consumable")
        public static let nonConsumable = Self(rawValue: "Non-Consumable")
        public static let nonRenewable = Self(rawValue: "Non-Renewing Subscription")
        public static let autoRenewable = Self(rawValue: "Auto-Renewable Subscription")
    }
    public var type: ProductType = .consumable

    public struct PurchaseOption: Hashable, Sendable {
        let token: UUID?
        public static func appAccountToken(_ token: UUID) -> PurchaseOption { .init(token: token) }
        public static func quantity(_ quantity: Int) -> PurchaseOption { .init(token: nil) }
    }
    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }
    public static func products<Identifiers: Collection>(for identifiers: Identifiers) async throws
        -> [Product]
    where Identifiers.Element == String { identifiers.map { Product(_stub: $0) } }

    @MainActor public func purchase(options: Set<PurchaseOption> = []) async throws
        -> PurchaseResult
    {
        try _FakeAppStore.shared.purchase(self, token: options.compactMap(\.token).first)
    }
}

@available(iOS 16.4, macOS 14.4, *)
public struct PurchaseIntent: Identifiable, Sendable {
    public let product: Product
    public var id: String { product.id }
    public init(_stub product: Product) { self.product = product }
    public struct PurchaseIntents: AsyncSequence, Sendable {
        public typealias Element = PurchaseIntent
        public struct AsyncIterator: AsyncIteratorProtocol {
            var base: AsyncStream<PurchaseIntent>.Iterator
            public mutating func next() async -> PurchaseIntent? { await base.next() }
        }
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: _FakeAppStore.shared.intents().makeAsyncIterator())
        }
    }
    public static var intents: PurchaseIntents { PurchaseIntents() }
}

/// Stub-only control panel that tests drive.
public final class _FakeAppStore: @unchecked Sendable {
    public static let shared = _FakeAppStore()
    public enum Behaviour: Sendable { case succeed, cancel, pending, unverified }
    private let lock = NSLock()
    private var nextID: UInt64 = 1
    private var watchers: [AsyncStream<VerificationResult<Transaction>>.Continuation] = []
    private var intentWatchers: [AsyncStream<PurchaseIntent>.Continuation] = []
    private var open: [Transaction] = []
    private var backlogIntents: [PurchaseIntent] = []
    public var behaviour: Behaviour = .succeed
    public var canMakePayments = true
    public private(set) var finished: [UInt64] = []

    /// Stub-only: a new phone for the next test.
    public func _reset() {
        let watching = lock.withLock {
            defer {
                nextID = 1; watchers = []; intentWatchers = []; open = []; backlogIntents = [];
                finished = []
                behaviour = .succeed; canMakePayments = true
            }
            return watchers
        }
        watching.forEach { $0.finish() }
    }

    func updates() -> AsyncStream<VerificationResult<Transaction>> {
        AsyncStream { c in
            lock.withLock {
                watchers.append(c); open.forEach { c.yield(.verified($0)) }
            }
        }
    }
    func unfinishedStream() -> AsyncStream<VerificationResult<Transaction>> {
        AsyncStream { c in
            lock.withLock { open.forEach { c.yield(.verified($0)) } }; c.finish()
        }
    }
    func intents() -> AsyncStream<PurchaseIntent> {
        AsyncStream { c in
            lock.withLock {
                intentWatchers.append(c); backlogIntents.forEach { c.yield($0) };
                backlogIntents = []
            }
        }
    }
    func finish(_ id: UInt64) {
        lock.withLock {
            open.removeAll { $0.id == id }; finished.append(id)
        }
    }
    func purchase(_ p: Product, token: UUID?) throws -> Product.PurchaseResult {
        lock.withLock {
            switch behaviour {
            case .cancel: return .userCancelled
            case .pending: return .pending
            case .succeed, .unverified:
                let t = Transaction(
                    _stub: nextID,
                    productID: p.id,
                    appAccountToken: token,
                    jws: "jws-\(nextID)"
                )
                nextID += 1
                open.append(t)
                return .success(
                    behaviour == .succeed ? .verified(t) : .unverified(t, .invalidSignature)
                )
            }
        }
    }
    @discardableResult
    public func deliver(productID: String) -> UInt64 {
        lock.withLock {
            let t = Transaction(_stub: nextID, productID: productID, jws: "jws-\(nextID)")
            nextID += 1
            open.append(t)
            watchers.forEach { $0.yield(.verified(t)) }
            return t.id
        }
    }
    public func sendIntent(_ p: Product) {
        lock.withLock {
            if intentWatchers.isEmpty { backlogIntents.append(PurchaseIntent(_stub: p)) }
            intentWatchers.forEach { $0.yield(PurchaseIntent(_stub: p)) }
        }
    }
}

public enum AppStore {
    public static var canMakePayments: Bool { _FakeAppStore.shared.canMakePayments }
    public static func sync() async throws {}
}
