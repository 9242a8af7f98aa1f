import Foundation
internal import TollgateAPI

/// What the SDK knows at one moment, for developers; nothing in it is personal.
public struct BillingDiagnostics: Hashable, Sendable {
    /// The server's address, or what is wrong with it.
    public let server: String
    /// Whether the publishable key is a test key.
    public let isTestMode: Bool
    /// Whether somebody is known to be signed in.
    public let isSignedIn: Bool
    /// The lookup keys of the last answer, and when it was given, by the device's clock; `nil` where the
    /// server has not answered since launch.
    public let lastAnswer: LastAnswer?
    /// Whether signed answers can be verified here, and so trusted offline.
    public let canVerifyAnswers: Bool
    /// How many transactions wait for the server.
    public let waitingTransactions: Int
    /// How many purchases are in ``BillingSDK/BillingSDK/purchaseInbox``.
    public let pendingPurchases: Int
    /// The last warnings and errors, oldest first, 20 at most.
    public let problems: [BillingLogEntry]

    /// What the server said last.
    public struct LastAnswer: Hashable, Sendable {
        /// The keys that were active.
        public let lookupKeys: [String]
        /// When it was asked for.
        public let takenAt: Date
        /// Whether it is still given without asking.
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
    /// What the SDK knows now, for a screen of the app's developers or a report to support.
    public func diagnostics() -> BillingDiagnostics {
        BillingDiagnostics(of: client)
    }
}
