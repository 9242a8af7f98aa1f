#if os(iOS) || os(macOS) || BILLING_APPLE_STUBS
    import Foundation
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
        private let observer: Locked<(any NSObjectProtocol)?>
        private let updates: Task<Void, Never>?

        init(client: BillingClient) {
            let handlesTransactions = client.configuration.handlesAppStoreTransactions
            let cameBack: @Sendable () -> Void = { [weak client] in
                guard let client else { return }
                Task {
                    if handlesTransactions { await client.deliverUnfinishedTransactions() }
                    await client.settleCheckouts()
                    await client.refreshIfSignedIn()
                }
            }
            observer = Locked(
                NotificationCenter.default.addObserver(
                    forName: Self.didComeToForeground,
                    object: nil,
                    queue: nil
                ) { _ in cameBack() }
            )
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
                    // What fails stays unfinished: the next sign-in, foreground or launch tries again.
                    _ = try? await client.deliver(SignedTransaction(result), mode: .observed)
                }
            }
        }

        deinit {
            updates?.cancel()
            observer.withLock { observer in
                if let observer { NotificationCenter.default.removeObserver(observer) }
            }
        }

        private static var didComeToForeground: Notification.Name {
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
            for await result in StoreKit.Transaction.unfinished {
                _ = try? await deliver(SignedTransaction(result), mode: .observed)
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
