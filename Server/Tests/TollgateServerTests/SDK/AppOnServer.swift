import AppStoreSimulator
import Crypto
import Foundation
import HummingbirdTesting
import Storage
import Stores
import Synchronization
import Testing
import TollgateAPI
import TollgateCore
import TollgateService

@testable import BillingSDK

/// An app with BillingSDK on a real server: real HTTP on loopback, real signatures, the test's time.
final class AppOnServer: Sendable {
    /// What a test makes the network do.
    struct Network: Sendable {
        /// Nothing listens where requests go.
        var isDown = false
        /// Answers pass this before the app sees them.
        var gate: Gate?
        var sent: [HTTPRequest] = []
    }

    let server: TestServer
    let billing: BillingSDK
    let network = Mutex(Network())
    let user = Mutex<String?>("ada")
    let providerCalls = Mutex(0)
    let heard = Mutex<[[String]]>([])

    init(
        _ server: TestServer,
        publishableKey: String = TestServer.publishableKey,
        maximumStale: TimeInterval = 300,
        cache: URL? = nil,
        storeKit: @escaping @Sendable () async -> [StoreKitStatement] = { [] }
    ) throws {
        self.server = server
        let port = try #require(server.client.port)
        var configuration = BillingSDK.Configuration(
            publishableKey: publishableKey,
            maximumStaleEntitlementsDuration: maximumStale,
            serverURL: URL(string: "http://127.0.0.1:\(port)")
        )
        configuration.cacheDirectory = cache
        configuration.verifySignature = { message, signature, key in
            guard let key = try? P256.Signing.PublicKey(x963Representation: key),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: message)
        }
        let network = NetworkBox()
        let real = URLSessionTransport.make()
        billing = BillingSDK(
            client: BillingClient(
                configuration: configuration,
                transport: { request in
                    guard let app = network.app else { throw URLError(.cancelled) }
                    let (isDown, gate) = app.network.withLock { network in
                        network.sent.append(request)
                        return (network.isDown, network.gate)
                    }
                    var request = request
                    // A server that ends need not wait for idle connections.
                    request.headers["Connection"] = "close"
                    if isDown {
                        request.url =
                            URL(
                                string: request.url.absoluteString.replacing(":\(port)", with: ":1")
                            ) ?? request.url
                    }
                    let response = try await real(request)
                    if let gate { await gate.pass() }
                    return response
                },
                now: { Date(timeIntervalSince1970: Double(server.wall.now.milliseconds) / 1000) },
                uptime: { 0 },
                storeKitStatements: storeKit
            )
        )
        network.app = self
        billing.onEntitlementsChanged { [weak self] set in
            self?.heard.withLock { $0.append(set.map(\.lookupKey)) }
        }
    }

    /// Signs sessions as an app's backend does; nobody is nil.
    func connectBackend() {
        billing.setCustomerSessionProvider { [weak self] in
            guard let self else { return nil }
            providerCalls.withLock { $0 += 1 }
            guard let user = user.withLock({ $0 }) else { return nil }
            return try await session(of: user)
        }
    }

    func session(of user: String) async throws -> UBCustomerSessionDetails {
        let customer = try await server.customer(user)
        let answer = try await server.post(
            "/v1/customer_sessions",
            """
            {"customer":"\(customer)","components":{"buy_button":{"enabled":true},\
            "active_entitlements":{"enabled":true},"customer_portal":{"enabled":true}}}
            """
        )
        return UBCustomerSessionDetails(
            clientSecret: try #require(answer.json["client_secret"].string),
            expiresAt: Date(
                timeIntervalSince1970: Double(try #require(answer.json["expires_at"].integer))
            ),
            customer: customer
        )
    }

    func keys(forceRefresh: Bool = false) async throws -> [String] {
        let keys = try await billing.getActiveEntitlements(forceRefresh: forceRefresh)
            .map(\.lookupKey)
        await settled()
        return keys
    }

    /// Waits for what the SDK fetches beside its answers: catalog and keys.
    func settled() async { await billing.client.background.withLock { $0 }?.value }

    func signIn(_ name: String?) { user.withLock { $0 = name } }
    func takeDown(_ isDown: Bool = true) { network.withLock { $0.isDown = isDown } }
    var calls: Int { providerCalls.withLock { $0 } }
    var heardSets: [[String]] { heard.withLock { $0 } }
    var entitlementRequests: Int {
        network.withLock { $0.sent.filter { $0.url.path.hasSuffix("/entitlements") }.count }
    }

    /// Buys in the App Store; the server is told by notification, as in life.
    func buy(_ product: String, for user: String) async throws {
        let customer = try await server.customer(user)
        let token = try await server.tollgate.directory.customer(customer).appAccountToken
        let buyer = try await server.appStore.createCustomer()
        _ = try await server.appStore.buy(
            product,
            customer: buyer.id,
            appAccountToken: token
        )
        #expect(try await server.deliverNewestNotification().status == 200)
    }

    /// The error that `body` throws, by its case.
    static func failure(_ body: () async throws -> some Sendable) async -> String? {
        do {
            _ = try await body()
            return nil
        } catch {
            return String(describing: error).split(separator: "(").first.map(String.init)
        }
    }
}

/// Lets the transport, which is made first, find the app.
private final class NetworkBox: Sendable {
    private let stored = Mutex<Weak>(Weak())
    private struct Weak: Sendable { weak var app: AppOnServer? }

    var app: AppOnServer? {
        get { stored.withLock { $0.app } }
        set { stored.withLock { $0.app = newValue } }
    }
}

/// Holds whoever passes until a test opens it, and tells when somebody waits.
final class Gate: Sendable {
    private struct Inside {
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let inside = Mutex(Inside())

    func pass() async {
        await withCheckedContinuation { continuation in
            let (goesOn, woken) = inside.withLock { inside in
                inside.arrivals += 1
                let arrivals = inside.arrivals
                let woken = inside.watchers.filter { $0.count <= arrivals }
                inside.watchers.removeAll { $0.count <= arrivals }
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
}
