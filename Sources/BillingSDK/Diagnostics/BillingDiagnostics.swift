import Foundation
internal import TollgateAPI

/// The SDK's state at one moment, for developers; it holds no personal data.
public struct BillingDiagnostics: Hashable, Sendable {
    /// The server's address, or what is wrong with it.
    public let server: String
    /// `true` if the publishable key is a test key.
    public let isTestMode: Bool
    /// `true` if somebody is known to be signed in.
    public let isSignedIn: Bool
    /// The lookup keys of the last answer, and when it was given, by the device's clock; `nil` where the
    /// server has not answered since launch.
    public let lastAnswer: LastAnswer?
    /// `true` if signed answers can be verified here, and so trusted offline.
    public let canVerifyAnswers: Bool
    /// The number of transactions that wait for the server.
    public let waitingTransactions: Int
    /// How many purchases are in ``BillingSDK/BillingSDK/purchaseInbox``.
    public let pendingPurchases: Int
    /// The last warnings and errors, oldest first, 20 at most.
    public let problems: [BillingLogEntry]

    /// The server's last answer.
    public struct LastAnswer: Hashable, Sendable {
        /// The keys that were active.
        public let lookupKeys: [String]
        /// The time of the request.
        public let takenAt: Date
        /// `true` if it is still given without asking.
        public let isFresh: Bool
    }
}

extension BillingDiagnostics {
    init(of client: BillingClient) {
        let now = client.now()
        let (isSignedIn, answer) = client.guarded.withLock {
            ($0.state.customer != nil, $0.state.lastAnswer(at: now))
        }
        do {
            server = try client.address.get().base
        } catch {
            server = error.localizedDescription
        }
        isTestMode = client.configuration.publishableKey.hasPrefix("pk_test_")
        self.isSignedIn = isSignedIn
        lastAnswer = answer
        canVerifyAnswers = client.offline.canVerify
        waitingTransactions = client.deliveries.withLock { $0.waiting.count }
        pendingPurchases = client.inbox.pending.count
        problems = client.log.problems
    }
}

extension BillingSDK {
    /// The SDK's present state, for a screen for developers or a report to support.
    public func diagnostics() -> BillingDiagnostics {
        BillingDiagnostics(of: client)
    }
}
