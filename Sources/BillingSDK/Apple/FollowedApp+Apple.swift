#if os(iOS) || os(macOS) || BILLING_APPLE_STUBS
    import Foundation
    import Network
    import StoreKit

    #if os(macOS)
        import AppKit
    #else
        import UIKit
    #endif

    /// The app around the SDK: what happens in it by itself while it runs.
    ///
    /// Coming to the foreground asks the server again; transactions of the App Store go to the server
    /// from launch on, whoever began them.
    final class FollowedApp: Sendable {
        private enum Observation {
            case beginning
            case observing(any NSObjectProtocol)
            case ended
        }

        private let observation = Locked(Observation.beginning)
        private let updates: Task<Void, Never>?
        private let statuses: Task<Void, Never>
        private let network: Locked<NWPathMonitor>

        init(client: BillingClient) {
            let handlesTransactions = client.configuration.handlesAppStoreTransactions
            let cameBack: @Sendable () -> Void = { [weak client] in
                guard let client else { return }
                Task {
                    await client.claimWhatVisitorsBought()
                    await TransactionDelivery(client: client).retryNow()
                    if handlesTransactions { await client.deliverUnfinishedTransactions() }
                    await Checkouts(client: client).settle()
                    await client.refreshIfSignedIn()
                }
            }
            // AppKit's names of notifications are the main actor's.
            Task { @MainActor [observation] in
                let observer = NotificationCenter.default.addObserver(
                    forName: Self.didComeToForeground,
                    object: nil,
                    queue: nil
                ) { _ in cameBack() }
                let isOver = observation.withLock { observation in
                    if case .ended = observation { return true }
                    observation = .observing(observer)
                    return false
                }
                if isOver { NotificationCenter.default.removeObserver(observer) }
            }
            network = Locked(
                Self.monitor { [weak client] in
                    guard let client else { return }
                    Task {
                        await client.claimWhatVisitorsBought()
                        await TransactionDelivery(client: client).retryNow()
                    }
                }
            )
            statuses = Task { [weak client] in
                // A payment fails or is mended, somebody turns renewal off: the server knows it soon.
                for await _ in Product.SubscriptionInfo.Status.updates {
                    guard let client else { return }
                    await client.refreshIfSignedIn()
                }
            }
            guard handlesTransactions else {
                updates = nil
                return
            }
            client.onSignIn.withLock { onSignIn in
                onSignIn = { [weak client] in
                    guard let client else { return }
                    Task { await client.deliverUnfinishedTransactions() }
                }
            }
            updates = Task { [weak client] in
                for await result in StoreKit.Transaction.updates {
                    guard let client else { return }
                    let delivery = TransactionDelivery(client: client)
                    await delivery.deliverUnattended(SignedTransaction(result))
                }
            }
        }

        deinit {
            updates?.cancel()
            statuses.cancel()
            network.withLock { $0.cancel() }
            observation.withLock { observation in
                if case .observing(let observer) = observation {
                    NotificationCenter.default.removeObserver(observer)
                }
                observation = .ended
            }
        }

        /// Calls `isBack` each time that the network is there after it was not.
        private static func monitor(_ isBack: @escaping @Sendable () -> Void) -> NWPathMonitor {
            let monitor = NWPathMonitor()
            let wasAway = Locked(false)
            monitor.pathUpdateHandler = { path in
                let isAway = path.status != .satisfied
                let cameBack = wasAway.withLock { wasAway in
                    defer { wasAway = isAway }
                    return wasAway && !isAway
                }
                if cameBack { isBack() }
            }
            monitor.start(queue: DispatchQueue(label: "BillingSDK.network"))
            return monitor
        }

        @MainActor private static var didComeToForeground: Notification.Name {
            #if os(macOS)
                NSApplication.didBecomeActiveNotification
            #else
                UIApplication.willEnterForegroundNotification
            #endif
        }
    }

    extension BillingClient {
        /// Takes what StoreKit still holds to the server.
        func deliverUnfinishedTransactions() async {
            let delivery = TransactionDelivery(client: self)
            for await result in StoreKit.Transaction.unfinished {
                await delivery.deliverUnattended(SignedTransaction(result))
            }
        }
    }

    extension SignedTransaction {
        /// A result of StoreKit, an unverified one too: the server judges, by the same signature.
        init(_ result: VerificationResult<StoreKit.Transaction>) {
            let transaction = result.unsafePayloadValue
            self.init(
                id: transaction.id,
                jwsRepresentation: result.jwsRepresentation,
                productID: transaction.productID,
                isCodeRedemption: transaction.offerType == .code,
                finish: { await transaction.finish() }
            )
        }
    }
#endif
