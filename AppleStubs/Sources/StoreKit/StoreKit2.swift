import Foundation
#if canImport(UIKit)
    import UIKit
#endif

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
extension VerificationResult where SignedType == AppTransaction {
    @available(iOS 16, macOS 13, *)
    public var jwsRepresentation: String { unsafePayloadValue._jws }
}
extension VerificationResult: Sendable where SignedType: Sendable {}
extension VerificationResult: Equatable where SignedType: Equatable {}
extension VerificationResult: Hashable where SignedType: Hashable {}
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
    public let subscriptionGroupID: String?
    public let offerType: OfferType?
    public let _jws: String
    public let jsonRepresentation: Data

    public struct OfferType: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let introductory = Self(rawValue: 1), promotional = Self(rawValue: 2),
            code = Self(rawValue: 3)
    }

    public init(
        _stub id: UInt64,
        productID: String,
        appAccountToken: UUID? = nil,
        jws: String,
        group: String? = nil,
        offerType: OfferType? = nil,
        json: Data = Data()
    ) {
        self.id = id; originalID = id; self.productID = productID;
        self.appAccountToken = appAccountToken
        subscriptionGroupID = group; self.offerType = offerType; jsonRepresentation = json
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
        Transactions { _FakeAppStore.shared.entitledStream() }
    }
    public func finish() async { _FakeAppStore.shared.finish(id) }

    public enum RefundRequestStatus: Sendable { case success, userCancelled }
    #if canImport(UIKit)
        @MainActor public static func beginRefundRequest(
            for transactionID: UInt64,
            in scene: UIWindowScene
        ) async throws -> RefundRequestStatus {
            _FakeAppStore.shared._sheets.append("refund \(transactionID)")
            return _FakeAppStore.shared._refund
        }
    #endif
}

public struct Product: Identifiable, Sendable, Hashable {
    public let id: String
    public let displayName: String
    public let displayPrice: String
    public let price: Decimal
    public init(_stub id: String, name: String? = nil, price: Decimal = 0) {
        self.id = id; displayName = name ?? id; displayPrice = "¥\(price)"; self.price = price
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
    public var subscription: SubscriptionInfo?

    public struct SubscriptionOffer: Sendable, Hashable {
        public struct OfferType: RawRepresentable, Equatable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
            public static let introductory = Self(rawValue: "Introductory")
            public static let promotional = Self(rawValue: "Promotional")
            @available(iOS 18, macOS 15, *)
            public static let winBack = Self(rawValue: "WinBack")
        }
        public struct PaymentMode: RawRepresentable, Equatable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
            public static let payAsYouGo = Self(rawValue: "PayAsYouGo")
            public static let payUpFront = Self(rawValue: "PayUpFront")
            public static let freeTrial = Self(rawValue: "FreeTrial")
        }
        public let id: String?
        public let type: OfferType
        public let displayPrice: String
        public let period: SubscriptionPeriod
        public let periodCount: Int
        public let paymentMode: PaymentMode
        public init(
            _stub id: String?,
            _ type: OfferType,
            _ paymentMode: PaymentMode = .freeTrial,
            displayPrice: String = "¥0",
            period: SubscriptionPeriod = SubscriptionPeriod(_stub: .week, 1),
            periodCount: Int = 1
        ) {
            self.id = id; self.type = type; self.paymentMode = paymentMode
            self.displayPrice = displayPrice; self.period = period; self.periodCount = periodCount
        }
    }

    public struct SubscriptionPeriod: Sendable, Hashable {
        public enum Unit: Sendable, Hashable { case day, week, month, year }
        public let unit: Unit
        public let value: Int
        public init(_stub unit: Unit, _ value: Int) { self.unit = unit; self.value = value }
    }

    public struct PurchaseOption: Hashable, Sendable {
        public enum _Kind: Hashable, Sendable {
            case token(UUID), quantity(Int), custom(String, String), winBack(String?), jws(
                String,
                String
            ), offer(
                String,
                key: String,
                UUID,
                Data,
                Int
            )
        }
        public let _kind: _Kind
        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            .init(_kind: .token(token))
        }
        public static func quantity(_ quantity: Int) -> PurchaseOption {
            .init(_kind: .quantity(quantity))
        }
        public static func custom(key: String, value: String) -> PurchaseOption {
            .init(_kind: .custom(key, value))
        }
        @available(iOS 18, macOS 15, *)
        public static func winBackOffer(_ offer: SubscriptionOffer) -> PurchaseOption {
            .init(_kind: .winBack(offer.id))
        }
        public static func promotionalOffer(_ offerID: String, compactJWS: String)
            -> [PurchaseOption]
        {
            [.init(_kind: .jws(offerID, compactJWS))]
        }
        public static func promotionalOffer(
            offerID: String,
            keyID: String,
            nonce: UUID,
            signature: Data,
            timestamp: Int
        ) -> PurchaseOption {
            .init(_kind: .offer(offerID, key: keyID, nonce, signature, timestamp))
        }
    }

    public struct SubscriptionInfo: Sendable, Hashable {
        let _winBackOffers: [SubscriptionOffer]
        public let introductoryOffer: SubscriptionOffer?
        public let subscriptionPeriod: SubscriptionPeriod
        public let subscriptionGroupID: String
        let _isEligible: Bool
        public init(
            _stub winBackOffers: [SubscriptionOffer] = [],
            introductoryOffer: SubscriptionOffer? = nil,
            isEligible: Bool = true,
            period: SubscriptionPeriod = SubscriptionPeriod(_stub: .month, 1),
            group: String = "pro"
        ) {
            _winBackOffers = winBackOffers; self.introductoryOffer = introductoryOffer
            _isEligible = isEligible; subscriptionPeriod = period; subscriptionGroupID = group
        }
        public var isEligibleForIntroOffer: Bool { get async { _isEligible } }
        @available(iOS 18, macOS 15, *)
        public var winBackOffers: [SubscriptionOffer] { _winBackOffers }
        public struct RenewalState: RawRepresentable, Equatable, Hashable, Sendable {
            public let rawValue: Int
            public init(rawValue: Int) { self.rawValue = rawValue }
            public static let subscribed = Self(rawValue: 1), expired = Self(rawValue: 2),
                inBillingRetryPeriod = Self(rawValue: 3), inGracePeriod = Self(rawValue: 4),
                revoked = Self(rawValue: 5)
        }
        public struct RenewalInfo: Sendable, Hashable {
            public let currentProductID: String
            public let willAutoRenew: Bool
            public let autoRenewPreference: String?
            public let gracePeriodExpirationDate: Date?
            public let jsonRepresentation: Data
            let _eligibleWinBackOfferIDs: [String]
            @available(iOS 18, macOS 15, *)
            public var eligibleWinBackOfferIDs: [String] { _eligibleWinBackOfferIDs }
            public init(
                _stub productID: String,
                willAutoRenew: Bool = true,
                graceUntil: Date? = nil,
                json: Data = Data(),
                winBack: [String] = []
            ) {
                _eligibleWinBackOfferIDs = winBack
                currentProductID = productID; self.willAutoRenew = willAutoRenew
                autoRenewPreference = productID; gracePeriodExpirationDate = graceUntil
                jsonRepresentation = json
            }
        }
        public struct Status: Sendable, Hashable {
            public let state: RenewalState
            public let transaction: VerificationResult<Transaction>
            public let renewalInfo: VerificationResult<RenewalInfo>
            public init(
                _stub state: RenewalState,
                _ transaction: Transaction,
                _ renewalInfo: RenewalInfo
            ) {
                self.state = state; self.transaction = .verified(transaction)
                self.renewalInfo = .verified(renewalInfo)
            }

            public struct Statuses: AsyncSequence, Sendable {
                public typealias Element = Status
                public struct AsyncIterator: AsyncIteratorProtocol {
                    var base: AsyncStream<Status>.Iterator
                    public mutating func next() async -> Status? { await base.next() }
                }
                public func makeAsyncIterator() -> AsyncIterator {
                    AsyncIterator(base: _FakeAppStore.shared.statusChanges().makeAsyncIterator())
                }
            }
            public static var updates: Statuses { Statuses() }
        }
        public static func status(for groupID: String) async throws -> [Status] {
            _FakeAppStore.shared.statuses[groupID] ?? []
        }
    }

    @available(iOS 16.4, *)
    @available(macOS, unavailable)
    @available(macCatalyst, unavailable)
    public struct PromotionInfo: Sendable, Hashable, Identifiable {
        public enum Visibility: Sendable, Hashable { case appStoreConnectDefault, visible, hidden }
        public let productID: String
        public var visibility: Visibility
        public var id: String { productID }
        init(_ promotion: _FakeAppStore.Promotion) {
            productID = promotion.productID
            visibility =
                switch promotion.isVisible {
                case true?: .visible
                case false?: .hidden
                case nil: .appStoreConnectDefault
                }
        }
        public static var currentOrder: [PromotionInfo] {
            get async throws { _FakeAppStore.shared.promotions.map { PromotionInfo($0) } }
        }
        public static func updateProductOrder(byID productIDs: some Collection<String>) async throws
        {
            _FakeAppStore.shared.order(Array(productIDs))
        }
        public static func updateProductVisibility(
            _ visibility: Visibility,
            for productID: String
        ) async throws {
            let isVisible: Bool? =
                switch visibility {
                case .visible: true
                case .hidden: false
                case .appStoreConnectDefault: nil
                }
            _FakeAppStore.shared.setVisibility(isVisible, of: productID)
        }
    }
    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }
    public static func products<Identifiers: Collection>(for identifiers: Identifiers) async throws
        -> [Product]
    where Identifiers.Element == String {
        identifiers.filter { $0 != "unknown" }.map { id in
            _FakeAppStore.shared.products[id] ?? Product(_stub: id)
        }
    }

    @MainActor public func purchase(options: Set<PurchaseOption> = []) async throws
        -> PurchaseResult
    {
        try _FakeAppStore.shared.purchase(self, options: options)
    }
    #if canImport(UIKit)
        @available(iOS 17, *)
        @MainActor public func purchase(
            confirmIn scene: some UIScene,
            options: Set<PurchaseOption> = []
        ) async throws -> PurchaseResult {
            _FakeAppStore.shared._sheets.append("purchase")
            return try _FakeAppStore.shared.purchase(self, options: options)
        }
    #endif
}

@available(iOS 16.4, macOS 14.4, *)
public struct PurchaseIntent: Identifiable, Sendable {
    public let product: Product
    public var id: String { product.id }
    let _offer: Product.SubscriptionOffer?
    @available(iOS 18, macOS 15, macCatalyst 16.4, *)
    public var offer: Product.SubscriptionOffer? { _offer }
    public init(_stub product: Product, offer: Product.SubscriptionOffer? = nil) {
        self.product = product
        _offer = offer
    }
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
    /// The sheets that were shown.
    public var _sheets: [String] = []
    /// What the customer does in the sheet for refunds.
    public var _refund: Transaction.RefundRequestStatus = .success
    /// The country of the storefront.
    public private(set) var country: String?
    private var statusWatchers: [AsyncStream<Product.SubscriptionInfo.Status>.Continuation] = []
    private var countryWatchers: [AsyncStream<Storefront>.Continuation] = []
    /// Products that have more than an id.
    public var products: [String: Product] = [:]
    public var canMakePayments = true
    public private(set) var finished: [UInt64] = []
    /// What the App Store signs for the next purchase, instead of a made-up text.
    public var nextJWS: String?
    /// What `currentEntitlements` shows besides what is unfinished.
    public var entitled: [Transaction] = []
    public var statuses: [String: [Product.SubscriptionInfo.Status]] = [:]
    public private(set) var lastOptions: Set<Product.PurchaseOption> = []
    struct Promotion { let productID: String; var isVisible: Bool? }
    private(set) var promotions: [Promotion] = []

    /// Stub-only: whether somebody listens to `Transaction.updates`.
    public var _isWatched: Bool { lock.withLock { !watchers.isEmpty } }

    /// Stub-only: how often somebody has asked for `Transaction.unfinished`.
    public private(set) var _unfinishedReads = 0

    /// Stub-only: a new phone for the next test.
    public func _reset() {
        let watching = lock.withLock {
            defer {
                nextID = 1; watchers = []; intentWatchers = []; open = []; backlogIntents = [];
                finished = []; entitled = []; statuses = [:]; lastOptions = []; promotions = []
                behaviour = .succeed; canMakePayments = true; products = [:]; country = nil
                _sheets = []; _refund = .success; _unfinishedReads = 0
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
    func entitledStream() -> AsyncStream<VerificationResult<Transaction>> {
        AsyncStream { c in
            lock.withLock { (open + entitled).forEach { c.yield(.verified($0)) } }; c.finish()
        }
    }
    func statusChanges() -> AsyncStream<Product.SubscriptionInfo.Status> {
        AsyncStream { c in lock.withLock { statusWatchers.append(c) } }
    }
    /// Stub-only: the state of a subscription changes.
    public func _change(_ status: Product.SubscriptionInfo.Status) {
        lock.withLock { statusWatchers }.forEach { $0.yield(status) }
    }
    func storefronts() -> AsyncStream<Storefront> {
        AsyncStream { c in lock.withLock { countryWatchers.append(c) } }
    }
    /// Stub-only: the account moves to another country.
    public func _move(to country: String) {
        let watchers = lock.withLock {
            self.country = country
            return countryWatchers
        }
        watchers.forEach { $0.yield(Storefront(_stub: country)) }
    }
    func order(_ ids: [String]) {
        lock.withLock {
            let known = promotions
            promotions = ids.map { id in
                known.first { $0.productID == id } ?? Promotion(productID: id, isVisible: nil)
            }
        }
    }
    func setVisibility(_ isVisible: Bool?, of id: String) {
        lock.withLock {
            if let index = promotions.firstIndex(where: { $0.productID == id }) {
                promotions[index].isVisible = isVisible
            } else {
                promotions.append(Promotion(productID: id, isVisible: isVisible))
            }
        }
    }
    func unfinishedStream() -> AsyncStream<VerificationResult<Transaction>> {
        AsyncStream { c in
            lock.withLock {
                _unfinishedReads += 1
                open.forEach { c.yield(.verified($0)) }
            }
            c.finish()
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
    func purchase(_ p: Product, options: Set<Product.PurchaseOption>) throws
        -> Product.PurchaseResult
    {
        lock.withLock {
            lastOptions = options
            let token = options.compactMap {
                if case .token(let token) = $0._kind { token } else { nil }
            }.first
            switch behaviour {
            case .cancel: return .userCancelled
            case .pending: return .pending
            case .succeed, .unverified:
                let t = Transaction(
                    _stub: nextID,
                    productID: p.id,
                    appAccountToken: token,
                    jws: nextJWS ?? "jws-\(nextID)"
                )
                nextJWS = nil
                nextID += 1
                open.append(t)
                return .success(
                    behaviour == .succeed ? .verified(t) : .unverified(t, .invalidSignature)
                )
            }
        }
    }
    @discardableResult
    public func deliver(productID: String, offerType: Transaction.OfferType? = nil) -> UInt64 {
        lock.withLock {
            let t = Transaction(
                _stub: nextID,
                productID: productID,
                jws: "jws-\(nextID)",
                offerType: offerType
            )
            nextID += 1
            open.append(t)
            watchers.forEach { $0.yield(.verified(t)) }
            return t.id
        }
    }
    public func sendIntent(_ p: Product, offer: Product.SubscriptionOffer? = nil) {
        let intent = PurchaseIntent(_stub: p, offer: offer)
        lock.withLock {
            if intentWatchers.isEmpty { backlogIntents.append(intent) }
            intentWatchers.forEach { $0.yield(intent) }
        }
    }
}

public struct Storefront: Hashable, Identifiable, Sendable {
    public let countryCode: String
    public let id: String
    public init(_stub countryCode: String) { self.countryCode = countryCode; id = countryCode }

    public struct Storefronts: AsyncSequence, Sendable {
        public typealias Element = Storefront
        public struct AsyncIterator: AsyncIteratorProtocol {
            var base: AsyncStream<Storefront>.Iterator
            public mutating func next() async -> Storefront? { await base.next() }
        }
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: _FakeAppStore.shared.storefronts().makeAsyncIterator())
        }
    }
    public static var updates: Storefronts { Storefronts() }
    public static var current: Storefront? {
        get async { _FakeAppStore.shared.country.map { Storefront(_stub: $0) } }
    }
}

public enum AppStore {
    public static var canMakePayments: Bool { _FakeAppStore.shared.canMakePayments }
    public static func sync() async throws {}
    #if canImport(UIKit)
        @MainActor public static func showManageSubscriptions(in scene: UIWindowScene) async throws
        {
            _FakeAppStore.shared._sheets.append("manage")
        }
        @available(iOS 16, *)
        @MainActor public static func presentOfferCodeRedeemSheet(
            in scene: UIWindowScene
        ) async throws {
            _FakeAppStore.shared._sheets.append("code")
        }
    #endif
}
